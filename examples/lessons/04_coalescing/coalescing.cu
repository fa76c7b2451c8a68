// SPDX-License-Identifier: Apache-2.0
// Neighbouring threads read floats that are `stride` floats apart. The array is the same for each
// stride, so a larger stride reads fewer of its floats. The time per float shows what the others
// cost.
#include <cudaops/benchmark.h>
#include <cudaops/check.h>

#include <cstring>

using namespace cudaops::benchmark;

constexpr int64_t kArraySize = 1 << 28;  // floats: 1 GiB, more than a cache holds
constexpr int kBlockSize = 256;
constexpr int64_t kPattern = 1021;  // a prime: no stride meets the same value each time

__global__ void gather(const float* from, float* to, int64_t num_elements, int64_t stride) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < num_elements) to[i] = from[i * stride];
}

void gather_with_stride(benchmark::State& state) {
  const int64_t stride = state.range(0), num_elements = kArraySize / stride;
  std::vector<float> values(kPattern);
  for (int64_t i = 0; i < kPattern; ++i) values[i] = static_cast<float>(i);
  std::vector<char> pattern(kPattern * sizeof(float));
  std::memcpy(pattern.data(), values.data(), pattern.size());
  const DeviceSets from(1, kArraySize * sizeof(float), pattern);
  const DeviceSets to(1, num_elements * sizeof(float));

  Case c;
  c.bytes = 2.0 * num_elements * sizeof(float);  // what the kernel asked for
  c.launch = [&](int, cudaStream_t stream) {
    gather<<<(num_elements + kBlockSize - 1) / kBlockSize, kBlockSize, 0, stream>>>(
        static_cast<const float*>(from[0]), static_cast<float*>(to[0]), num_elements, stride);
    CUDAOPS_CHECK_LAUNCH();
  };
  c.verify = [&]() -> std::string {
    const std::vector<float> found = to.to_host<float>(0, num_elements);
    for (int64_t i = 0; i < num_elements; ++i) {
      if (found[i] != values[i * stride % kPattern]) return "element " + std::to_string(i);
    }
    return "";
  };
  run(state, c);
}
BENCHMARK(gather_with_stride)->Apply(timed_on_gpu)->RangeMultiplier(2)->Range(1, 32);

CUDAOPS_BENCHMARK_MAIN()
