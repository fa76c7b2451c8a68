# The real nvcc: a kernel that spills is named with its line by one command; the budget's test fails for a new spill, for
# fewer blocks at a launch bound and for a new kernel that spills, and notes what has no effect.
real_machine()
if(NOT real_TORCH)
  return()
endif()

# write_kernels(<values> <shared bytes>): <values> are kept by each of 1024 threads, in 32 registers at most.
function(write_kernels values shared)
  string(
    CONFIGURE
      [==[
template <int kSize>
__global__ void __launch_bounds__(1024, 2) many(float* x, const int* p) {
  float a[kSize];
#pragma unroll
  for (int i = 0; i < kSize; ++i) a[i] = x[i * 37 + threadIdx.x];
#pragma unroll
  for (int k = 0; k < 4; ++k)
#pragma unroll
    for (int i = 0; i < kSize; ++i) a[i] = a[i] * a[(i * 7 + k) % kSize] + p[k];
#pragma unroll
  for (int i = 0; i < kSize; ++i) x[i * 37 + threadIdx.x] = a[i];
}
__global__ void __launch_bounds__(256) shared(float* x) {
  __shared__ char s[@shared@];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[255 - threadIdx.x];
}
void launch(float* x, int* p) {
  many<@values@><<<1, 1024>>>(x, p);
  shared<<<1, 256>>>(x);
}
]==]
    text
    @ONLY
  )
  file(WRITE "${case_DIR}/src/kernel.cu" "${text}")
endfunction()

set(test -R "^kernels\\.kernels$")
# Of a folder that isn't there yet.
set(budget "${case_DIR}/src/budgets/kernels.json")
write_kernels(4 4096)
# The kernels of a static library are in its objects.
configure(
  [[
cudaops_add_kernels(kernels STATIC SOURCES kernel.cu)
cudaops_add_kernel_budget(kernels FILE budgets/kernels.json)
]]
  ARGS -DCMAKE_CUDA_ARCHITECTURES=80-real
)
case_ctest(RESULT 8 ARGS ${test})
expect_stdout("kernels\\.kernels: there is no budget yet\\. missing ${budget} Fix: cmake --build \\. --target kernels\\.update_kernels")
case_build(ARGS --target kernels.update_kernels)
expect_stdout("kernels\\.update_kernels: 2 kernels in ${budget}")
case_ctest(ARGS ${test} -V)
expect_stdout("kernels\\.kernels: 2 kernels, none takes more than ${budget} allows\\.")
case_build(ARGS --target cudaops_kernel_report)
expect_stdout("2 kernels for sm_80; none spills")

# A spill, and memory for four blocks where eight were. Figures of what isn't built yet aren't there.
write_kernels(64 40000)
case_build(ARGS --target cudaops_kernel_report)
expect_stdout("none spills not counted: what changed in kernel\\.cu since it was compiled: build it first")
case_build()
case_ctest(RESULT 8 ARGS ${test})
expect_stdout(
  "kernels\\.kernels: 2 kernels of 2 take more than ${budget} allows\\."
  "many<64>\\(float\\*, int const\\*\\), sm_80: new, with [0-9]+ bytes of spill stores and [0-9]+ bytes of spill loads and [0-9]+ bytes of stack"
  "shared\\(float\\*\\), sm_80: 4 blocks a multiprocessor, 8 in the budget Fix: the kernel; or, where it is meant so, cmake --build \\. --target kernels\\.update_kernels"
  "note: gone: 1 kernel for sm_80"
)
case_build(ARGS --target cudaops_kernel_report)
expect_stdout("2 kernels for sm_80; 1 of them spills" "1\\. many<64> \\(kernel\\.cu:2\\), sm_80, spills [0-9]+ \\+ [0-9]+ bytes \\(lines: -DCUDAOPS_PROFILE=ON\\): __launch_bounds__\\(1024, 1\\) leaves 64 registers")
row(value "shared(float*)" occupancy 0 next)
case_equal("next step" "${value}" "32512 bytes of shared memory or fewer give 40 warps of 64")
row(value "shared(float*)" target)
case_equal("target" "${value}" kernels)
row(value "shared(float*)" line)
case_equal("line" "${value}" 13)
file(READ "${case_BUILD_DIR}/cudaops-kernels.html" page)
case_match("page" "${page}" "^<!doctype html>.*</html>")
case_not_match("page that needs others" "${page}" "(src|href)=|https?://|@import")

# Agreed to; then more of what was agreed to.
case_build(ARGS --target kernels.update_kernels)
case_ctest(ARGS ${test})
file(READ "${budget}" agreed)
string(REGEX REPLACE "(many<64>[^[]*)\\[([0-9]+), ([0-9]+), ([0-9]+)" "\\1[\\2, \\3, 4" text "${agreed}")
file(WRITE "${budget}" "${text}")
case_ctest(RESULT 8 ARGS ${test})
expect_stdout("kernels\\.kernels: 1 kernel of 2 take more" "many<64>[^:]*: [0-9]+ bytes of spill stores, 4 in the budget")

# Another release of nvcc fails nothing; registers without effect are a note.
string(REGEX REPLACE "\"[0-9.]+\": {\n\"sm_80\"" "\"99.0\": {\n\"sm_80\"" text "${text}")
file(WRITE "${budget}" "${text}")
case_ctest(ARGS ${test} -V)
expect_stdout("note: the budget is of nvcc 99\\.0, these are kernels of [0-9.]+: what follows is no failure" "note: many<64>[^:]*: [0-9]+ bytes of spill stores, 4 in the budget")
string(REGEX REPLACE "(shared[^[]*)\\[([0-9]+)" "\\1[7" text "${agreed}")
file(WRITE "${budget}" "${text}")
case_ctest(ARGS ${test} -V)
expect_stdout("note: shared\\(float\\*\\), sm_80: [0-9]+ registers, 7 in the budget, without effect")

# For a debugger nothing is optimized.
case_configure(ARGS -DCMAKE_CUDA_ARCHITECTURES=80-real -DCMAKE_CUDA_FLAGS=-G)
case_build()
case_ctest(ARGS ${test})
expect_stdout("kernels\\.kernels .*Skipped")

# What is no budget, and the way out.
file(WRITE "${budget}" "{")
case_ctest(RESULT 8 ARGS ${test})
expect_stdout("kernels\\.kernels: the budget is no JSON\\. found ${budget}: .* Fix: remove it, then cmake --build \\. --target kernels\\.update_kernels")
file(WRITE "${budget}" "{\"format\": 3}")
case_ctest(RESULT 8 ARGS ${test})
expect_stdout("kernels\\.kernels: this is no budget of kernels\\. found ${budget}, format 3 wanted format 1 Fix: remove it, then cmake --build \\. --target kernels\\.update_kernels")
set_property(GLOBAL PROPERTY case_STDERR "")
