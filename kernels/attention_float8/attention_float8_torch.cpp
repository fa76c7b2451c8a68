// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.attention_float8 and attention_varlen_float8: checks, outputs, the call.

#include <torch/csrc/stable/library.h>

#include <optional>
#include <tuple>
#include <vector>

#include "../attention/torch_attention.h"
#include "../common/torch_device.h"
#include "attention_float8.h"

namespace cudaops_kernels {
namespace {

// One factor for all, one for each of kv_heads, or for each head of each sequence.
AttentionDescale descale_of(const char* op, const char* name, const Tensor& q,
                            const OptionalTensor& descale, const Attention& call) {
  if (!descale.has_value()) return {nullptr, 0, 0};
  check_device(op, "q", q, name, *descale);
  if (descale->scalar_type() != ScalarType::Float) {
    refuse(op, std::string("wanted float32 (Float) for ") + name + ", found " +
                   torch::headeronly::toString(descale->scalar_type()) + ".");
  }
  const auto* const data = static_cast<const float*>(descale->const_data_ptr());
  if (descale->numel() == 1) return {data, 0, 0};
  if (descale->dim() == 1 && descale->size(0) == call.kv_heads) {
    return {data, 0, descale->stride(0)};
  }
  if (descale->dim() == 2 && descale->size(0) == call.batch && descale->size(1) == call.kv_heads) {
    return {data, descale->stride(0), descale->stride(1)};
  }
  refuse(op, std::string("wanted one element or shape [kv_heads] or [batch, kv_heads] = [") +
                 std::to_string(call.batch) + ", " + std::to_string(call.kv_heads) + "] for " +
                 name + ", found shape " + shape_text(*descale) + ".");
}

struct Descales {
  OptionalTensor q, k, v;
};

template <typename Device>
std::tuple<Tensor, Tensor> run(const char* op, const Tensor& q, const Tensor& k, const Tensor& v,
                               const AttentionLengths* lengths, const Descales& descales,
                               const OptionalTensor& bias, const OptionalTensor& alibi_slopes,
                               const OptionalTensor& sinks,
                               const std::optional<ScalarType>& out_dtype,
                               const AttentionOptions& options) {
  const Device device(q);
  const ScalarType dtype = out_dtype.value_or(ScalarType::BFloat16);
  TensorAttention attention = checked_attention(op, q, k, v, lengths, bias, alibi_slopes, sinks,
                                                std::nullopt, options, dtype);
  Attention& own = attention.call;
  const Tensor output = empty_output(q, own.head_dim_v, dtype);
  const std::vector<int64_t> shape = lse_shape(own);
  const Tensor lse = make_empty(q, {shape.data(), shape.size()}, ScalarType::Float);
  own.output = written(output);
  own.lse = lse.mutable_data_ptr();
  const AttentionFloat8 call{own, descale_of(op, "q_descale", q, descales.q, own),
                             descale_of(op, "k_descale", q, descales.k, own),
                             descale_of(op, "v_descale", q, descales.v, own)};
  if (lse.numel() == 0) return {output, lse};
  if constexpr (Device::kIsGpu) {
    const Workspace workspace(q, attention_float8_workspace_bytes(call));
    launch_attention_float8(call, workspace.data(), device.stream());
  } else if constexpr (Device::kHasData) {
    attention_float8_cpu(call, torch_threads);
  }
  return {output, lse};
}

template <typename Device>
std::tuple<Tensor, Tensor> attention_float8(
    const Tensor& q, const Tensor& k, const Tensor& v, const OptionalTensor& q_descale,
    const OptionalTensor& k_descale, const OptionalTensor& v_descale, const OptionalTensor& bias,
    const OptionalTensor& alibi_slopes, const OptionalTensor& sinks,
    std::optional<ScalarType> out_dtype, std::optional<double> scale, bool causal,
    int64_t window_left, int64_t window_right, double softcap) {
  return run<Device>("attention_float8", q, k, v, nullptr, {q_descale, k_descale, v_descale}, bias,
                     alibi_slopes, sinks, out_dtype,
                     {scale, causal, window_left, window_right, softcap, 0.0});
}

template <typename Device>
std::tuple<Tensor, Tensor> attention_varlen_float8(
    const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& cu_seqlens_q,
    const Tensor& cu_seqlens_k, const OptionalTensor& q_descale, const OptionalTensor& k_descale,
    const OptionalTensor& v_descale, const OptionalTensor& alibi_slopes,
    const OptionalTensor& sinks, int64_t max_seqlen_q, int64_t max_seqlen_k,
    std::optional<ScalarType> out_dtype, std::optional<double> scale, bool causal,
    int64_t window_left, int64_t window_right, double softcap) {
  const AttentionLengths lengths{cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k};
  return run<Device>("attention_varlen_float8", q, k, v, &lengths,
                     {q_descale, k_descale, v_descale}, std::nullopt, alibi_slopes, sinks,
                     out_dtype, {scale, causal, window_left, window_right, softcap, 0.0});
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  const std::string scores =
      "ScalarType? out_dtype=None, float? scale=None, bool causal=False, int window_left=-1, "
      "int window_right=-1, float softcap=0) -> (Tensor output, Tensor lse)";
  const std::string attention =
      "attention_float8(Tensor q, Tensor k, Tensor v, Tensor? q_descale=None, "
      "Tensor? k_descale=None, Tensor? v_descale=None, Tensor? bias=None, "
      "Tensor? alibi_slopes=None, Tensor? sinks=None, " +
      scores;
  define(library, attention);
  define_check(library, attention);
  const std::string varlen =
      "attention_varlen_float8(Tensor q, Tensor k, Tensor v, Tensor cu_seqlens_q, "
      "Tensor cu_seqlens_k, Tensor? q_descale, Tensor? k_descale, Tensor? v_descale, "
      "Tensor? alibi_slopes, Tensor? sinks, SymInt max_seqlen_q, SymInt max_seqlen_k, " +
      scores;
  define(library, varlen);
  define_check(library, varlen);
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, Meta, library) {
  library.impl("_check_attention_float8", TORCH_BOX(&attention_float8<OnMeta>));
  library.impl("_check_attention_varlen_float8", TORCH_BOX(&attention_varlen_float8<OnMeta>));
}

CUDAOPS_DEVICE_KERNELS(cudaops, Device, library) {
  implement(library, "attention_float8", TORCH_BOX(&attention_float8<Device>));
  implement(library, "attention_varlen_float8", TORCH_BOX(&attention_varlen_float8<Device>));
}

}  // namespace cudaops_kernels
