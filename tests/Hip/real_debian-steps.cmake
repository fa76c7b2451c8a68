# The real thing, where Debian's packages are installed: found in /usr, and its clang compiles a kernel with a launch.
if(
  NOT EXISTS /usr/bin/hipcc
  OR NOT EXISTS /usr/include/hip/hip_runtime.h
  OR NOT EXISTS /usr/lib/x86_64-linux-gnu/libamdhip64.so
)
  case_skip("Debian's hipcc and libamdhip64-dev are not installed here")
  return()
endif()
file(STRINGS /usr/include/hip/hip_version.h version REGEX "define HIP_VERSION_(MAJOR|MINOR|PATCH) ")
string(REGEX MATCHALL "[0-9]+" version "${version}")
list(JOIN version "." version)
string(REGEX MATCH "^[0-9]+\\.[0-9]+" release "${version}")
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM ${release})
file(
  WRITE "${case_DIR}/kernel.hip"
  "#include <hip/hip_runtime.h>
__global__ void kernel(int* x) { x[threadIdx.x] = 1; }
extern \"C\" hipError_t run(int* x) {
  kernel<<<1, 32>>>(x);
  return hipGetLastError();
}
"
)
set(library "add_library(kernel SHARED [==[${case_DIR}/kernel.hip]==])")
foreach(run IN ITEMS first second)
  match(
    ARGS ${hip_TORCH} -DROCm_ROOT=/usr "-DGPU_TARGETS=gfx90a:xnack- gfx1030"
    AFTER "${library}"
  )
  expect_match(
    VERDICT EXACT
    HIP_ENABLED TRUE
    ROCM_ROOT /usr
    ROCM_VERSION "${version}"
    CMAKE_HIP_ARCHITECTURES "gfx90a:xnack-;gfx1030"
    languages "CXX;HIP"
  )
  case_build()
endforeach()
case_match("second build" "${case_STEP_STDOUT}" "no work to do")
expect_code_objects("${case_BUILD_DIR}/libkernel.so" gfx90a:xnack- gfx1030)

# What it can't build, in its own words.
match(RESULT 1 ARGS -DGPU_TARGETS=gfx999)
case_match("refusal" "${case_STEP_STDERR}" "error +gfx999 +invalid target ID 'gfx999'")
set_property(GLOBAL PROPERTY case_STDERR "")
