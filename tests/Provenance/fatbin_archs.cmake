# What can't be read has no architectures; nothing is said and nothing stops.
include("${case_REPO}/cmake/detail/op_audit.cmake")

file(WRITE "${case_DIR}/junk.so" "junk")
foreach(file IN ITEMS "${case_DIR}/junk.so" "${case_DIR}/missing.so" "${case_DIR}")
  set(archs "unset")
  _cudaops_fatbin_archs(archs "${file}" PYTHON "${case_PYTHON}")
  if(NOT archs STREQUAL "")
    message(FATAL_ERROR "[${archs}] for ${file}")
  endif()
endforeach()
