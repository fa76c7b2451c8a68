# The header of a toolkit on this machine: what is read from it against what the preprocessor makes of it.
file(
  GLOB headers
  "/usr/local/cuda*/include/crt/host_config.h"
  "/usr/local/cuda*/targets/*/include/crt/host_config.h"
  "/opt/cuda*/include/crt/host_config.h"
  "/usr/include/crt/host_config.h"
)
if(NOT headers)
  case_skip("no CUDA toolkit in the usual places")
endif()
foreach(header IN LISTS headers)
  case_step(
    script
    COMMAND "${case_CMAKE}" "-Dheader=${header}" "-Dcxx=${case_CXX}" -P "${case_SUITE}/real_header.cmake"
  )
endforeach()
