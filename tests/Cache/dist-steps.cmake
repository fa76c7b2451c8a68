# Distributed compiles with a scheduler and two servers: every file of the simplest ops (CUDAOPS_TEST_LONG: of the whole
# reference library) compiled elsewhere with the same device code, a server that dies in the middle, a wrong token, no
# scheduler.
real_machine()
if(NOT real_TORCH)
  return()
endif()
use_cache(sccache)
get_property(suite_skipped GLOBAL PROPERTY case_SKIPPED)
if(suite_skipped)
  return()
endif()
execute_process(COMMAND "${case_PYTHON}" "${case_SUITE}/common/dist_farm.py" can OUTPUT_VARIABLE suite_why)
if(NOT suite_why STREQUAL "")
  case_skip("${suite_why}")
  return()
endif()
find_program(suite_dist sccache-dist NO_CACHE REQUIRED)
file(CREATE_LINK "${suite_dist}" "${case_DIR}/bin/sccache-dist" SYMBOLIC)
set(target cudaops_examples)
if(case_LONG)
  set(target all)
endif()
case_step(
  "a scheduler and two servers"
  COMMAND
    "${case_PYTHON}" "${case_SUITE}/common/dist_farm.py" "${case_REPO}" "${case_CMAKE}" "${case_GENERATOR}"
    "${case_DIR}/farm" ${target} -- ${case_ARGS} -DCMAKE_CUDA_ARCHITECTURES=80-real
)
