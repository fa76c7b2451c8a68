# A toolkit in /opt/cuda (Arch Linux, Gentoo) is found with nothing set and no nvcc on PATH. In a namespace of its own.
execute_process(
  COMMAND unshare -rm mount -t tmpfs none /opt
  RESULT_VARIABLE result
  OUTPUT_QUIET
  ERROR_QUIET
)
if(NOT result EQUAL 0 OR "${case_CMAKE};${case_CXX};${case_DIR}" MATCHES "(^|;)/opt/")
  case_skip("unshare can't mount /opt here")
  return()
endif()
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 12.9 NO_WHEELS)
fake_toolkit("${case_DIR}/cuda" VERSION 12.9)
file(
  WRITE "${case_DIR}/mounted"
  "mount -t tmpfs none /opt && mkdir /opt/cuda && mount --bind \"$0.cuda\" /opt/cuda && exec \"$@\"\n"
)
file(CREATE_LINK cuda "${case_DIR}/mounted.cuda" SYMBOLIC)
find_program(unshare unshare NO_CACHE)
file(
  WRITE "${case_DIR}/cmake"
  "#!/bin/sh\nexec \"${unshare}\" -rm sh \"${case_DIR}/mounted\" \"${case_CMAKE}\" \"$@\"\n"
)
file(CHMOD "${case_DIR}/cmake" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
set(case_CMAKE "${case_DIR}/cmake")
set(match_HEAD "")
get_property(path GLOBAL PROPERTY case_ENVIRONMENT_PATH)
case_environment("PATH=${path}:/usr/bin:/bin")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(VERDICT EXACT CUDA_ENABLED TRUE TOOLKIT_ROOT /opt/cuda)
case_report_equal("/opt/cuda" toolkit source)
