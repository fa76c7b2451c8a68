// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.attention_decode: schema and CPU kernel.
#include "attention_decode_torch.h"

namespace cudaops_kernels {
namespace {

std::tuple<Tensor, Tensor> attention_decode_on_cpu(
    const Tensor& q, const Tensor& k_cache, const Tensor& v_cache, const Tensor& block_table,
    const Tensor& seq_lens, double scale, int64_t window_left, double softcap,
    const OptionalTensor& sinks, const OptionalTensor& k_scale, const OptionalTensor& v_scale) {
  return attention_decode_on(
      q, k_cache, v_cache, block_table, seq_lens, scale, window_left, softcap, sinks, k_scale,
      v_scale, [](const AttentionDecode& call) { attention_decode_cpu(call, torch_threads); });
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library,
         "attention_decode(Tensor q, Tensor k_cache, Tensor v_cache, Tensor block_table, "
         "Tensor seq_lens, float scale, int window_left=-1, float softcap=0, Tensor? sinks=None, "
         "Tensor? k_scale=None, Tensor? v_scale=None) -> (Tensor output, Tensor lse)");
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, CPU, library) {
  implement(library, "attention_decode", TORCH_BOX(&attention_decode_on_cpu));
}

}  // namespace cudaops_kernels
