# Developer warnings and deprecations are errors, uninitialized variables and unused -D are warnings: none of them.
execute_process(COMMAND "${case_CMAKE}" --version OUTPUT_VARIABLE version)
set(options -Werror=dev -Werror=deprecated --warn-uninitialized)
if(version MATCHES "cmake version ([0-9.]+)" AND CMAKE_MATCH_1 VERSION_GREATER_EQUAL 4.3)
  set(options -Werror=author -Werror=deprecated -Wuninitialized)
endif()
consumer(HEAD "set(CudaOps_ROOT [==[${case_REPO}]==])" ARGS ${options})
expect_consumer("^${case_REPO}/cmake$")
