// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.attention_decode: CUDA kernel.
#include <torch/csrc/stable/library.h>

#include "../common/torch_binding_cuda.h"
#include "attention_decode_torch.h"

namespace cudaops_kernels {
namespace {

std::tuple<Tensor, Tensor> attention_decode_on_cuda(
    const Tensor& q, const Tensor& k_cache, const Tensor& v_cache, const Tensor& block_table,
    const Tensor& seq_lens, double scale, int64_t window_left, double softcap,
    const OptionalTensor& sinks, const OptionalTensor& k_scale, const OptionalTensor& v_scale) {
  const DeviceGuard guard(q.get_device_index());
  return attention_decode_on(q, k_cache, v_cache, block_table, seq_lens, scale, window_left,
                             softcap, sinks, k_scale, v_scale, [&](const AttentionDecode& call) {
                               const Workspace workspace(q, attention_decode_workspace_bytes(call));
                               launch_attention_decode(call, workspace.data(), current_stream(q));
                             });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(cudaops, CUDA, library) {
  implement(library, "attention_decode", TORCH_BOX(&attention_decode_on_cuda));
}

}  // namespace cudaops_kernels
