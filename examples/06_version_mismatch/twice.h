// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace mismatch_ops {

// out[i] = 2 * input[i]. Enqueues one kernel on `stream` (a cudaStream_t) of the current device.
// Throws std::runtime_error when the launch fails.
void launch_twice(const float* input, float* out, int64_t num_elements, void* stream);

}  // namespace mismatch_ops
