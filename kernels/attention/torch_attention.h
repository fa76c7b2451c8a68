// SPDX-License-Identifier: Apache-2.0
// What the bindings of attention's ops share: checks, and a call made of tensors.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "../common/torch_rows.h"
#include "attention.h"

namespace cudaops_kernels {

using torch::headeronly::ScalarType;

// What is said of the scores beside the tensors.
struct AttentionOptions {
  std::optional<double> scale;
  bool causal;
  int64_t window_left, window_right;
  double softcap;
  double dropout_p;
};

// Sequences of different lengths.
struct AttentionLengths {
  Tensor cu_seqlens_q, cu_seqlens_k;
  int64_t max_seqlen_q, max_seqlen_k;
};

// A call without outputs, and the tensors that it points into.
struct TensorAttention {
  Attention call;
  std::vector<Tensor> kept;

  // Of a tensor [batch, seq, heads, width] or [tokens, heads, width]; where a head's elements lie
  // apart, of a contiguous copy.
  AttentionTensor read(const char* op, const char* name, const Tensor& tensor) {
    const int64_t last = tensor.dim() - 1;
    const bool is_apart = tensor.size(last) > 1 && tensor.stride(last) != 1;
    kept.push_back(is_apart ? contiguous_copy(op, name, tensor) : tensor);
    const Tensor& own = kept.back();
    return {own.const_data_ptr(), last == 3 ? own.stride(0) : 0, own.stride(last - 2),
            own.stride(last - 1)};
  }
};

inline AttentionOutput written(const Tensor& tensor) {
  const int64_t last = tensor.dim() - 1;
  return {tensor.mutable_data_ptr(), last == 3 ? tensor.stride(0) : 0, tensor.stride(last - 2),
          tensor.stride(last - 1)};
}

// Without data: where there is any, it is looked at again.
inline bool is_double(const Tensor& tensor) {
  return !tensor.is_cuda() && tensor.scalar_type() == ScalarType::Double;
}

// Of results: q's, or out_dtype where q is of float8.
inline DType checked_type(const char* op, const Tensor& q,
                          const std::optional<ScalarType>& out_dtype) {
  if (out_dtype.has_value()) {
    if (q.scalar_type() != ScalarType::Float8_e4m3fn) {
      refuse(op, std::string("wanted float8_e4m3fn (Float8_e4m3fn) for q, found ") +
                     torch::headeronly::toString(q.scalar_type()) + ".");
    }
    return checked_dtype(op, "out_dtype", *out_dtype);
  }
  const ScalarType type = q.scalar_type();
  if (type != ScalarType::Float && type != ScalarType::Half && type != ScalarType::BFloat16) {
    refuse(op, std::string("wanted float32 (Float), float16 (Half), bfloat16 (BFloat16) or, on the "
                           "CPU, float64 (Double) for q, found ") +
                   torch::headeronly::toString(type) + ".");
  }
  return checked_dtype(op, "q", type);
}

// What lse and sinks are of.
inline ScalarType statistics_type(const Tensor& q) {
  return is_double(q) ? ScalarType::Double : ScalarType::Float;
}

inline void check_heads(const char* op, const Tensor& q, const Tensor& k, const Tensor& v,
                        bool is_varlen) {
  check_device(op, "q", q, "k", k);
  check_device(op, "q", q, "v", v);
  if (k.scalar_type() != q.scalar_type() || v.scalar_type() != q.scalar_type()) {
    refuse(op, std::string("wanted one dtype for q, k and v, found ") +
                   torch::headeronly::toString(q.scalar_type()) + ", " +
                   torch::headeronly::toString(k.scalar_type()) + " and " +
                   torch::headeronly::toString(v.scalar_type()) + ".");
  }
  const std::string found =
      ", found shapes " + shape_text(q) + ", " + shape_text(k) + " and " + shape_text(v) + ".";
  const int64_t dims = is_varlen ? 3 : 4, last = dims - 1;
  const std::string layout =
      is_varlen ? "[tokens, heads, head_dim]" : "[batch, seq, heads, head_dim]";
  if (q.dim() != dims || k.dim() != dims || v.dim() != dims) {
    refuse(op, "wanted " + layout + " for q, k and v" + found);
  }
  bool same = k.size(last - 2) == v.size(last - 2);
  if (!is_varlen) same = same && q.size(0) == k.size(0) && q.size(0) == v.size(0);
  if (!same) {
    refuse(op, std::string("wanted one ") + (is_varlen ? "" : "batch for q, k and v and one ") +
                   "length for k and v" + found);
  }
  const int64_t heads = q.size(last - 1), kv_heads = k.size(last - 1);
  if (kv_heads == 0 || heads == 0 || v.size(last - 1) != kv_heads || heads % kv_heads != 0) {
    refuse(op, "wanted " + layout +
                   " with as many heads in k as in v, and a multiple of them in q" + found);
  }
  const int64_t head_dim = q.size(last), head_dim_v = v.size(last);
  if (k.size(last) != head_dim || head_dim < 1 || head_dim > Attention::kMaxHeadDim ||
      head_dim_v < 1 || head_dim_v > Attention::kMaxHeadDim) {
    refuse(op, "wanted one head_dim for q and k, and 1 to 256 for q, k and v" + found);
  }
}

inline void check_offsets(const char* op, const char* name, const Tensor& offsets, const char* of,
                          int64_t total, const char* max_name, int64_t max_seqlen) {
  const OptionalTensor numbers = visible_numbers(op, name, offsets);
  if (!numbers.has_value()) return;
  const int32_t* data = numbers->const_data_ptr<int32_t>();
  const int64_t last = offsets.size(0) - 1;
  if (data[0] != 0 || data[last] != total) {
    refuse(op, std::string("wanted ") + name + " from 0 to the " + std::to_string(total) +
                   " tokens of " + of + ", found " + std::to_string(data[0]) + " to " +
                   std::to_string(data[last]) + ".");
  }
  for (int64_t i = 0; i < last; ++i) {
    if (data[i + 1] < data[i]) {
      refuse(op, std::string("wanted ") + name + " that don't decrease, found " +
                     std::to_string(data[i + 1]) + " behind " + std::to_string(data[i]) +
                     " at index " + std::to_string(i + 1) + ".");
    }
    if (data[i + 1] - data[i] > max_seqlen) {
      refuse(op, std::string("wanted ") + max_name + " of the longest sequence, found " +
                     std::to_string(max_seqlen) + " where sequence " + std::to_string(i) + " has " +
                     std::to_string(data[i + 1] - data[i]) + " tokens.");
    }
  }
}

inline void set_lengths(const char* op, const Tensor& q, const Tensor& k,
                        const AttentionLengths& lengths, TensorAttention& attention) {
  const Tensor* const offsets[] = {&lengths.cu_seqlens_q, &lengths.cu_seqlens_k};
  const char* const names[] = {"cu_seqlens_q", "cu_seqlens_k"};
  for (int i = 0; i < 2; ++i) {
    check_device(op, "q", q, names[i], *offsets[i]);
    if (offsets[i]->scalar_type() != ScalarType::Int) {
      refuse(op, std::string("wanted int32 (Int) for ") + names[i] + ", found " +
                     torch::headeronly::toString(offsets[i]->scalar_type()) + ".");
    }
  }
  if (offsets[0]->dim() != 1 || offsets[0]->size(0) < 1 ||
      !of_one_shape(*offsets[0], *offsets[1])) {
    refuse(op, "wanted shape [sequences + 1] for cu_seqlens_q and cu_seqlens_k, found " +
                   shape_text(*offsets[0]) + " and " + shape_text(*offsets[1]) + ".");
  }
  if (lengths.max_seqlen_q < 0 || lengths.max_seqlen_k < 0) {
    refuse(op, "wanted lengths from 0 on for max_seqlen_q and max_seqlen_k, found " +
                   std::to_string(lengths.max_seqlen_q) + " and " +
                   std::to_string(lengths.max_seqlen_k) + ".");
  }
  Attention& call = attention.call;
  const Tensor own_q = as_contiguous(op, names[0], *offsets[0]);
  const Tensor own_k = as_contiguous(op, names[1], *offsets[1]);
  check_offsets(op, names[0], own_q, "q", q.size(0), "max_seqlen_q", lengths.max_seqlen_q);
  check_offsets(op, names[1], own_k, "k", k.size(0), "max_seqlen_k", lengths.max_seqlen_k);
  attention.kept.push_back(own_q);
  attention.kept.push_back(own_k);
  call.batch = own_q.size(0) - 1;
  // No sequence is longer than all together: a bound may be as large as one likes.
  call.seq_q = std::min(lengths.max_seqlen_q, q.size(0));
  call.seq_k = std::min(lengths.max_seqlen_k, k.size(0));
  call.total_q = q.size(0);
  call.total_k = k.size(0);
  call.cu_seqlens_q = static_cast<const int32_t*>(own_q.const_data_ptr());
  call.cu_seqlens_k = static_cast<const int32_t*>(own_k.const_data_ptr());
}

inline void set_bias(const char* op, const Tensor& q, const OptionalTensor& bias,
                     const std::optional<ScalarType>& out_dtype, TensorAttention& attention) {
  if (!bias.has_value()) return;
  Attention& call = attention.call;
  check_device(op, "q", q, "bias", *bias);
  if (bias->scalar_type() != out_dtype.value_or(q.scalar_type()) &&
      (is_double(q) || bias->scalar_type() != ScalarType::Float)) {
    refuse(op, std::string("wanted ") + (out_dtype.has_value() ? "out_dtype" : "q's dtype") +
                   " or float32 (Float) for bias, found " +
                   torch::headeronly::toString(bias->scalar_type()) + ".");
  }
  const int64_t wanted[] = {call.batch, call.heads, call.seq_q, call.seq_k};
  int64_t* const strides[] = {&call.bias_batch_stride, &call.bias_head_stride,
                              &call.bias_query_stride, &call.bias_key_stride};
  bool fits = bias->dim() == 4;
  for (int dim = 0; fits && dim < 4; ++dim) {
    fits = bias->size(dim) == wanted[dim] || bias->size(dim) == 1;
    *strides[dim] = bias->size(dim) == 1 ? 0 : bias->stride(dim);
  }
  if (!fits) {
    refuse(op, "wanted a bias that broadcasts to [batch, heads, seq_q, seq_k] = [" +
                   std::to_string(wanted[0]) + ", " + std::to_string(wanted[1]) + ", " +
                   std::to_string(wanted[2]) + ", " + std::to_string(wanted[3]) +
                   "], found shape " + shape_text(*bias) + ".");
  }
  call.bias = bias->const_data_ptr();
  if (!call.is_double) call.bias_dtype = checked_dtype(op, "bias", *bias);
  attention.kept.push_back(*bias);
}

// One number a head.
inline void set_per_head(const char* op, const Tensor& q, const OptionalTensor& alibi_slopes,
                         const OptionalTensor& sinks, TensorAttention& attention) {
  Attention& call = attention.call;
  if (alibi_slopes.has_value()) {
    check_device(op, "q", q, "alibi_slopes", *alibi_slopes);
    if (alibi_slopes->scalar_type() != ScalarType::Float) {
      refuse(op, std::string("wanted float32 (Float) for alibi_slopes, found ") +
                     torch::headeronly::toString(alibi_slopes->scalar_type()) + ".");
    }
    const int64_t dims = alibi_slopes->dim();
    const bool fits =
        (dims == 1 && alibi_slopes->size(0) == call.heads) ||
        (dims == 2 && alibi_slopes->size(0) == call.batch && alibi_slopes->size(1) == call.heads);
    if (!fits) {
      refuse(op, "wanted shape [heads] or [batch, heads] = [" + std::to_string(call.batch) + ", " +
                     std::to_string(call.heads) + "] for alibi_slopes, found " +
                     shape_text(*alibi_slopes) + ".");
    }
    attention.kept.push_back(as_contiguous(op, "alibi_slopes", *alibi_slopes));
    call.alibi_slopes = static_cast<const float*>(attention.kept.back().const_data_ptr());
    call.alibi_batch_stride = dims == 2 ? call.heads : 0;
  }
  if (!sinks.has_value()) return;
  check_device(op, "q", q, "sinks", *sinks);
  if (sinks->scalar_type() != statistics_type(q)) {
    refuse(op, std::string("wanted float32 (Float; with q of float64 Double) for sinks, found ") +
                   torch::headeronly::toString(sinks->scalar_type()) + ".");
  }
  if (sinks->dim() != 1 || sinks->size(0) != call.heads) {
    refuse(op, "wanted shape [heads] = [" + std::to_string(call.heads) + "] for sinks, found " +
                   shape_text(*sinks) + ".");
  }
  attention.kept.push_back(as_contiguous(op, "sinks", *sinks));
  call.sinks = attention.kept.back().const_data_ptr();
}

inline int64_t checked_window(const char* op, const char* name, int64_t window) {
  if (window < -1) {
    refuse(op, std::string("wanted a number of keys, or -1 for all, for ") + name + ", found " +
                   std::to_string(window) + ".");
  }
  return window;
}

// The seed lies where q does: a launch needn't wait for it, and a CUDA graph reads it anew.
inline void set_dropout(const char* op, const Tensor& q, double p, const OptionalTensor& seed,
                        TensorAttention& attention) {
  if (!(p >= 0 && p <= 1)) {
    refuse(op, "wanted a probability from 0 to 1 for dropout_p, found " + number_text(p) + ".");
  }
  attention.call.dropout_p = p;
  if (p == 0) return;
  if (!seed.has_value()) {
    refuse(op, "wanted a seed with a dropout_p above 0, found None.");
  }
  check_device(op, "q", q, "seed", *seed);
  if (seed->scalar_type() != ScalarType::Long) {
    refuse(op, std::string("wanted int64 (Long) for seed, found ") +
                   torch::headeronly::toString(seed->scalar_type()) + ".");
  }
  if (seed->numel() != 1) {
    refuse(op, "wanted one element for seed, found shape " + shape_text(*seed) + ".");
  }
  attention.call.seed = static_cast<const int64_t*>(seed->const_data_ptr());
  attention.kept.push_back(*seed);
}

// out_dtype: of float8 alone.
inline TensorAttention checked_attention(
    const char* op, const Tensor& q, const Tensor& k, const Tensor& v,
    const AttentionLengths* lengths, const OptionalTensor& bias, const OptionalTensor& alibi_slopes,
    const OptionalTensor& sinks, const OptionalTensor& seed, const AttentionOptions& options,
    const std::optional<ScalarType>& out_dtype = std::nullopt) {
  TensorAttention attention{};
  Attention& call = attention.call;
  check_is_tensor(op, "q", q);
  call.is_double = is_double(q);
  if (!call.is_double) call.dtype = checked_type(op, q, out_dtype);
  check_heads(op, q, k, v, lengths != nullptr);
  const int64_t last = q.dim() - 1;
  call.heads = q.size(last - 1);
  call.kv_heads = k.size(last - 1);
  call.head_dim = q.size(last);
  call.head_dim_v = v.size(last);
  if (lengths == nullptr) {
    call.batch = q.size(0);
    call.seq_q = q.size(1);
    call.seq_k = k.size(1);
  } else {
    set_lengths(op, q, k, *lengths, attention);
  }
  set_bias(op, q, bias, out_dtype, attention);
  set_per_head(op, q, alibi_slopes, sinks, attention);
  call.scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(call.head_dim)));
  call.softcap = options.softcap;
  checked_finite(op, "scale", call.scale);
  checked_from_zero(op, "softcap", call.softcap);
  call.window_left = checked_window(op, "window_left", options.window_left);
  call.window_right = checked_window(op, "window_right", options.window_right);
  if (options.causal) call.window_right = 0;
  set_dropout(op, q, options.dropout_p, seed, attention);
  call.q = attention.read(op, "q", q);
  call.k = attention.read(op, "k", k);
  call.v = attention.read(op, "v", v);
  return attention;
}

