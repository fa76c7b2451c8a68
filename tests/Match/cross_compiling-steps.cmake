# A compiler for another machine: torch and the toolkit's headers and libraries are those of that machine.
# (Here it builds for this one under another name, and what is of another machine is another machine's.)
set(place "${case_DIR}")
if(case_DIR MATCHES " ")
  # CMake 3.25 can't link CUDA with a compiler whose path holds a blank.
  execute_process(COMMAND mktemp -d OUTPUT_VARIABLE place OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()
set(cxx "${place}/aarch64-linux-gnu-g++")
file(WRITE "${cxx}" "#!/bin/sh\nexec \"${case_CXX}\" \"$@\"\n")
file(CHMOD "${cxx}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
set(args "-DCMAKE_SYSTEM_NAME=Linux" "-DCMAKE_SYSTEM_PROCESSOR=aarch64" "-DCMAKE_CXX_COMPILER=${cxx}")
set(wheel "lib/python${case_PYTHON_VERSION}/site-packages/torch")
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
fake_torch("${case_DIR}/target" VERSION 2.13.0 CUDA 13.0)
# As a wheel is unpacked.
file(REMOVE_RECURSE "${case_DIR}/target/bin")
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
# ELF of a machine that no compiler here builds for.
execute_process(
  COMMAND sh -c "printf '\\177ELF\\2\\1\\1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\3\\0\\1\\1' >libc10.so"
  WORKING_DIRECTORY "${case_DIR}/venv/${wheel}/lib"
  COMMAND_ERROR_IS_FATAL ANY
)
case_environment("VIRTUAL_ENV=${case_DIR}/venv" "CUDA_HOME=${case_DIR}/cuda")

# The torch of this machine is none, and none is downloaded. So it is where CMake isn't told that it cross compiles (vcpkg's
# older toolchain files, an emulator).
foreach(crossing IN ITEMS TRUE OFF)
  file(REMOVE_RECURSE "${case_BUILD_DIR}")
  match(FIND QUIET NO_SEED ARGS ${args} -DCUDAOPS_PROVIDE=TORCH -DCMAKE_CROSSCOMPILING=${crossing})
  expect_match(VERDICT NO_TORCH)
endforeach()

# Another name of this machine is none.
if(CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(same -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=AMD64 "-DTorch_ROOT=${case_DIR}/target/${wheel}")
  case_configure(BUILD_DIR "${case_DIR}/same" ARGS ${same})
  expect_match(VERDICT EXACT CUDA_ENABLED TRUE)
endif()

# A torch of the other machine, and a toolkit without its part for it.
match(NO_SEED ARGS ${args} "-DTorch_ROOT=${case_DIR}/target/${wheel}")
expect_match(VERDICT EXACT CUDA_ENABLED FALSE REASON_CODE BROKEN_TOOLKIT)

# With it.
file(COPY "${case_DIR}/cuda/include" DESTINATION "${case_DIR}/cuda/targets/aarch64-linux")
file(COPY "${case_DIR}/cuda/lib64/" DESTINATION "${case_DIR}/cuda/targets/aarch64-linux/lib")
match(
  NO_SEED
  AFTER
    "_cudaops_state_get(TOOLKIT_LIB_DIR lib)
get_target_property(headers CudaOps::cuda_headers INTERFACE_INCLUDE_DIRECTORIES)
message(STATUS \"lib: \${lib}\")
message(STATUS \"headers: \${headers}\")"
)
expect_match(CUDA_ENABLED TRUE)
expect_stdout("lib: ${case_DIR}/cuda/targets/aarch64-linux/lib[^/]")
expect_stdout("headers: [^\n]*${case_DIR}/cuda/targets/aarch64-linux/include>")
case_not_match("headers" "${case_STEP_STDOUT}" "cuda/include")

# What would run that torch, or name a module as its Python does.
file(WRITE "${case_PROJECT_DIR}/op.cpp" "")
file(WRITE "${case_PROJECT_DIR}/test.py" "")
match(NO_SEED RESULT 1 AFTER "add_torch_op(op ABI PYBIND PYTHON_MODULE op SOURCES op.cpp)")
match(
  NO_SEED
  RESULT 1
  AFTER "enable_testing()\nadd_torch_op(op SOURCES op.cpp)\ncudaops_add_python_test(t OP op SCRIPT test.py)"
)
if(NOT place STREQUAL case_DIR)
  file(REMOVE_RECURSE "${place}")
endif()
