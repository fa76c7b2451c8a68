// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.attention, attention_varlen and their backward passes: checks, outputs, the
// call.

#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <vector>

#include "../common/torch_device.h"
#include "torch_attention.h"

namespace cudaops_kernels {
namespace {

// The kernels for sm_90a read the biases of eight keys at a time, or pairs in float32. Where rows
// don't begin at multiples of that, or keys don't stand side by side, they are copied first.
template <typename Device>
void align_bias(const char* op, const OptionalTensor& bias, TensorAttention& attention) {
  if constexpr (Device::kIsGpu) {
    Attention& call = attention.call;
    if (!bias.has_value() || call.dtype == DType::kFloat32 || call.bias_key_stride == 0) return;
    if (has_aligned_bias(call, call.bias_dtype == DType::kFloat32 ? 2 : 8)) return;
    if (call.head_dim % 8 != 0 || call.head_dim_v % 8 != 0) return;
    if (!has_attention_for_hopper()) return;
    say_copy(op, "bias", *bias);
    Tensor from = *bias;
    int64_t* const call_strides[] = {&call.bias_batch_stride, &call.bias_head_stride,
                                     &call.bias_query_stride, &call.bias_key_stride};
    int64_t sizes[4], strides[4];
    int64_t stride = 1;
    for (int dim = 3; dim >= 0; --dim) {
      const bool is_broadcast = *call_strides[dim] == 0;
      if (is_broadcast) from = torch::stable::narrow(from, dim, 0, 1);
      sizes[dim] = from.size(dim);
      strides[dim] = stride;
      *call_strides[dim] = is_broadcast ? 0 : stride;
      stride *= dim == 3 ? (sizes[dim] + 7) / 8 * 8 : sizes[dim];
    }
    attention.kept.push_back(make_empty_strided(from, 4, sizes, strides, std::nullopt));
    torch::stable::copy_(attention.kept.back(), from);
    call.bias = attention.kept.back().const_data_ptr();
  }
}

template <typename Device, typename Run>
std::tuple<Tensor, Tensor> attention_on(const char* op, const Tensor& q, const Tensor& k,
                                        const Tensor& v, const AttentionLengths* lengths,
                                        const OptionalTensor& bias,
                                        const OptionalTensor& alibi_slopes,
                                        const OptionalTensor& sinks, const OptionalTensor& seed,
                                        const AttentionOptions& options, const Run& run) {
  TensorAttention attention =
      checked_attention(op, q, k, v, lengths, bias, alibi_slopes, sinks, seed, options);
  align_bias<Device>(op, bias, attention);
  Attention& call = attention.call;
  const Tensor output = empty_output(q, call.head_dim_v);
  const std::vector<int64_t> shape = lse_shape(call);
  const Tensor lse = make_empty(q, {shape.data(), shape.size()}, statistics_type(q));
  call.output = written(output);
  call.lse = lse.mutable_data_ptr();
  if (lse.numel() > 0) run(call);
  return {output, lse};
}

// Tensors of the backward pass beside those of the forward pass.
struct AttentionGradients {
  Tensor grad_output;
  OptionalTensor grad_lse;
  Tensor output, lse;
};

// grad_bias is one for each score, unsummed where the bias is broadcast: then of float32.
template <typename Device, typename Run>
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> attention_backward_on(
    const char* op, const AttentionGradients& given, const Tensor& q, const Tensor& k,
    const Tensor& v, const AttentionLengths* lengths, const OptionalTensor& bias,
    const OptionalTensor& alibi_slopes, const OptionalTensor& sinks, const OptionalTensor& seed,
    const AttentionOptions& options, bool needs_grad_bias, const Run& run) {
  using torch::headeronly::ScalarType;
  TensorAttention attention =
      checked_attention(op, q, k, v, lengths, bias, alibi_slopes, sinks, seed, options);
  align_bias<Device>(op, bias, attention);
  AttentionBackward backward{};
  const Tensor wanted_output = empty_output(q, attention.call.head_dim_v);
  check_same(op, "grad_output", given.grad_output, "output", given.output);
  if (!of_one_shape(given.output, wanted_output) || given.output.scalar_type() != q.scalar_type()) {
    refuse(op, "wanted q's dtype and shape " + shape_text(wanted_output) + " for output, found " +
                   torch::headeronly::toString(given.output.scalar_type()) + " and " +
                   shape_text(given.output) + ".");
  }
  check_device(op, "q", q, "output", given.output);
  const std::vector<int64_t> shape = lse_shape(attention.call);
  const Tensor delta = make_empty(q, {shape.data(), shape.size()}, statistics_type(q));
  check_same(op, "lse", given.lse, "q's rows", delta);
  attention.kept.push_back(as_contiguous(op, "lse", given.lse));
  attention.call.lse = const_cast<void*>(attention.kept.back().const_data_ptr());
  if (given.grad_lse.has_value()) {
    check_same(op, "grad_lse", *given.grad_lse, "lse", given.lse);
    attention.kept.push_back(as_contiguous(op, "grad_lse", *given.grad_lse));
    backward.grad_lse = attention.kept.back().const_data_ptr();
  }
  const AttentionTensor output = attention.read(op, "output", given.output);
  attention.call.output = {const_cast<void*>(output.data), output.batch_stride, output.seq_stride,
                           output.head_stride};
  backward.grad_output = attention.read(op, "grad_output", given.grad_output);
  const Tensor grad_q = empty_of_shape(q), grad_k = empty_of_shape(k), grad_v = empty_of_shape(v);
  backward.grad_q = written(grad_q);
  backward.grad_k = written(grad_k);
  backward.grad_v = written(grad_v);
  backward.delta = delta.mutable_data_ptr();
  Tensor grad_bias = make_empty(q, {0}), grad_sinks = make_empty(q, {0});
  const Attention& call = attention.call;
  if (bias.has_value() && needs_grad_bias) {
    const int64_t full[] = {call.batch, call.heads, call.seq_q, call.seq_k};
    bool is_broadcast = false;
    for (int dim = 0; dim < 4; ++dim) is_broadcast = is_broadcast || bias->size(dim) != full[dim];
    const ScalarType type = is_broadcast ? statistics_type(q) : bias->scalar_type();
    grad_bias = make_empty(q, {full, 4}, type);
    backward.grad_bias = grad_bias.mutable_data_ptr();
    if (!call.is_double) backward.grad_bias_dtype = checked_dtype(op, "bias", type);
  }
  if (sinks.has_value()) {
    grad_sinks = make_empty(q, {call.heads}, statistics_type(q));
    backward.grad_sinks = grad_sinks.mutable_data_ptr();
  }
  backward.forward = call;
  // Without queries the other gradients are zeros, without keys q's.
  run(backward);
  return {grad_q, grad_k, grad_v, grad_bias, grad_sinks};
}

template <typename Device>
void run_attention(const Device& device, const Tensor& like, const Attention& call) {
  if constexpr (Device::kIsGpu) {
    const Workspace workspace(like, attention_workspace_bytes(call));
    launch_attention(call, workspace.data(), device.stream());
  } else if constexpr (Device::kHasData) {
    attention_cpu(call, torch_threads);
  }
}
template <typename Device>
void run_attention(const Device& device, const Tensor& like, bool deterministic,
                   AttentionBackward call) {
  call.deterministic = deterministic;
  if constexpr (Device::kIsGpu) {
    const Workspace workspace(like, attention_backward_workspace_bytes(call));
    launch_attention_backward(call, workspace.data(), device.stream());
  } else {
    attention_backward_cpu(call, torch_threads);
  }
}

template <typename Device>
struct AttentionOps {
  static auto runner(const Device& device, const Tensor& like) {
    return [&device, &like](const Attention& call) { run_attention(device, like, call); };
  }
  static auto backward_runner(const Device& device, const Tensor& like, bool deterministic) {
    return [&device, &like, deterministic](const AttentionBackward& call) {
      run_attention(device, like, deterministic, call);
    };
  }

