# What code that supports some architectures is built for.
include("${CMAKE_CURRENT_LIST_DIR}/common/check.cmake")
_cudaops_use(arch/select)

# filter(<request> <what the code supports> <entries> [UNSERVED <cc>...] [SKIPPED <arch>...])
function(filter request supports entries)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "ON" "UNSERVED;SKIPPED")
  if(NOT arg_ON)
    set(arg_ON 13_0)
  endif()
  _cudaops_arch_parse("${request}" requested error)
  _cudaops_arch_parse_filter("${supports}" filtered filter_error)
  check_equal("parsed" "${error}${filter_error}" "")
  _cudaops_arch_filter(x REQUEST ${requested} FILTER ${filtered} SUPPORTED ${check_${arg_ON}})
  set(what "'${request}' of code for '${supports}'")
  check_equal("${what}" "${x_ENTRIES}" "${entries}")
  check_equal("${what}: unserved" "${x_UNSERVED}" "${arg_UNSERVED}")
  check_equal("${what}: skipped" "${x_SKIPPED}" "${arg_SKIPPED}")
endfunction()

filter("9.0;10.3;12.0" "90a 100f" "90a-real;100f-real" UNSERVED 12.0)

# That very cc; real or virtual is what was asked for.
filter("9.0" "90a" "90a-real")
filter("90" "90a" "90a-real;90a-virtual")
filter("90-virtual" "90a-real" "90a-virtual")
filter("90" "9.0" "90-real;90-virtual")
filter("9.0a" "90" "90-real")
filter("9.0a" "90 90a" "90a-real")
filter("9.0" "90 90a" "90-real")
filter("9.0" "90a 90" "90a-real")
filter("10.0" "100f 100a" "100a-real")
filter("10.0f" "100a 100f" "100a-real")

# Whatever is requested from one on.
filter("7.5 8.0 9.0a 12.0+PTX" ">=80" "80-real;90a-real;120-real;120-virtual" UNSERVED 7.5)
filter("8.0 9.0" "90a >=8.0" "80-real;90a-real")
filter("8.0 9.0" ">=8.0 90a" "80-real;90-real")
filter("7.5 100f" "all" "75-real;100f-real;100f-virtual")

# The f of its family: forward only, never into another major.
filter("10.3" "100f" "100f-real")
filter("10.0" "103f" "" UNSERVED 10.0)
filter("12.1 12.0 11.0" "120f" "120f-real" UNSERVED 11.0)
filter("10.3" "100f 103f" "103f-real")
filter("10.3" "100 100f" "100f-real")
# 10.1 is the same device as 11.0, not one of 10.0's family.
filter("10.1" "100f 100" "100-virtual" ON 12_9)
filter("10.1" "101f" "101f-real" ON 12_9)

# A plain one of its major, whose cubin runs there; PTX of a lower one on all the rest.
filter("8.9" "80" "80-real")
filter("8.9" "80 86" "86-real")
filter("8.0" "86" "" UNSERVED 8.0)
filter("8.9+PTX" "8.0" "80-real;80-virtual")
filter("9.0 12.0" "80" "80-virtual")
filter("9.0 12.0" "8.0" "" UNSERVED 9.0 12.0)
filter("9.0 12.0" "8.0 8.6+PTX" "86-virtual")
filter("12.0" "80 90" "90-virtual")
filter("12.0" "90a" "" UNSERVED 12.0)
filter("12.0" "100f" "" UNSERVED 12.0)
filter("8.0;9.0;12.0" "80" "80-real;80-virtual")

# What this nvcc can't build is passed over.
filter("9.0" "70 90 101a" "90-real" SKIPPED 70 101a)
filter("8.0" "100f" "" UNSERVED 8.0 SKIPPED 100f ON 12_6)