// In the order of q's memory, as torch's own: of a transposed [batch, heads, seq, head_dim] the
// output is one, too, and of [seq, batch, heads, head_dim]. What is broadcast has no place there.
inline Tensor empty_output(const Tensor& q, int64_t width,
                           const std::optional<ScalarType>& dtype = std::nullopt) {
  if (q.dim() == 3) return make_empty(q, {q.size(0), q.size(1), width}, dtype);
  int order[] = {0, 1, 2};
  if (std::min({q.stride(0), q.stride(1), q.stride(2)}) > 0) {
    std::stable_sort(order, order + 3, [&](int a, int b) { return q.stride(a) > q.stride(b); });
  } else if (q.stride(2) > q.stride(1)) {
    std::swap(order[1], order[2]);
  }
  const int64_t sizes[] = {q.size(0), q.size(1), q.size(2), width};
  int64_t strides[] = {0, 0, 0, 1}, step = std::max<int64_t>(width, 1);
  for (int i = 2; i >= 0; --i) {
    strides[order[i]] = step;
    step *= std::max<int64_t>(sizes[order[i]], 1);
  }
  return make_empty_strided(q, 4, sizes, strides, dtype);
}

inline std::vector<int64_t> lse_shape(const Attention& call) {
  if (call.cu_seqlens_q != nullptr) return {call.heads, call.total_q};
  return {call.batch, call.heads, call.seq_q};
}

}  // namespace cudaops_kernels
