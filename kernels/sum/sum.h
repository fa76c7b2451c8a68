// SPDX-License-Identifier: Apache-2.0
// sum: out[0] = input[0] + input[1] + … + input[num_elements - 1]
//
// Shapes   input: num_elements elements, contiguous; num_elements may be 0 (the sum is 0) or above
//          2^31. out: one element.
// Types    float32, float16, bfloat16. Sums are kept in float, the last few in double; the result
//          is rounded to the input's type, like torch.sum: a float16 sum above 65504 is infinity.
// Order    fixed by num_elements, dtype and the address of input modulo 16 alone: the same bits on
//          every run, every GPU and for every number of CPU threads (CPU and GPU orders differ).
// Error    |computed - exact| <= 0.5 ulp of the result + 2^-24 * (2 * depth) * sum |input[i]|,
//          where depth, the longest chain of float additions, is below 128.
#pragma once

#include <cstdint>

#include "../common/dtype.h"
#include "../common/parallel_for.h"

namespace cudaops_examples {

using namespace cudaops_kernels;

// Bytes of device memory, aligned to 4, that launch_sum needs as workspace; 0 for small arrays.
int64_t sum_workspace_bytes(int64_t num_elements, DType dtype);

// Device pointers; input aligned to the element size. Enqueues one kernel, or two for arrays above
// 32 KiB, on `stream` (a cudaStream_t) of the current device and returns. The workspace needs no
// initialisation and is free again when the stream has passed this point. Throws std::runtime_error
// when a launch fails.
void launch_sum(const void* input, void* out, int64_t num_elements, DType dtype, void* workspace,
                void* stream);

// Host pointers, input aligned to the element size. Returns when out is written. Throws
// std::bad_alloc when there is no memory for one double in 32768 elements.
void sum_cpu(const void* input, void* out, int64_t num_elements, DType dtype,
             ParallelFor parallel_for = serial_for);

}  // namespace cudaops_examples
