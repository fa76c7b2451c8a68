// SPDX-License-Identifier: Apache-2.0
// square on the CPU.
#include "../common/half_types.h"
#include "square.h"

namespace cudaops_examples {
namespace {

// Below this a thread costs more than it brings.
constexpr int64_t kGrainSize = 32768;

template <typename T>
void multiply(const void* input, void* out, int64_t num_elements, ParallelFor parallel_for) {
  const T* typed_input = static_cast<const T*>(input);
  T* typed_out = static_cast<T*>(out);
  run_parallel(parallel_for, 0, num_elements, kGrainSize, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float value = to_float(typed_input[i]);
      typed_out[i] = from_float<T>(value * value);
    }
  });
}

}  // namespace

void square_cpu(const void* input, void* out, int64_t num_elements, DType dtype,
                ParallelFor parallel_for) {
  switch (dtype) {
    case DType::kFloat32:
      return multiply<float>(input, out, num_elements, parallel_for);
    case DType::kFloat16:
      return multiply<Float16>(input, out, num_elements, parallel_for);
    case DType::kBFloat16:
      return multiply<BFloat16>(input, out, num_elements, parallel_for);
  }
}

}  // namespace cudaops_examples
