// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.rope and its relatives: schemas and kernels of both devices.
#include <torch/csrc/stable/library.h>

#include <optional>
#include <tuple>

#include "../common/torch_device.h"
#include "../common/torch_memory.h"
#include "../common/torch_rows.h"
#include "rope.h"

namespace cudaops_kernels {
namespace {

// Heads as the launcher takes them. Where the dimensions before [seq, heads, head_dim] have no one
// stride, or a head's elements lie apart, `tensor` is a contiguous copy.
struct TensorHeads {
  Tensor tensor;
  RopeStrides strides;
};

// Of any tensor [..., seq, heads, head_dim] of some elements; false where strides don't suit.
bool find_strides(const Tensor& tensor, RopeStrides* strides) {
  const int64_t last = tensor.dim() - 1;
  if (tensor.size(last) > 1 && tensor.stride(last) != 1) return false;
  *strides = {0, tensor.stride(last - 2), tensor.stride(last - 1)};
  int64_t batches_within = 1;
  for (int64_t dim = last - 3; dim >= 0; --dim) {
    if (tensor.size(dim) == 1) continue;
    if (batches_within == 1) {
      strides->batch = tensor.stride(dim);
    } else if (tensor.stride(dim) != strides->batch * batches_within) {
      return false;
    }
    batches_within *= tensor.size(dim);
  }
  return true;
}

RopeStrides contiguous_strides(const Tensor& tensor) {
  const int64_t last = tensor.dim() - 1;
  const int64_t head = tensor.size(last), token = head * tensor.size(last - 1);
  return {token * tensor.size(last - 2), token, head};
}

TensorHeads heads_of(const char* op, const char* name, const Tensor& tensor) {
  RopeStrides strides{};
  if (tensor.numel() == 0) return {tensor, strides};
  if (find_strides(tensor, &strides)) return {tensor, strides};
  return {contiguous_copy(op, name, tensor), contiguous_strides(tensor)};
}

// What refusals call the op and its arguments.
struct RopeNames {
  const char* op;
  const char* q;
  const char* k;
};

std::string token_shape_text(const Tensor& q) {
  std::string text = "[";
  for (int64_t dim = 0; dim + 2 < q.dim(); ++dim) {
    if (dim > 0) text += ", ";
    text += std::to_string(q.size(dim));
  }
  return text + "]";
}

void check_heads(const RopeNames& names, const Tensor& q, const Tensor& k) {
  check_device(names.op, names.q, q, names.k, k);
  const std::string for_both = std::string(" for ") + names.q + " and " + names.k + ", found ";
  if (q.scalar_type() != k.scalar_type()) {
    refuse(names.op, "wanted one dtype" + for_both + torch::headeronly::toString(q.scalar_type()) +
                         " and " + torch::headeronly::toString(k.scalar_type()) + ".");
  }
  bool same = q.dim() >= 3 && q.dim() == k.dim();
  for (int64_t dim = 0; same && dim < q.dim(); ++dim) {
    same = dim == q.dim() - 2 || q.size(dim) == k.size(dim);
  }
  if (!same) {
    refuse(names.op, "wanted shapes [..., seq, heads, head_dim] that differ in heads only" +
                         for_both + shape_text(q) + " and " + shape_text(k) + ".");
  }
}

void check_tables(const RopeNames& names, const Tensor& q, const Tensor& cos, const Tensor& sin) {
  check_device(names.op, names.q, q, "cos", cos);
  check_same(names.op, "cos", cos, "sin", sin);
  if (cos.scalar_type() != q.scalar_type() &&
      cos.scalar_type() != torch::headeronly::ScalarType::Float) {
    refuse(names.op, std::string("wanted ") + names.q + "'s dtype or float32 (Float) for cos, " +
                         "found " + torch::headeronly::toString(cos.scalar_type()) + ".");
  }
  const int64_t head_dim = q.size(q.dim() - 1);
  if (cos.dim() != 2 || cos.size(1) > head_dim / 2) {
    refuse(names.op, "wanted shape [positions, rotary_dim / 2] with rotary_dim at most " +
                         std::to_string(head_dim) + " for cos, found " + shape_text(cos) + ".");
  }
}

// Contiguous, if there are any.
OptionalTensor checked_positions(const RopeNames& names, const Tensor& q, const Tensor& cos,
                                 const OptionalTensor& positions) {
  using torch::headeronly::ScalarType;
  if (!positions.has_value()) {
    const int64_t seq_length = q.size(q.dim() - 3);
    if (q.numel() > 0 && cos.size(0) < seq_length) {
      refuse(names.op, "wanted a row of cos for each of " + std::to_string(seq_length) +
                           " positions, found shape " + shape_text(cos) + ".");
    }
    return std::nullopt;
  }
  check_device(names.op, names.q, q, "positions", *positions);
  const ScalarType type = positions->scalar_type();
  if (type != ScalarType::Int && type != ScalarType::Long) {
    refuse(names.op, std::string("wanted int32 (Int) or int64 (Long) for positions, found ") +
                         torch::headeronly::toString(type) + ".");
  }
  const std::string wanted = token_shape_text(q), found = shape_text(*positions);
  if (wanted != found) {
    refuse(names.op, "wanted shape " + wanted + " for positions, found " + found + ".");
  }
  if (positions->numel() > 0 && cos.size(0) == 0) {
    refuse(names.op, "wanted at least one row for cos, found shape " + shape_text(cos) + ".");
  }
  return as_contiguous(names.op, "positions", *positions);
}

// On the CPU they can be looked at.
void check_position_values(const RopeNames& names, const Rope& call) {
  if (call.positions == nullptr) return;
  for (int64_t i = 0; i < call.num_batches * call.seq_length; ++i) {
    const int64_t position = position_at(call, i);
    if (position >= 0 && position < call.num_positions) continue;
    refuse(names.op, "wanted positions from 0 to " + std::to_string(call.num_positions - 1) +
                         " (cos has " + std::to_string(call.num_positions) + " rows), found " +
                         std::to_string(position) + " at index " + std::to_string(i) + ".");
  }
}

// A call without outputs, and the tensors that it points into.
struct TensorRope {
  TensorHeads q, k;
  Tensor cos, sin;
  OptionalTensor positions;
  Rope call;
};

TensorRope checked_rope(const RopeNames& names, const Tensor& q, const Tensor& k, const Tensor& cos,
                        const Tensor& sin, const OptionalTensor& positions, bool interleaved) {
  Rope call{};
  call.dtype = checked_dtype(names.op, names.q, q);
  check_heads(names, q, k);
  check_tables(names, q, cos, sin);
  const OptionalTensor checked = checked_positions(names, q, cos, positions);
  const int64_t last = q.dim() - 1;
  call.table_dtype = checked_dtype(names.op, "cos", cos);
  call.num_batches = 1;
  for (int64_t dim = 0; dim < last - 2; ++dim) call.num_batches *= q.size(dim);
  call.seq_length = q.size(last - 2);
  call.head_dim = q.size(last);
  call.rotary_dim = 2 * cos.size(1);
  call.num_positions = cos.size(0);
  call.interleaved = interleaved;
  call.q.num_heads = q.size(last - 1);
  call.k.num_heads = k.size(last - 1);
  if (checked.has_value()) {
    call.positions = checked->const_data_ptr();
    call.position_type = checked->scalar_type() == torch::headeronly::ScalarType::Int
                             ? PositionType::kInt32
                             : PositionType::kInt64;
    if (q.is_cpu()) check_position_values(names, call);
  }
  const char* const op = names.op;
  TensorRope rope{heads_of(op, names.q, q),
                  heads_of(op, names.k, k),
                  as_contiguous(op, "cos", cos),
                  as_contiguous(op, "sin", sin),
                  checked,
                  call};
  rope.call.q.input = rope.q.tensor.const_data_ptr();
  rope.call.k.input = rope.k.tensor.const_data_ptr();
  rope.call.q.input_strides = rope.q.strides;
  rope.call.k.input_strides = rope.k.strides;
  rope.call.cos = rope.cos.const_data_ptr();
  rope.call.sin = rope.sin.const_data_ptr();
  return rope;
}

template <typename Device>
void run_rope(const Device& device, const Rope& call) {
  if constexpr (Device::kIsGpu) {
    launch_rope(call, device.stream());
  } else {
    rope_cpu(call, torch_threads);
  }
}

template <typename Device>
std::tuple<Tensor, Tensor> rope_on(const RopeNames& names, const Tensor& q, const Tensor& k,
                                   const Tensor& cos, const Tensor& sin,
                                   const OptionalTensor& positions, bool interleaved,
                                   bool backward) {
  const Device device(q, names.op);
  TensorRope rope = checked_rope(names, q, k, cos, sin, positions, interleaved);
  const Tensor q_out = empty_of_shape(q), k_out = empty_of_shape(k);
  rope.call.backward = backward;
  rope.call.q.output = q_out.mutable_data_ptr();
  rope.call.k.output = k_out.mutable_data_ptr();
  rope.call.q.output_strides = contiguous_strides(q);
  rope.call.k.output_strides = contiguous_strides(k);
  if (q.numel() + k.numel() > 0) run_rope(device, rope.call);
  return {q_out, k_out};
}

template <typename Device>
std::tuple<Tensor, Tensor> rope_forward(const Tensor& q, const Tensor& k, const Tensor& cos,
                                        const Tensor& sin, const OptionalTensor& positions,
                                        bool interleaved) {
  return rope_on<Device>({"rope", "q", "k"}, q, k, cos, sin, positions, interleaved, false);
}

template <typename Device>
std::tuple<Tensor, Tensor> rope_backward(const Tensor& grad_q, const Tensor& grad_k,
                                         const Tensor& cos, const Tensor& sin,
                                         const OptionalTensor& positions, bool interleaved) {
  return rope_on<Device>({"rope_backward", "grad_q", "grad_k"}, grad_q, grad_k, cos, sin, positions,
                         interleaved, true);
}

template <typename Device>
void rope_in_place(Tensor q, Tensor k, const Tensor& cos, const Tensor& sin,
                   const OptionalTensor& positions, bool interleaved) {
  const Device device(q);
  const RopeNames names{"rope_", "q", "k"};
  TensorRope rope = checked_rope(names, q, k, cos, sin, positions, interleaved);
  check_writable(names.op, "q", q);
  check_writable(names.op, "k", k);
  check_apart(names.op, "q", q, "k", k);
  const auto check_read = [&](const char* name, const Tensor& tensor) {
    check_apart(names.op, "q", q, name, tensor);
    check_apart(names.op, "k", k, name, tensor);
  };
  check_read("cos", cos);
  check_read("sin", sin);
  if (positions.has_value()) check_read("positions", *positions);
  rope.call.q.output = rope.q.tensor.mutable_data_ptr();
  rope.call.k.output = rope.k.tensor.mutable_data_ptr();
  rope.call.q.output_strides = rope.q.strides;
  rope.call.k.output_strides = rope.k.strides;
  if (q.numel() + k.numel() > 0) run_rope(device, rope.call);
  // Heads that had to be copied go back to where they came from.
  write_back(q, rope.q.tensor);
  write_back(k, rope.k.tensor);
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library,
         "rope(Tensor q, Tensor k, Tensor cos, Tensor sin, Tensor? positions, "
         "bool interleaved=False) -> (Tensor q_out, Tensor k_out)");
  library.def(
      "rope_(Tensor(a!) q, Tensor(b!) k, Tensor cos, Tensor sin, Tensor? positions, "
      "bool interleaved=False) -> ()");
  define(library,
         "rope_backward(Tensor grad_q, Tensor grad_k, Tensor cos, Tensor sin, Tensor? positions, "
         "bool interleaved=False) -> (Tensor grad_q_in, Tensor grad_k_in)");
}

CUDAOPS_DEVICE_KERNELS(cudaops, Device, library) {
  implement(library, "rope", TORCH_BOX(&rope_forward<Device>));
  library.impl("rope_", TORCH_BOX(&rope_in_place<Device>));
  implement(library, "rope_backward", TORCH_BOX(&rope_backward<Device>));
}

}  // namespace cudaops_kernels
