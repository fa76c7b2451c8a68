# BUILT, CPU_ONLY and NOT_BUILT for each reason that needs no toolkit that compiles.
set(
  ops
  [==[
file(WRITE test.py "")
add_torch_op(both SOURCES op.cpp CUDA_SOURCES op.cu INSTALL lib)
add_torch_op(host SOURCES more.cpp)
add_torch_op(one_file SOURCES op.cpp CUDA_SOURCES op.cpp)
add_torch_op(device CUDA_SOURCES op_cuda.cpp more.cu INSTALL lib)
cudaops_add_python_test(both_test OP both SCRIPT test.py)
cudaops_add_python_test(device_test OP both device SCRIPT test.py)
cudaops_add_kernels(kernels SOURCES op.cpp op.cu DEFINE HAVE_KERNELS)
cudaops_add_kernels(device_kernels SOURCES op.cu)
target_link_libraries(both PRIVATE kernels device_kernels)
target_compile_options(device PRIVATE -O2)
set_target_properties(device PROPERTIES OUTPUT_NAME other CUDA_SEPARABLE_COMPILATION ON)
]==]
)
function(expect_reason code reason)
  expect_target(both state CPU_ONLY reason_code ${code} reason "${reason}" architectures "" abi STABLE torch_target 2.10)
  expect_target(one_file state CPU_ONLY reason_code ${code} library "${case_BUILD_DIR}/libone_file.so")
  expect_target(host state BUILT reason_code "" reason "" library "${case_BUILD_DIR}/libhost.so")
  expect_target(device state NOT_BUILT reason_code ${code} reason "${reason}" library "")
  expect_target(kernels state CPU_ONLY reason_code ${code} architectures "")
  expect_target(device_kernels state NOT_BUILT reason_code ${code})
  expect_stdout(
    "both +CPU_ONLY +STABLE 2\\.10 +${code}: "
    "host +BUILT +STABLE 2\\.10"
    "device +NOT_BUILT +STABLE 2\\.10 +${code}: "
    "kernels +CPU_ONLY +kernels +${code}: "
    "add_torch_op\\(device\\): INSTALL lib is left out, the op is NOT_BUILT \\(${code}\\)"
  )
endfunction()

machine(VERSION 2.13.0 CUDA 13.0 NO_WHEELS)
file(WRITE "${case_DIR}/src/more.cpp" "")
configure("${ops}" ARGS "-DCMAKE_INSTALL_PREFIX=${case_DIR}/prefix")
expect_reason(NO_TOOLKIT "no CUDA toolkit was found")
case_report_equal(NO_TOOLKIT reason_code)

# What is NOT_BUILT is not part of the build; who builds it reads why. Its test is skipped, with the reason.
case_build()
refuse_stdout("not_built")
case_build(RESULT 1 ARGS --target device)
expect_stdout("device is NOT_BUILT: NO_TOOLKIT: no CUDA toolkit was found")
case_ctest(ARGS -V)
expect_stdout(
  "SKIPPED: device is NOT_BUILT \\(NO_TOOLKIT: no CUDA toolkit was found\\)"
  "both_test \\.* +Passed"
  "device_test \\.*\\*\\*\\*Skipped"
)
case_step(install COMMAND "${case_CMAKE}" --install "${case_BUILD_DIR}")
foreach(name libboth.so|TRUE libother.so|FALSE)
  string(REGEX MATCH "^([^|]+)\\|(.+)$" name "${name}")
  set(there FALSE)
  if(EXISTS "${case_DIR}/prefix/lib/${CMAKE_MATCH_1}")
    set(there TRUE)
  endif()
  case_equal("${CMAKE_MATCH_1} is installed" "${there}" "${CMAKE_MATCH_2}")
endforeach()

foreach(kind IN ITEMS CPU ROCM OFF)
  file(REMOVE_RECURSE "${case_DIR}/venv" "${case_BUILD_DIR}")
  if(kind STREQUAL "CPU")
    machine(VERSION 2.13.0 CPU)
    set(code CPU_TORCH)
    set(reason "torch 2.13.0+cpu is a CPU build")
  elseif(kind STREQUAL "ROCM")
    machine(VERSION 2.13.0 ROCM 6.4)
    set(code NO_HIP_COMPILER)
    set(reason "torch 2.13.0+rocm6.4 is a ROCm build, and no HIP compiler was found")
  else()
    machine(VERSION 2.13.0 CUDA 13.0)
    list(APPEND case_ARGS -DCUDAOPS_BACKEND=CPU)
    set(code REQUESTED_OFF)
    set(reason "CUDA was switched off (CUDAOPS_BACKEND=CPU)")
  endif()
  configure("${ops}")
  expect_reason(${code} "${reason}")
endforeach()

# No torch: no op can be built, kernels can.
file(REMOVE_RECURSE "${case_DIR}/venv" "${case_BUILD_DIR}")
fake_python("${case_DIR}/venv")
configure("${ops}")
foreach(op IN ITEMS both host device)
  expect_target(${op} state NOT_BUILT reason_code NO_TORCH reason "no torch was found" library "")
endforeach()
case_report_equal(NO_TORCH verdict)
case_build()
case_build(RESULT 1 ARGS --target host)
expect_stdout("host is NOT_BUILT: NO_TORCH: no torch was found")
case_ctest(ARGS -V)
expect_stdout("SKIPPED: both is NOT_BUILT \\(NO_TORCH: no torch was found\\)" "both_test \\.*\\*\\*\\*Skipped")
