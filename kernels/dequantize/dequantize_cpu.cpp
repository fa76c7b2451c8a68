// SPDX-License-Identifier: Apache-2.0
// dequantize on the CPU.
#include "../common/cpu_quantized.h"
#include "dequantize.h"

namespace cudaops_kernels {
namespace {

struct Run {
  template <typename T>
  static void run(const Dequantize& call, ParallelFor parallel_for) {
    for_block_parts(
        parallel_for, call.grid, call.strides,
        [&](int64_t at, int64_t row, int64_t first, int64_t last) {
          const uint8_t* input = call.input.row<uint8_t>(row);
          T* output = call.output.row<T>(row);
          const float scale = call.scale[at];
          const int32_t zero_point = call.zero_point == nullptr ? 0 : call.zero_point[at];
          for (int64_t i = first; i < last; ++i) {
            output[i] = from_float<T>(number_of(input[i], call.type, zero_point, scale));
          }
        });
  }
};

}  // namespace

void dequantize_cpu(const Dequantize& call, ParallelFor parallel_for) {
  if (call.grid.num_blocks() == 0) return;
  for_host_type<Run>(call.dtype, call, parallel_for);
}

}  // namespace cudaops_kernels
