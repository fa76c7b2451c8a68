// SPDX-License-Identifier: Apache-2.0
// silu: out[i] = x / (1 + exp(-x)) with x = input[i]
//
// Types    float32 or bfloat16, computed in float32 and rounded once.
// Aliasing out may be input; it must not overlap it in any other way.
#pragma once

#include <cstdint>

namespace silu {

enum class DType { kFloat32, kBFloat16 };

// Device pointers, aligned to the element size. Enqueues one kernel on `stream` (a cudaStream_t) of
// the current device. Throws std::runtime_error when the launch fails.
void launch(const void* input, void* out, int64_t num_elements, DType dtype, void* stream);

// Host pointers.
void run_on_cpu(const void* input, void* out, int64_t num_elements, DType dtype);

}  // namespace silu
