message(WARNING "one more")
message(
  FATAL_ERROR
  "command(target): a rule in a sentence that is long enough for CMake to wrap it somewhere in the middle.\n  found  one\n  wanted two\nFix: this\n     or that"
)
