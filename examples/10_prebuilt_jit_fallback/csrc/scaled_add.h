// SPDX-License-Identifier: Apache-2.0
// out[i] = a[i] + scale * b[i], on a CUDA stream; float32, contiguous, no bounds on num_elements.
#pragma once

#include <cstdint>

namespace scaled_ops {

void launch_scaled_add(const float* a, const float* b, double scale, float* out,
                       int64_t num_elements, void* stream);

}  // namespace scaled_ops
