// SPDX-License-Identifier: Apache-2.0
// attention_float8 for sm_90a: the kernel of attention_sm90.cuh with products of float8. There all
// operands are K-major: the values' columns are rows, and their keys stand side by side. A kernel
// before (attention_float8_sm90.cu) writes them so.
//
// Order of keys: a thread has weights of keys 8j + 2t and 8j + 2t + 1, with t its lane modulo 4,
// and as operands of a product four neighbours, 4t to 4t + 3. A sum over keys may be in any order:
// in each 16 of them position 4t + e is that of key 8 * (e / 2) + 2t + e % 2, in the values as in
// the weights, and no weight changes its lane.
//
// Sums: what the tensor cores add to has about 14 bits, whatever is below is cut off. Outputs of
// 4096 keys whose values have a mean of twice their spread came out 8 % too small, of 16384 keys 26
// % (H100, 2026-11-26). So a block's outputs are added in float32, and each product begins at zero.
//
// Method: Shah et al., FlashAttention-3, 2024, which transposes in the kernel.
#pragma once

#include "../attention/attention_sm90.cuh"
#include "attention_float8_sm90_shapes.cuh"

namespace cudaops_kernels {

// One shape; ops.cmake names them all. `values`: transposed.
template <typename Shape>
void launch_attention_float8_sm90_of(const AttentionFloat8& call, const void* values,
                                     cudaStream_t stream) {
  const auto describe_values = [&](AttentionSm90Parameters* parameters) {
    encode_map(call.attention, TransposedValues(call.attention, Shape::kKeys).mapped(values),
               Shape::kHeadDimV, &parameters->v);
    parameters->q_descale = call.q_descale;
    parameters->k_descale = call.k_descale;
    parameters->v_descale = call.v_descale;
    parameters->writes_half = call.attention.dtype == DType::kFloat16;
  };
  launch_attention_sm90_shape<Shape>(in_pairs(call.attention), stream, describe_values);
}

}  // namespace cudaops_kernels
