// SPDX-License-Identifier: Apache-2.0
// attention_float8 on the CPU: attention's kernel of float32, of numbers that are converted before.
#include <vector>

#include "../common/half_types.h"
#include "../common/quantized.h"
#include "attention_float8_tensors.h"

namespace cudaops_kernels {
namespace {

std::vector<float> numbers_of(const Float8Tensor& from, ParallelFor parallel_for) {
  std::vector<float> numbers(static_cast<size_t>(from.num_elements()));
  for (int64_t index = 0; index < from.batch; ++index) {
    float* const first = numbers.data() + from.first_token(index) * from.heads * from.width;
    run_parallel(parallel_for, 0, from.length(index) * from.heads, 64,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t head = i % from.heads;
                     const uint8_t* const row = from.row(index, i / from.heads, head);
                     const float factor = from.factor(index, head);
                     float* const to = first + i * from.width;
                     for (int64_t n = 0; n < from.width; ++n) {
                       to[n] = float8_to_float(row[n]) * factor;
                     }
                   }
                 });
  }
  return numbers;
}

template <typename T>
void round_row(const float* numbers, int64_t width, void* to, int64_t offset) {
  T* const out = static_cast<T*>(to) + offset;
  for (int64_t n = 0; n < width; ++n) out[n] = from_float<T>(numbers[n]);
}

}  // namespace

void attention_float8_cpu(const AttentionFloat8& call, ParallelFor parallel_for) {
  const Float8Tensors from(call);
  const std::vector<float> q = numbers_of(from.q, parallel_for);
  const std::vector<float> k = numbers_of(from.k, parallel_for);
  const std::vector<float> v = numbers_of(from.v, parallel_for);
  Attention wide = attention_of_copies(call, q.data(), k.data(), v.data());
  wide.dtype = DType::kFloat32;
  const DType dtype = call.attention.dtype;
  if (dtype == DType::kFloat32) return attention_cpu(wide, parallel_for);
  // In the order of q's copy, but with v's width.
  const int64_t heads = wide.heads, width = wide.head_dim_v;
  std::vector<float> output(static_cast<size_t>(from.q.num_tokens() * heads * width));
  wide.output = {output.data(), wide.seq_q * heads * width, heads * width, width};
  attention_cpu(wide, parallel_for);
  const AttentionOutput& to = call.attention.output;
  for (int64_t index = 0; index < from.q.batch; ++index) {
    const float* const first = output.data() + from.q.first_token(index) * heads * width;
    const int64_t offset = AttentionSequence(call.attention, index).output;
    run_parallel(
        parallel_for, 0, from.q.length(index) * heads, 64, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t at = offset + i / heads * to.seq_stride + i % heads * to.head_stride;
            (dtype == DType::kFloat16 ? round_row<Float16>
                                      : round_row<BFloat16>)(first + i * width, width, to.data, at);
          }
        });
  }
}

}  // namespace cudaops_kernels
