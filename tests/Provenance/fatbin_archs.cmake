# What can't be read has no architectures; nothing is said and nothing stops. AMD's architectures have names.
include("${case_REPO}/cmake/detail/base/use.cmake")
_cudaops_use(facts/library)

file(WRITE "${case_DIR}/junk.so" "junk")
foreach(file IN ITEMS "${case_DIR}/junk.so" "${case_DIR}/missing.so" "${case_DIR}")
  set(archs "unset")
  _cudaops_library_facts(archs "${file}" "${case_PYTHON}" --common-archs)
  if(NOT archs STREQUAL "")
    message(FATAL_ERROR "[${archs}] for ${file}")
  endif()
endforeach()

function(write_hip_library file fatbin)
  string(
    CONCAT code
    "import pathlib, sys; sys.path.insert(0, sys.argv[1]); import hip_files as hip; "
    "hip.library(pathlib.Path(sys.argv[2]), ${fatbin})"
  )
  execute_process(
    COMMAND "${case_PYTHON}" -B -c "${code}" "${case_REPO}/tests/python" "${file}"
    COMMAND_ERROR_IS_FATAL ANY
  )
endfunction()

foreach(fatbin IN ITEMS "hip.bundle('gfx942', 'gfx90a:xnack-')" "hip.compressed(hip.bundle('gfx90a', 'gfx942'))")
  write_hip_library("${case_DIR}/libtorch_hip.so" "${fatbin}")
  _cudaops_library_facts(archs "${case_DIR}/libtorch_hip.so" "${case_PYTHON}" --common-archs)
  if(NOT archs STREQUAL "gfx90a;gfx942")
    message(FATAL_ERROR "[${archs}] for ${fatbin}")
  endif()
endforeach()
