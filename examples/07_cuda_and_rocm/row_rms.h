// SPDX-License-Identifier: Apache-2.0
// row_rms: out[row] = sqrt(mean over the row of input²), in float.
#pragma once

#include <cstdint>

namespace both_ops {

// input: float32 or bfloat16, num_rows x row_size, contiguous; out: num_rows elements. Enqueues one
// kernel on `stream` (a cudaStream_t or hipStream_t) of the current device. Throws
// std::runtime_error when the launch fails.
void launch_row_rms(const void* input, bool is_bfloat16, float* out, int64_t num_rows,
                    int64_t row_size, void* stream);

}  // namespace both_ops
