// SPDX-License-Identifier: Apache-2.0
// square: out[i] = input[i] * input[i]
//
// Shapes   input, out: num_elements elements each, contiguous; num_elements may be 0 or above 2^31.
// Types    float32, float16, bfloat16, the same for both. 16-bit types are multiplied in float and
//          rounded once, to nearest even: bit-equal to torch.square.
// Aliasing out may be input; it must not overlap it in any other way.
#pragma once

#include <cstdint>

#include "../common/dtype.h"
#include "../common/parallel_for.h"

namespace cudaops_examples {

using namespace cudaops_kernels;

// Device pointers, aligned to the element size; fastest where both have the same address modulo 16.
// Enqueues one kernel on `stream` (a cudaStream_t) of the current device and returns. Throws
// std::runtime_error when the launch fails.
void launch_square(const void* input, void* out, int64_t num_elements, DType dtype, void* stream);

// Host pointers, aligned to the element size. Returns when out is written. Does not throw.
void square_cpu(const void* input, void* out, int64_t num_elements, DType dtype,
                ParallelFor parallel_for = serial_for);

}  // namespace cudaops_examples