  static std::tuple<Tensor, Tensor> attention(
      const Tensor& q, const Tensor& k, const Tensor& v, const OptionalTensor& bias,
      const OptionalTensor& alibi_slopes, const OptionalTensor& sinks, const OptionalTensor& seed,
      std::optional<double> scale, bool causal, int64_t window_left, int64_t window_right,
      double softcap, bool, double dropout_p) {
    const Device device(q);
    return attention_on<Device>("attention", q, k, v, nullptr, bias, alibi_slopes, sinks, seed,
                                {scale, causal, window_left, window_right, softcap, dropout_p},
                                runner(device, q));
  }

  static std::tuple<Tensor, Tensor> attention_varlen(
      const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& cu_seqlens_q,
      const Tensor& cu_seqlens_k, const OptionalTensor& alibi_slopes, const OptionalTensor& sinks,
      const OptionalTensor& seed, int64_t max_seqlen_q, int64_t max_seqlen_k,
      std::optional<double> scale, bool causal, int64_t window_left, int64_t window_right,
      double softcap, bool, double dropout_p) {
    const Device device(q);
    const AttentionLengths lengths{cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k};
    return attention_on<Device>(
        "attention_varlen", q, k, v, &lengths, std::nullopt, alibi_slopes, sinks, seed,
        {scale, causal, window_left, window_right, softcap, dropout_p}, runner(device, q));
  }

