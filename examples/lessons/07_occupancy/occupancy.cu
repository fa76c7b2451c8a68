// SPDX-License-Identifier: Apache-2.0
// How many threads a multiprocessor holds at a time, what limits that, and what it does for the
// bandwidth.
#include <cudaops/benchmark.h>
#include <cudaops/check.h>

#include <cstring>

using namespace cudaops::benchmark;

constexpr int64_t kSize = 1 << 26;  // floats, 256 MiB: more than a cache holds
constexpr int kPeriod = 1021;

__global__ void increment(const float* input, float* out) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  out[i] = input[i] + 1;
}

// One thread for kRow elements, which it keeps in registers: 0, 4 or 8 blocks of 256 threads are to
// fit on a multiprocessor, which leaves a thread 255, 64 or 32 registers.
constexpr int kRow = 64;
template <int kMinBlocks>
__global__ void __launch_bounds__(256, kMinBlocks) increment_row(const float* input, float* out) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t stride = int64_t{gridDim.x} * blockDim.x;
  float row[kRow], largest = 0;
#pragma unroll
  for (int k = 0; k < kRow; ++k) largest = fmaxf(largest, row[k] = input[i + k * stride]);
#pragma unroll
  for (int k = 0; k < kRow; ++k) out[i + k * stride] = row[k] + (largest < kPeriod ? 1 : 0);
}

void time_kernel(benchmark::State& state, void (*kernel)(const float*, float*), int block_size,
                 int row, size_t shared_bytes) {
  std::vector<float> values(kPeriod);
  for (int i = 0; i < kPeriod; ++i) values[i] = static_cast<float>(i);
  std::vector<char> pattern(kPeriod * sizeof(float));
  std::memcpy(pattern.data(), values.data(), pattern.size());
  const DeviceSets input(1, kSize * sizeof(float), pattern), out(1, kSize * sizeof(float));
  CUDAOPS_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(shared_bytes)));
  Case c;
  c.bytes = 2.0 * kSize * sizeof(float);
  c.launch = [&](int, cudaStream_t stream) {
    kernel<<<kSize / row / block_size, block_size, shared_bytes, stream>>>(
        static_cast<const float*>(input[0]), static_cast<float*>(out[0]));
    CUDAOPS_CHECK_LAUNCH();
  };
  c.verify = [&]() -> std::string {
    const std::vector<float> found = out.to_host<float>(0, kSize);
    for (int64_t i = 0; i < kSize; ++i) {
      if (found[i] != values[i % kPeriod] + 1) return "element " + std::to_string(i);
    }
    return "";
  };
  run(state, c);

  cudaFuncAttributes attributes;
  int device = 0, blocks = 0, most_threads = 0, smallest_grid = 0, suggested = 0;
  CUDAOPS_CHECK(cudaGetDevice(&device));
  CUDAOPS_CHECK(cudaFuncGetAttributes(&attributes, kernel));
  CUDAOPS_CHECK(
      cudaDeviceGetAttribute(&most_threads, cudaDevAttrMaxThreadsPerMultiProcessor, device));
  CUDAOPS_CHECK(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block_size, shared_bytes));
  CUDAOPS_CHECK(
      cudaOccupancyMaxPotentialBlockSize(&smallest_grid, &suggested, kernel, shared_bytes));
  state.counters["occupancy"] = double(blocks) * block_size / most_threads;
  state.counters["suggested_block"] = suggested;
  state.counters["registers"] = attributes.numRegs;
  state.counters["spilled_bytes"] = attributes.localSizeBytes;
}

void block_size(benchmark::State& state) {
  time_kernel(state, increment, static_cast<int>(state.range(0)), 1, 0);
}
BENCHMARK(block_size)->Apply(timed_on_gpu)->RangeMultiplier(2)->Range(32, 1024);

// As many blocks of 256 threads as the shared memory leaves room for.
void blocks(benchmark::State& state) {
  int device = 0, all = 0, most = 0, reserved = 0;
  CUDAOPS_CHECK(cudaGetDevice(&device));
  CUDAOPS_CHECK(cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
  CUDAOPS_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  CUDAOPS_CHECK(cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, device));
  const int bytes = (all / static_cast<int>(state.range(0)) - reserved) / 1024 * 1024;
  time_kernel(state, increment, 256, 1, std::min(bytes, most));
}
BENCHMARK(blocks)->Apply(timed_on_gpu)->DenseRange(1, 4)->Arg(6)->Arg(8);

template <int kMinBlocks>
void launch_bounds(benchmark::State& state) {
  time_kernel(state, increment_row<kMinBlocks>, 256, kRow, 0);
}
BENCHMARK(launch_bounds<0>)->Apply(timed_on_gpu);
BENCHMARK(launch_bounds<4>)->Apply(timed_on_gpu);
BENCHMARK(launch_bounds<8>)->Apply(timed_on_gpu);

CUDAOPS_BENCHMARK_MAIN()
