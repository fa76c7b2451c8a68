// SPDX-License-Identifier: Apache-2.0
// vector_add on the CPU.
#include "../common/half_types.h"
#include "vector_add.h"

namespace cudaops_examples {
namespace {

// Below this a thread costs more than it brings.
constexpr int64_t kGrainSize = 32768;

template <typename T>
void add(const void* a, const void* b, void* out, int64_t num_elements, ParallelFor parallel_for) {
  const T* typed_a = static_cast<const T*>(a);
  const T* typed_b = static_cast<const T*>(b);
  T* typed_out = static_cast<T*>(out);
  run_parallel(parallel_for, 0, num_elements, kGrainSize, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      typed_out[i] = from_float<T>(to_float(typed_a[i]) + to_float(typed_b[i]));
    }
  });
}

}  // namespace

void vector_add_cpu(const void* a, const void* b, void* out, int64_t num_elements, DType dtype,
                    ParallelFor parallel_for) {
  switch (dtype) {
    case DType::kFloat32:
      return add<float>(a, b, out, num_elements, parallel_for);
    case DType::kFloat16:
      return add<Float16>(a, b, out, num_elements, parallel_for);
    case DType::kBFloat16:
      return add<BFloat16>(a, b, out, num_elements, parallel_for);
  }
}

}  // namespace cudaops_examples
