// SPDX-License-Identifier: Apache-2.0
// sum on the CPU: chunks of fixed size, so that the order of additions does not depend on the
// number of threads.
#include <algorithm>
#include <vector>

#include "../common/half_types.h"
#include "sum.h"

namespace cudaops_examples {
namespace {

constexpr int64_t kChunk = 32768;
constexpr int64_t kBlock = 1024;
constexpr int kLanes = 16;

// Lanes are independent chains of additions: the compiler may keep them in one vector register
// without reordering anything, and each stays short (64 additions).
template <typename T>
float block_sum(const T* input, int64_t num_elements) {
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= num_elements; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += to_float(input[i + lane]);
  }
  for (int lane = 0; i < num_elements; ++i, ++lane) lanes[lane] += to_float(input[i]);
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  }
  return lanes[0];
}

template <typename T>
void sum(const void* input, void* out, int64_t num_elements, ParallelFor parallel_for) {
  const T* typed_input = static_cast<const T*>(input);
  const int64_t num_chunks = (num_elements + kChunk - 1) / kChunk;
  std::vector<double> chunk_sums(static_cast<size_t>(num_chunks));
  double* sums = chunk_sums.data();
  run_parallel(parallel_for, 0, num_chunks, 1, [=](int64_t begin, int64_t end) {
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      const int64_t last = std::min((chunk + 1) * kChunk, num_elements);
      double chunk_sum = 0;
      for (int64_t i = chunk * kChunk; i < last; i += kBlock) {
        chunk_sum += block_sum(typed_input + i, std::min(kBlock, last - i));
      }
      sums[chunk] = chunk_sum;
    }
  });
  double total = 0;
  for (const double chunk_sum : chunk_sums) total += chunk_sum;
  *static_cast<T*>(out) = from_float<T>(static_cast<float>(total));
}

}  // namespace

void sum_cpu(const void* input, void* out, int64_t num_elements, DType dtype,
             ParallelFor parallel_for) {
  switch (dtype) {
    case DType::kFloat32:
      return sum<float>(input, out, num_elements, parallel_for);
    case DType::kFloat16:
      return sum<Float16>(input, out, num_elements, parallel_for);
    case DType::kBFloat16:
      return sum<BFloat16>(input, out, num_elements, parallel_for);
  }
}

}  // namespace cudaops_examples
