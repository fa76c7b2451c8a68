// SPDX-License-Identifier: Apache-2.0
// add: out[i] = a[i] + b[i], float32, contiguous.
#pragma once

#include <cstdint>

namespace my_ops {

// Enqueues one kernel on `stream` (a cudaStream_t) of the current device. Throws std::runtime_error
// when the launch fails.
void launch_add(const float* a, const float* b, float* out, int64_t num_elements, void* stream);

}  // namespace my_ops
