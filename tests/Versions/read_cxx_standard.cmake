# The C++ standard that torch's headers ask for, in the two spellings that were seen and in none.
include("${CMAKE_CURRENT_LIST_DIR}/common/check.cmake")
_cudaops_use(facts/version_text)

foreach(pair IN ITEMS 201402:14 201703:17 202002:20 202302:23)
  string(REPLACE ":" ";" pair "${pair}")
  list(POP_FRONT pair macro standard)
  _cudaops_torch_cxx_standard("#pragma once\n#if !defined(_MSC_VER) && __cplusplus < ${macro}L\n#error old\n#endif\n" out
  )
  check_equal("${macro}" "${out}" "${standard}")
  _cudaops_torch_cxx_standard(
    "// __cplusplus is 199711L there\n#if (defined(_MSVC_LANG) && _MSVC_LANG < 201103L) || \\\n    (!defined(_MSVC_LANG) && __cplusplus < ${macro}L)\n"
    out
  )
  check_equal("${macro} with _MSVC_LANG" "${out}" "${standard}")
endforeach()
foreach(
  text
  IN
  ITEMS "" "#pragma once\n" "#if __cplusplus > 201703L" "#if __cplusplus < 42L" "#if __cplusplus < 201703"
)
  _cudaops_torch_cxx_standard("${text}" out)
  check_equal("[${text}]" "${out}" "")
endforeach()
