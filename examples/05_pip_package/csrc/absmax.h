// SPDX-License-Identifier: Apache-2.0
// absmax: the largest magnitude of each row of the last dimension, the scale of row-wise int8.
#pragma once

#include <cstdint>

namespace rowwise_ops {

// input: float32, contiguous, num_rows x row_size with row_size > 0; out: num_rows. A NaN in a row
// gives NaN. Enqueues one kernel on `stream` (a cudaStream_t) of the current device. Throws
// std::runtime_error when the launch fails.
void launch_absmax(const float* input, float* out, int64_t num_rows, int64_t row_size,
                   void* stream);

}  // namespace rowwise_ops
