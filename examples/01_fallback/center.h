// SPDX-License-Identifier: Apache-2.0
// center: each row of the last dimension minus its mean.
#pragma once

#include <cstdint>

namespace fallback_ops {

// float32, contiguous, num_rows x row_size. Enqueues one kernel on `stream` (a cudaStream_t) of the
// current device. Throws std::runtime_error when the launch fails.
void launch_center(const float* input, float* out, int64_t num_rows, int64_t row_size,
                   void* stream);

}  // namespace fallback_ops
