# Whatever a name or a reason holds, JSON gives it back.
include("${case_REPO}/cmake/detail/base/use.cmake")
_cudaops_use(op/provenance)

set(control "")
foreach(code RANGE 1 31)
  string(ASCII ${code} character)
  string(APPEND control "${character}")
endforeach()
foreach(
  text
  IN
  ITEMS
    "plain"
    ""
    "a \"quoted\" word"
    "back\\slash \\n \\\""
    "two\nlines\r\n\tand a tab"
    "a;b;;c"
    "é 日本 𝄞"
    "[bracket] {brace} \${var} @at@ $<genex> %d"
    "${control}"
)
  _cudaops_json_quote(quoted "${text}")
  if(quoted MATCHES "\n")
    message(FATAL_ERROR "line break in [${quoted}]")
  endif()
  string(JSON back ERROR_VARIABLE error GET "{\"x\":${quoted}}" x)
  if(NOT back STREQUAL text)
    message(FATAL_ERROR "[${text}] became [${quoted}], read as [${back}] ${error}")
  endif()
endforeach()

_cudaops_hex_bytes(bytes size "{\"é\"}")
if(NOT "${bytes} ${size}" STREQUAL "0x7b,0x22,0xc3,0xa9,0x22,0x7d 6")
  message(FATAL_ERROR "[${bytes}] [${size}]")
endif()
