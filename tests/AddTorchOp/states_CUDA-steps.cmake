# The same with a toolkit: everything BUILT; an op whose code supports none of the requested archs is CPU_ONLY or
# NOT_BUILT, the others are built; a broken toolkit and one that compiles nothing give their own reasons.
machine(CUDA)
set(
  ops
  [==[
add_torch_op(both SOURCES op.cpp CUDA_SOURCES op_cuda.cpp op.cu)
add_torch_op(host SOURCES op.cpp)
add_torch_op(registration SOURCES op.cpp CUDA_SOURCES op_cuda.cpp)
add_torch_op(moved SOURCES op.cpp op.cu)
add_torch_op(hopper SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES 90a 100f)
add_torch_op(hopper_alone CUDA_SOURCES op.cu ARCHITECTURES 90a)
add_torch_op(part SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES >=80)
add_torch_op(off SOURCES op.cpp CUDA_SOURCES op.cu CUDA OFF)
cudaops_add_kernels(kernels SOURCES op.cu DEFINE HAVE_KERNELS)
cudaops_add_kernels(hopper_kernels SOURCES op.cu ARCHITECTURES 90a DEFINE HAVE_HOPPER)
target_link_libraries(both PRIVATE kernels hopper_kernels)
target_link_libraries(host PRIVATE kernels)
]==]
)
configure("${ops}")
expect_target(both state BUILT reason_code "" architectures 80-real,80-virtual)
# Device code that comes from kernels alone counts.
expect_target(host state BUILT architectures 80-real,80-virtual)
expect_target(registration state BUILT architectures "")
expect_target(moved state BUILT architectures 80-real,80-virtual)
set(reason "the code supports 90a 100f; requested is 8.0 (CMAKE_CUDA_ARCHITECTURES)")
expect_target(hopper state CPU_ONLY reason_code NO_ARCHITECTURE reason "${reason}" architectures "")
expect_target(hopper_alone state NOT_BUILT reason_code NO_ARCHITECTURE)
expect_target(part state BUILT architectures 80-real,80-virtual)
expect_target(off state CPU_ONLY reason_code REQUESTED_OFF reason "the op says CUDA OFF")
expect_target(kernels state BUILT architectures 80-real,80-virtual)
expect_target(hopper_kernels state NOT_BUILT reason_code NO_ARCHITECTURE architectures "")
case_report_equal("" reason_code)
case_report_equal(80 architectures requested)
case_build(ARGS --verbose)
expect_stdout("-DHAVE_KERNELS=1")
refuse_stdout("-DHAVE_HOPPER" "compute_(90|100)")

# CUDA REQUIRED: the op's own reason stops it, and the report says so.
misuse(
  "add_torch_op(first SOURCES op.cpp CUDA_SOURCES op.cu)
add_torch_op(hopper SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES 90a CUDA REQUIRED)"
  [[
add_torch_op(hopper): CUDA REQUIRED, and CUDA is not available.
  found NO_ARCHITECTURE: the code supports 90a; requested is 8.0 (CMAKE_CUDA_ARCHITECTURES)
 Fix: -DCMAKE_CUDA_ARCHITECTURES=<one that the code supports>
 or leave CUDA REQUIRED out: the op is then built for the CPU where it has SOURCES
]]
)
expect_target(first state BUILT)
case_report_equal(EXACT verdict)

# A request that is served in part: built, and said.
list(TRANSFORM case_ARGS REPLACE "^-DCMAKE_CUDA_ARCHITECTURES=.*" "-DCMAKE_CUDA_ARCHITECTURES=80,90")
configure("add_torch_op(part SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES 90a)")
expect_target(part state BUILT architectures 90a-real,90a-virtual)
expect_stdout("add_torch_op\\(part\\): 8\\.0 is not served \\(the code supports 90a\\)")

# The only toolkit is damaged.
list(FILTER case_ARGS EXCLUDE REGEX "^-D(CUDAToolkit_ROOT|CMAKE_CUDA)")
foreach(damage IN ITEMS LANGUAGE_FAILED BROKEN_TOOLKIT)
  file(REMOVE_RECURSE "${case_BUILD_DIR}")
  if(damage STREQUAL "LANGUAGE_FAILED")
    fake_toolkit("${case_DIR}/damaged" VERSION 13.0)
    file(WRITE "${case_DIR}/damaged/include/cuda_runtime.h" "#error this header is damaged\n")
    set(text "CUDA is off, the toolkit can't compile one kernel.*this header is damaged")
  else()
    fake_toolkit("${case_DIR}/broken" VERSION 13.0 WITHOUT PTXAS)
    set(text "CUDA is off, the only toolkit found is broken.*ptxas")
  endif()
  string(REGEX REPLACE "_.*" "" folder "${damage}")
  string(REPLACE LANGUAGE damaged folder "${folder}")
  string(TOLOWER "${folder}" folder)
  case_environment("CUDA_HOME=${case_DIR}/${folder}")
  configure("add_torch_op(op SOURCES op.cpp CUDA_SOURCES op.cu)")
  expect_target(op state CPU_ONLY reason_code ${damage})
  expect_stderr("${text}")
  project_says("add_torch_op(op SOURCES op.cpp CUDA_SOURCES op.cu CUDA REQUIRED)")
  case_configure(RESULT 1)
  expect_stderr(
    "${text}"
    "add_torch_op\\(op\\): CUDA REQUIRED, and CUDA is not available\\. found ${damage}: .* Fix: .*-DCUDAToolkit_ROOT=<another toolkit>"
  )
endforeach()
