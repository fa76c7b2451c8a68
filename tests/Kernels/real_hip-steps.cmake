# The reference library for gfx90a with Debian's HIP: every kernel and binding is translated, compiled and linked, and the
# library holds the code objects that were asked for. Nothing runs: no AMD GPU, and a torch for CUDA can't load it.
if(NOT case_TORCHES)
  case_skip("no real torch (CUDAOPS_TEST_TORCHES)")
  return()
elseif(NOT EXISTS /usr/bin/hipcc OR NOT EXISTS /usr/include/hip/hip_runtime.h)
  case_skip("Debian's hipcc and libamdhip64-dev are not installed here")
  return()
endif()
list(GET case_TORCHES 0 python)
# Nothing runs, so nothing is optimised, which would take half of the time; Hip.real_* and Examples.07_cuda_and_rocm compile
# HIP with optimisation.
case_environment(CUDAOPS_PRECOMPILE=ON)
case_use_compiler_cache()
case_configure(
  SOURCE_DIR "${case_REPO}"
  ARGS
    "-DPython_EXECUTABLE=${python}"
    -DCUDAOPS_BACKEND=HIP
    -DROCm_ROOT=/usr
    -DCMAKE_HIP_ARCHITECTURES=gfx90a
    -DCMAKE_BUILD_TYPE=Release
    "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG"
    "-DCMAKE_HIP_FLAGS_RELEASE=-O0 -DNDEBUG"
    -DCUDAOPS_BUILD_KERNELS=ON
    -DBUILD_TESTING=OFF
)
case_report_equal(HIP backend)
case_report_equal(BUILT ops 0 state)
case_report_equal(gfx90a ops 0 architectures 0)
case_report(reason ops 0 reason)
case_match("why it can't be loaded" "${reason}" "isn't built for ROCm, can't load it")
foreach(i RANGE 2)
  case_report_equal(BUILT kernels ${i} state)
  case_report_equal(gfx90a kernels ${i} architectures 0)
endforeach()
case_build()
set(
  inspect
  "${python}"
  -I
  -S
  -B
  "${case_REPO}/python/cudaops/_run.py"
  inspect_library
)
case_step(
  architectures
  COMMAND ${inspect} "${case_BUILD_DIR}/kernels/libcudaops_examples.so" --check-archs gfx90a
)
case_step(
  "another one is missed"
  RESULT 1
  COMMAND ${inspect} "${case_BUILD_DIR}/kernels/libcudaops_examples.so" --check-archs gfx90a,gfx942
)
case_match("the refusal" "${case_STEP_STDERR}${case_STEP_STDOUT}" "gfx942")
set_property(GLOBAL PROPERTY case_STDERR "")
case_build()
case_match("second build" "${case_STEP_STDOUT}" "no work to do")
