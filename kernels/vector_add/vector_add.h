// SPDX-License-Identifier: Apache-2.0
// vector_add: out[i] = a[i] + b[i]
//
// Shapes   a, b, out: num_elements elements each, contiguous; num_elements may be 0 or above 2^31.
// Types    float32, float16, bfloat16, the same for all three. 16-bit types are added in float and
//          rounded once, to nearest even: bit-equal to torch.add.
// Aliasing out may be a or b; it must not overlap them in any other way.
#pragma once

#include <cstdint>

#include "../common/dtype.h"
#include "../common/parallel_for.h"

namespace cudaops_examples {

using namespace cudaops_kernels;

// Device pointers, aligned to the element size; fastest where all three have the same address
// modulo 16. Enqueues one kernel on `stream` (a cudaStream_t) of the current device and returns.
// Throws std::runtime_error when the launch fails.
void launch_vector_add(const void* a, const void* b, void* out, int64_t num_elements, DType dtype,
                       void* stream);

// Host pointers, aligned to the element size. Returns when out is written. Does not throw.
void vector_add_cpu(const void* a, const void* b, void* out, int64_t num_elements, DType dtype,
                    ParallelFor parallel_for = serial_for);

}  // namespace cudaops_examples
