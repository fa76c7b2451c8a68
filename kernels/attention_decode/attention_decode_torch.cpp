// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.attention_decode: checks, outputs, the call.

#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

#include "../common/torch_device.h"
#include "../common/torch_paged.h"
#include "attention_decode.h"

namespace cudaops_kernels {
namespace {

// One float32 number a query head, on q's device.
OptionalTensor checked_sinks(const char* op, const Tensor& q, const OptionalTensor& sinks) {
  if (!sinks.has_value()) return std::nullopt;
  check_device(op, "q", q, "sinks", *sinks);
  if (sinks->scalar_type() != torch::headeronly::ScalarType::Float) {
    refuse(op, std::string("wanted float32 (Float) for sinks, found ") +
                   torch::headeronly::toString(sinks->scalar_type()) + ".");
  }
  if (sinks->dim() != 1 || sinks->size(0) != q.size(2)) {
    refuse(op, "wanted shape [" + std::to_string(q.size(2)) +
                   "], a number for each head of q, for " + "sinks, found " + shape_text(*sinks) +
                   ".");
  }
  return as_contiguous(op, "sinks", *sinks);
}

void check_lengths(const char* op, AttentionDecode call, const Tensor& lengths,
                   const Tensor& block_table) {
  const OptionalTensor seen_lengths = visible_numbers(op, "seq_lens", lengths);
  const OptionalTensor seen_table = visible_numbers(op, "block_table", block_table);
  if (!seen_lengths.has_value() || !seen_table.has_value()) return;
  call.lengths = seen_lengths->const_data_ptr<int32_t>();
  call.block_table = seen_table->const_data_ptr<int32_t>();
  const int64_t most = call.blocks_per_sequence * call.page_size;
  for (int64_t batch = 0; batch < call.num_batches; ++batch) {
    const int64_t length = call.lengths[batch];
    if (length < 0 || length > most) {
      refuse(op, "wanted lengths from 0 to " + std::to_string(most) + " (" +
                     std::to_string(call.blocks_per_sequence) + " blocks of " +
                     std::to_string(call.page_size) + " keys) for seq_lens, found " +
                     std::to_string(length) + " at index " + std::to_string(batch) + ".");
    }
    const int64_t position = length - call.q_length;
    const int64_t first = call.window_left < 0 || position < call.window_left
                              ? 0
                              : (position - call.window_left) / call.page_size;
    for (int64_t i = first; i * call.page_size < length; ++i) {
      check_block(op, call.block_table[batch * call.block_table_stride + i], call.num_blocks, batch,
                  i);
    }
  }
}

template <typename Device>
std::tuple<Tensor, Tensor> attention_decode(
    const Tensor& q, const Tensor& k_cache, const Tensor& v_cache, const Tensor& block_table,
    const Tensor& seq_lens, double scale, int64_t window_left, double softcap,
    const OptionalTensor& sinks, const OptionalTensor& k_scale, const OptionalTensor& v_scale) {
  const Device device(q);
  const char* const op = "attention_decode";
  AttentionDecode call{};
  call.dtype = checked_dtype(op, "q", q);
  if (q.dim() != 4) {
    refuse(op, "wanted shape [batch, q_len, heads, head_dim] for q, found " + shape_text(q) + ".");
  }
  call.num_batches = q.size(0);
  call.q_length = q.size(1);
  call.num_heads = q.size(2);
  call.head_dim = q.size(3);
  if (call.head_dim > kMostDecodeHeadDim || call.head_dim == 0) {
    refuse(op, "wanted a head_dim from 1 to " + std::to_string(kMostDecodeHeadDim) +
                   " for q, found shape " + shape_text(q) + ".");
  }
  if (call.q_length > kMostDecodeTokens) {
    refuse(op, "wanted at most " + std::to_string(kMostDecodeTokens) + " tokens of a sequence in " +
                   "a call for q, found shape " + shape_text(q) + ".");
  }
  const TensorPages pages = pages_of(op, q, k_cache, v_cache, block_table, k_scale, v_scale);
  call.num_kv_heads = pages.num_kv_heads;
  if (call.num_kv_heads == 0 ? call.num_heads > 0 : call.num_heads % call.num_kv_heads != 0) {
    refuse(op, "wanted [batch, q_len, heads, head_dim] with a multiple of k_cache's " +
                   std::to_string(call.num_kv_heads) + " heads for q, found shape " +
                   shape_text(q) + ".");
  }
  call.num_blocks = pages.num_blocks;
  call.page_size = pages.page_size;
  call.blocks_per_sequence = pages.blocks_per_sequence;
  call.has_float8_cache = pages.is_float8;
  call.k = pages.k;
  call.v = pages.v;
  const Tensor lengths = checked_ints(op, "seq_lens", q, seq_lens);
  if (lengths.dim() != 1 || lengths.size(0) != call.num_batches) {
    refuse(op, "wanted shape [" + std::to_string(call.num_batches) +
                   "], a length for each sequence of q, for seq_lens, found " +
                   shape_text(seq_lens) + ".");
  }
  call.lengths = lengths.const_data_ptr<int32_t>();
  call.block_table = pages.block_table.const_data_ptr<int32_t>();
  call.block_table_stride = pages.blocks_per_sequence;
  const OptionalTensor checked = checked_sinks(op, q, sinks);
  if (checked.has_value()) call.sinks = checked->const_data_ptr<float>();
  call.scale = checked_finite(op, "scale", scale);
  call.softcap = checked_from_zero(op, "softcap", softcap);
  call.window_left = std::min<int64_t>(window_left, INT32_MAX);
  const Tensor rows = q.stride(3) == 1 || q.size(3) == 1 ? q : contiguous_copy(op, "q", q);
  call.q = rows.const_data_ptr();
  call.q_batch_stride = rows.stride(0);
  call.q_token_stride = rows.stride(1);
  call.q_head_stride = rows.stride(2);
  const Tensor output = make_empty(q, q.sizes());
  const Tensor lse = make_empty(q, {call.num_batches, call.num_heads, call.q_length},
                                torch::headeronly::ScalarType::Float);
  call.output = output.mutable_data_ptr();
  call.lse = lse.mutable_data_ptr<float>();
  check_lengths(op, call, lengths, pages.block_table);
  if (q.numel() == 0) return {output, lse};
  if constexpr (Device::kIsGpu) {
    const Workspace workspace(q, attention_decode_workspace_bytes(call));
    launch_attention_decode(call, workspace.data(), device.stream());
  } else if constexpr (Device::kHasData) {
    attention_decode_cpu(call, torch_threads);
  }
  return {output, lse};
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  const std::string schema =
      "attention_decode(Tensor q, Tensor k_cache, Tensor v_cache, Tensor block_table, "
      "Tensor seq_lens, float scale, int window_left=-1, float softcap=0, Tensor? sinks=None, "
      "Tensor? k_scale=None, Tensor? v_scale=None) -> (Tensor output, Tensor lse)";
  define(library, schema);
  define_check(library, schema);
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, Meta, library) {
  library.impl("_check_attention_decode", TORCH_BOX(&attention_decode<OnMeta>));
}

CUDAOPS_DEVICE_KERNELS(cudaops, Device, library) {
  implement(library, "attention_decode", TORCH_BOX(&attention_decode<Device>));
}

}  // namespace cudaops_kernels
