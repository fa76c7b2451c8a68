# Which glibc a toolkit's math_functions.h contradicts, and when that matters.
include("${CMAKE_CURRENT_LIST_DIR}/../Versions/common/check.cmake")
_cudaops_use(facts/host_compiler)

function(bound what text expected)
  _cudaops_glibc_bound("${text}" out)
  check_equal("${what}" "${out}" "${expected}")
endfunction()
set(decl "extern __DEVICE_FUNCTIONS_DECL__ __device_builtin__ double                ")
set(plain "${decl} rsqrt(double x);\n * - cospi(\n${decl} cospi(double x);\n__func__(double cospi(double a));\n")
set(half "${decl} rsqrt(double x);\n${decl} cospi(double x) __SPECIFIER;\n__func__(double cospi(double a));\n")
set(
  whole
  "${decl} rsqrt(double x) _RSQRT;\n${decl} cospi(double x) __SPECIFIER;\n__func__(double rsqrt(double a) _RSQRT);\n"
)
bound("up to 12.9" "${plain}" 2.41)
bound("13.0 and 13.1" "${half}" 2.42)
bound("13.2" "${whole}" "")
string(REPLACE "(double x);" "(double x) noexcept (true);" mended "${plain}")
bound("mended by a distribution" "${mended}" "")
string(REPLACE "cospi(double x);" "cospi(double x) throw();" mended "${plain}")
bound("half mended" "${mended}" 2.42)
bound("empty" "" "")
bound("another header" "double cos(double x);\nfloat cospif(float x);\n" "")
# As file(STRINGS) gives the lines.
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/math_functions.h" "int a;\n${plain}")
file(STRINGS "${CMAKE_CURRENT_BINARY_DIR}/math_functions.h" lines REGEX "cospi|rsqrt")
file(REMOVE "${CMAKE_CURRENT_BINARY_DIR}/math_functions.h")
bound("lines" "${lines}" 2.41)

foreach(
  row
  IN
  ITEMS
    "2.40|2.41|fits"
    "2.41|2.41|refused"
    "2.41.9000|2.41|refused"
    "2.9|2.41|fits"
    "2.100|2.41|refused"
    "2.41|2.42|fits"
    "2.42|2.42|refused"
    "2.43||fits"
    "|2.41|fits"
    "musl|2.41|fits"
)
  string(REPLACE "|" ";" cells "${row}")
  list(POP_FRONT cells glibc bound expected)
  _cudaops_glibc_check(e GLIBC "${glibc}" BOUND "${bound}" TOOLKIT 12.8)
  if(e_ERROR)
    check_equal("${row}" refused "${expected}")
    check_match("${row}" "${e_ERROR}" "^[^;\n]+\\.$")
  else()
    check_equal("${row}" "fits${e_HEAD}${e_FACTS}${e_FIX}" "${expected}")
  endif()
endforeach()
# The cure for both at once is the toolkit that is free of both.
_cudaops_glibc_check(e GLIBC 2.42 BOUND 2.41 TOOLKIT 12.8)
check_match("2.42 with 12.8" "${e_FIX}" "\\(CUDA 13\\.2 or newer")