  static std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> attention_backward(
      const Tensor& grad_output, const OptionalTensor& grad_lse, const Tensor& q, const Tensor& k,
      const Tensor& v, const Tensor& output, const Tensor& lse, const OptionalTensor& bias,
      const OptionalTensor& alibi_slopes, const OptionalTensor& sinks, const OptionalTensor& seed,
      std::optional<double> scale, bool causal, int64_t window_left, int64_t window_right,
      double softcap, bool deterministic, double dropout_p, bool needs_grad_bias) {
    const Device device(q);
    return attention_backward_on<Device>(
        "attention_backward", {grad_output, grad_lse, output, lse}, q, k, v, nullptr, bias,
        alibi_slopes, sinks, seed, {scale, causal, window_left, window_right, softcap, dropout_p},
        needs_grad_bias, backward_runner(device, q, deterministic));
  }

  static std::tuple<Tensor, Tensor, Tensor, Tensor> attention_varlen_backward(
      const Tensor& grad_output, const OptionalTensor& grad_lse, const Tensor& q, const Tensor& k,
      const Tensor& v, const Tensor& output, const Tensor& lse, const Tensor& cu_seqlens_q,
      const Tensor& cu_seqlens_k, const OptionalTensor& alibi_slopes, const OptionalTensor& sinks,
      const OptionalTensor& seed, int64_t max_seqlen_q, int64_t max_seqlen_k,
      std::optional<double> scale, bool causal, int64_t window_left, int64_t window_right,
      double softcap, bool deterministic, double dropout_p) {
    const Device device(q);
    const AttentionLengths lengths{cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k};
    const auto [grad_q, grad_k, grad_v, grad_bias, grad_sinks] = attention_backward_on<Device>(
        "attention_varlen_backward", {grad_output, grad_lse, output, lse}, q, k, v, &lengths,
        std::nullopt, alibi_slopes, sinks, seed,
        {scale, causal, window_left, window_right, softcap, dropout_p}, false,
        backward_runner(device, q, deterministic));
    return {grad_q, grad_k, grad_v, grad_sinks};
  }

  static bool has_hopper_kernel(const Tensor& like) {
    const Device device(like);
    if constexpr (Device::kIsGpu) {
      return has_attention_for_hopper();
    } else {
      return false;
    }
  }
};

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  const std::string scores =
      "float? scale=None, bool causal=False, int window_left=-1, int window_right=-1, "
      "float softcap=0, bool deterministic=False, float dropout_p=0";
  const std::string attention =
      "attention(Tensor q, Tensor k, Tensor v, Tensor? bias=None, Tensor? alibi_slopes=None, "
      "Tensor? sinks=None, Tensor? seed=None, " +
      scores + ") -> (Tensor output, Tensor lse)";
  define(library, attention);
  define_check(library, attention);
  define(library,
         "attention_backward(Tensor grad_output, Tensor? grad_lse, Tensor q, Tensor k, Tensor v, "
         "Tensor output, Tensor lse, Tensor? bias=None, Tensor? alibi_slopes=None, "
         "Tensor? sinks=None, Tensor? seed=None, " +
             scores +
             ", bool needs_grad_bias=True) -> (Tensor grad_q, Tensor grad_k, Tensor grad_v, "
             "Tensor grad_bias, Tensor grad_sinks)");
  const std::string varlen =
      "attention_varlen(Tensor q, Tensor k, Tensor v, Tensor cu_seqlens_q, Tensor cu_seqlens_k, "
      "Tensor? alibi_slopes, Tensor? sinks, Tensor? seed, SymInt max_seqlen_q, SymInt "
      "max_seqlen_k, " +
      scores + ") -> (Tensor output, Tensor lse)";
  define(library, varlen);
  define_check(library, varlen);
  define(library,
         "attention_varlen_backward(Tensor grad_output, Tensor? grad_lse, Tensor q, Tensor k, "
         "Tensor v, Tensor output, Tensor lse, Tensor cu_seqlens_q, Tensor cu_seqlens_k, "
         "Tensor? alibi_slopes, Tensor? sinks, Tensor? seed, SymInt max_seqlen_q, SymInt "
         "max_seqlen_k, " +
             scores + ") -> (Tensor grad_q, Tensor grad_k, Tensor grad_v, Tensor grad_sinks)");
  library.def("attention_has_hopper_kernel(Tensor like) -> bool");
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, Meta, library) {
  using Ops = AttentionOps<OnMeta>;
  library.impl("_check_attention", TORCH_BOX(&Ops::attention));
  library.impl("_check_attention_varlen", TORCH_BOX(&Ops::attention_varlen));
}

CUDAOPS_DEVICE_KERNELS(cudaops, Device, library) {
  using Ops = AttentionOps<Device>;
  implement(library, "attention", TORCH_BOX(&Ops::attention));
  implement(library, "attention_backward", TORCH_BOX(&Ops::attention_backward));
  implement(library, "attention_varlen", TORCH_BOX(&Ops::attention_varlen));
  implement(library, "attention_varlen_backward", TORCH_BOX(&Ops::attention_varlen_backward));
  library.impl("attention_has_hopper_kernel", TORCH_BOX(&Ops::has_hopper_kernel));
}

}  // namespace cudaops_kernels
