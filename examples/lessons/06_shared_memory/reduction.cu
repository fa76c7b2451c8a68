// SPDX-License-Identifier: Apache-2.0
// The sum of an array in five steps. What a block adds up goes through shared memory.
#include <cudaops/benchmark.h>
#include <cudaops/check.h>

#include <cstring>

using namespace cudaops::benchmark;

// Unsigned numbers: their sum modulo 2^32 is the same in every order.
constexpr int64_t kSize = 1 << 26;
constexpr int kBlockSize = 256;
constexpr unsigned kPeriod = 1 << 20;

// The sum of x over a block; thread 0 has it.
template <int kStep>
__device__ unsigned sum_of_block(unsigned x) {
  __shared__ unsigned part[kBlockSize];
  const int t = threadIdx.x;
  __syncthreads();  // part may still be read
  part[t] = x;
  __syncthreads();
  if (kStep == 1) {  // every second thread, every fourth, ...: few threads keep all warps busy
    for (int stride = 1; stride < kBlockSize; stride *= 2) {
      if (t % (2 * stride) == 0) part[t] += part[t + stride];
      __syncthreads();
    }
  } else if (kStep == 2) {  // the first threads, whose addresses lie in few banks
    for (int stride = 1; stride < kBlockSize; stride *= 2) {
      const int i = 2 * stride * t;
      if (i < kBlockSize) part[i] += part[i + stride];
      __syncthreads();
    }
  } else {  // the first threads, at neighbouring addresses
    for (int stride = kBlockSize / 2; stride > 0; stride /= 2) {
      if (t < stride) part[t] += part[t + stride];
      __syncthreads();
    }
  }
  return part[0];
}

// The sum of x over a warp, from register to register; its first thread has it.
__device__ unsigned sum_of_warp(unsigned x) {
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_down_sync(0xffffffff, x, offset);
  return x;
}

template <int kStep>
__global__ void reduce(const unsigned* input, unsigned* sum, int64_t num_elements) {
  const int64_t first = int64_t{blockIdx.x} * kBlockSize;
  unsigned total = 0;
  for (int64_t i = first; i < num_elements; i += int64_t{gridDim.x} * kBlockSize) {
    const unsigned x = input[i + threadIdx.x];
    total += kStep < 4 ? sum_of_block<kStep>(x) : x;  // from step 4 on each thread adds up its own
  }
  if (kStep == 4) total = sum_of_block<kStep>(total);
  if (kStep == 5) total = sum_of_warp(total);
  if (threadIdx.x % (kStep == 5 ? 32 : kBlockSize) == 0) atomicAdd(sum, total);
}

template <int kStep>
void sum(benchmark::State& state) {
  std::vector<unsigned> values(kPeriod);
  unsigned expected = 0;
  for (unsigned i = 0; i < kPeriod; ++i) expected += values[i] = i * 2654435761u;
  expected *= static_cast<unsigned>(kSize / kPeriod);
  std::vector<char> pattern(kPeriod * sizeof(unsigned));
  std::memcpy(pattern.data(), values.data(), pattern.size());
  const DeviceSets input(1, kSize * sizeof(unsigned), pattern), out(1, sizeof(unsigned));

  // As many blocks as the GPU runs at a time.
  int num_blocks = 0, device = 0, per_multiprocessor = 0;
  CUDAOPS_CHECK(cudaGetDevice(&device));
  CUDAOPS_CHECK(cudaDeviceGetAttribute(&num_blocks, cudaDevAttrMultiProcessorCount, device));
  CUDAOPS_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, reduce<kStep>,
                                                              kBlockSize, 0));
  num_blocks *= per_multiprocessor;
  Case c;
  c.bytes = kSize * sizeof(unsigned);
  c.launch = [&](int, cudaStream_t stream) {
    CUDAOPS_CHECK(cudaMemsetAsync(out[0], 0, sizeof(unsigned), stream));
    reduce<kStep><<<num_blocks, kBlockSize, 0, stream>>>(static_cast<const unsigned*>(input[0]),
                                                         static_cast<unsigned*>(out[0]), kSize);
    CUDAOPS_CHECK_LAUNCH();
  };
  c.verify = [&]() -> std::string {
    const unsigned found = out.to_host<unsigned>(0, 1)[0];
    return found == expected ? "" : "the sum is " + std::to_string(found);
  };
  run(state, c);
}
BENCHMARK(sum<1>)->Apply(timed_on_gpu);
BENCHMARK(sum<2>)->Apply(timed_on_gpu);
BENCHMARK(sum<3>)->Apply(timed_on_gpu);
BENCHMARK(sum<4>)->Apply(timed_on_gpu);
BENCHMARK(sum<5>)->Apply(timed_on_gpu);

CUDAOPS_BENCHMARK_MAIN()
