// scaled_add: out[i] = a[i] + scale * b[i], float32.
//
// Aliasing  out may be a or b; it must not overlap them in any other way.
#pragma once

#include <cstdint>

namespace my_ops {

// Host pointers.
void scaled_add_on_cpu(const float* a, const float* b, float scale, float* out,
                       int64_t num_elements);

// Device pointers. Enqueues one kernel on `stream` (a cudaStream_t) of the current device. Throws
// std::runtime_error when the launch fails.
void launch_scaled_add(const float* a, const float* b, float scale, float* out,
                       int64_t num_elements, void* stream);

}  // namespace my_ops
