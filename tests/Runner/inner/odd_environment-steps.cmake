case_environment("ODD=a;b[c 'd' \$e \\f" "NEXT=]" "GONE=1")
case_environment(UNSET GONE)
case_step(one COMMAND sh -c "printf %s \"$ODD|$NEXT|\${GONE-unset}\"")
case_equal("stdout" "${case_STEP_STDOUT}" "a;b[c 'd' \$e \\f|]|unset")
