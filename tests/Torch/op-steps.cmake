# The verdict on this torch and the real toolkit follows the rule; where they fit, or the user insists, an op with a
# .cu builds for exactly the arch asked for, and runs in this torch.
torch_facts()
need_toolkit()
need_cuda_torch()
if(torch_VERSION VERSION_LESS 2.10)
  case_skip("torch ${torch_VERSION} has no stable ABI")
endif()
string(REGEX REPLACE "\\..*" "" toolkit_major "${toolkit_RELEASE}")
string(REGEX REPLACE "\\..*" "" torch_major "${torch_CUDA}")
set(verdict COMPATIBLE)
if(toolkit_RELEASE STREQUAL torch_CUDA)
  set(verdict EXACT)
elseif(NOT toolkit_major STREQUAL torch_major)
  set(verdict MISMATCH)
endif()
case_project(
  BODY
    "enable_testing()\nfind_package(CudaTorchMatch REQUIRED)
add_torch_op(torches SOURCES [==[${case_SUITE}/op.cpp]==] CUDA_SOURCES [==[${case_SUITE}/op.cu]==])"
)
set(args "-DPython_EXECUTABLE=${case_TORCH}" -DCMAKE_CUDA_ARCHITECTURES=90-real -DCMAKE_BUILD_TYPE=Release)
if(verdict STREQUAL "MISMATCH")
  case_configure(RESULT 1 ARGS ${args})
  case_match(
    "the stop" "${case_STEP_STDERR}"
    "toolkit and torch must be of one CUDA major version\\. toolkit +CUDA ${toolkit_RELEASE}[0-9.]*: [^ ]+ \\(/usr/local/cuda\\) torch +[^ ]+, built with CUDA ${torch_CUDA}: [^ ]+ \\(Python_EXECUTABLE\\)"
  )
  case_report_equal(MISMATCH reason_code)
  case_configure(ARGS ${args} -DCUDAOPS_VERSION_POLICY=WARN)
  case_match("the warning" "${case_STEP_STDERR}" "^CMake Warning at .*toolkit and torch must be of one CUDA major version")
  set_property(GLOBAL PROPERTY case_STDERR "")
else()
  case_configure(ARGS ${args})
endif()
case_report_equal("${verdict}" verdict)
case_report_equal(BUILT ops 0 state)
case_report_equal(90-real ops 0 architectures 0)
case_build(ARGS --verbose)
string(REGEX MATCHALL "(compute|sm)_[0-9]+[af]?" archs "${case_STEP_STDOUT}")
list(REMOVE_DUPLICATES archs)
list(SORT archs)
case_equal("archs on the compile lines" "${archs}" "compute_90;sm_90")
case_ctest()
can_run(runs)
if(runs)
  case_step(
    load
    COMMAND
      "${case_TORCH}" -c
      "import torch; torch.ops.load_library('${case_BUILD_DIR}/libtorches.so'); t = torch.arange(5.); assert torch.ops.torches.twice(t).equal(2 * t)"
  )
endif()
