// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.rope_append_kv_: checks, outputs, the call.
#include <torch/csrc/stable/library.h>

#include <optional>
#include <string>

#include "../common/torch_device.h"
#include "../common/torch_memory.h"
#include "../common/torch_paged.h"
#include "rope_append_kv_formula.h"

namespace cudaops_kernels {
namespace {

constexpr const char* kOp = "rope_append_kv_";

TokenHeads heads_of(const char* name, Tensor& tensor) {
  if (tensor.size(3) > 1 && tensor.stride(3) != 1) tensor = contiguous_copy(kOp, name, tensor);
  return {tensor.const_data_ptr(), {tensor.stride(0), tensor.stride(1), tensor.stride(2)}};
}

WrittenCache written(const PagedCache& cache) {
  return {const_cast<void*>(cache.data),
          cache.block_stride,
          cache.token_stride,
          cache.head_stride,
          cache.scale,
          cache.scale_stride};
}

void check_tokens(const Tensor& q, const Tensor& k, const Tensor& v) {
  check_same(kOp, "k", k, "v", v);
  check_device(kOp, "q", q, "k", k);
  const std::string found =
      ", found " + shape_text(q) + ", " + shape_text(k) + " and " + shape_text(v) + ".";
  bool fits = q.dim() == 4 && k.dim() == 4;
  for (const int64_t dim : {0, 1, 3}) fits = fits && q.size(dim) == k.size(dim);
  if (!fits) {
    refuse(kOp,
           "wanted shapes [batch, seq, heads, head_dim] that differ in heads only for q, k and v" +
               found);
  }
  if (q.scalar_type() != k.scalar_type()) {
    refuse(kOp, std::string("wanted one dtype for q, k and v, found ") +
                    torch::headeronly::toString(q.scalar_type()) + " and " +
                    torch::headeronly::toString(k.scalar_type()) + ".");
  }
}

void check_rotary(const Tensor& q, const Tensor& cos, const Tensor& sin) {
  check_device(kOp, "q", q, "cos", cos);
  check_same(kOp, "cos", cos, "sin", sin);
  if (cos.scalar_type() != q.scalar_type() &&
      cos.scalar_type() != torch::headeronly::ScalarType::Float) {
    refuse(kOp, std::string("wanted q's dtype or float32 (Float) for cos, found ") +
                    torch::headeronly::toString(cos.scalar_type()) + ".");
  }
  if (cos.dim() != 2 || cos.size(1) > q.size(3) / 2) {
    refuse(kOp, "wanted shape [positions, rotary_dim / 2] with rotary_dim at most " +
                    std::to_string(q.size(3)) + " for cos, found " + shape_text(cos) + ".");
  }
}

void check_positions(const Tensor& q, const Tensor& positions) {
  using torch::headeronly::ScalarType;
  check_device(kOp, "q", q, "positions", positions);
  if (positions.scalar_type() != ScalarType::Int && positions.scalar_type() != ScalarType::Long) {
    refuse(kOp, std::string("wanted int32 (Int) or int64 (Long) for positions, found ") +
                    torch::headeronly::toString(positions.scalar_type()) + ".");
  }
  if (positions.dim() != 2 || positions.size(0) != q.size(0) || positions.size(1) != q.size(1)) {
    refuse(kOp, "wanted shape [" + std::to_string(q.size(0)) + ", " + std::to_string(q.size(1)) +
                    "] for positions, found " + shape_text(positions) + ".");
  }
}

void check_places(RopeAppendKv call, const Tensor& positions, const Tensor& block_table) {
  const OptionalTensor seen_positions = visible_numbers(kOp, "positions", positions);
  const OptionalTensor seen_table = visible_numbers(kOp, "block_table", block_table);
  if (!seen_positions.has_value() || !seen_table.has_value()) return;
  call.positions = seen_positions->const_data_ptr();
  call.block_table = seen_table->const_data_ptr<int32_t>();
  const int64_t room = call.blocks_per_sequence * call.page_size;
  for (int64_t token = 0; token < call.num_batches * call.seq_length; ++token) {
    const int64_t position = append::place_of(call, token).position;
    if (position < 0) continue;
    const std::string found = std::to_string(position) + " at [" +
                              std::to_string(token / call.seq_length) + ", " +
                              std::to_string(token % call.seq_length) + "].";
    if (position >= room) {
      refuse(kOp, "wanted positions below " + std::to_string(room) + " (block_table has " +
                      std::to_string(call.blocks_per_sequence) + " blocks of " +
                      std::to_string(call.page_size) + " keys), found " + found);
    }
    if (call.rotary_dim > 0 && position >= call.num_positions) {
      refuse(kOp, "wanted positions below " + std::to_string(call.num_positions) +
                      ", the rows of cos, found " + found);
    }
    const int64_t batch = token / call.seq_length, page = position / call.page_size;
    check_block(kOp, call.block_table[batch * call.blocks_per_sequence + page], call.num_blocks,
                batch, page);
  }
}

template <typename Device>
Tensor rope_append_kv(Tensor q, Tensor k, Tensor v, const Tensor& cos, const Tensor& sin,
                      Tensor k_cache, Tensor v_cache, const Tensor& block_table,
                      const Tensor& positions, bool interleaved, const OptionalTensor& k_scale,
                      const OptionalTensor& v_scale) {
  const Device device(q);
  RopeAppendKv call{};
  call.dtype = checked_dtype(kOp, "q", q);
  check_tokens(q, k, v);
  check_rotary(q, cos, sin);
  check_positions(q, positions);
  const TensorPages pages = pages_of(kOp, q, k_cache, v_cache, block_table, k_scale, v_scale);
  if (pages.num_kv_heads != k.size(2)) {
    refuse(kOp, "wanted one number of heads for k and k_cache, found shapes " + shape_text(k) +
                    " and " + shape_text(k_cache) + ".");
  }
  check_writable(kOp, "k_cache", k_cache);
  check_writable(kOp, "v_cache", v_cache);
  if constexpr (Device::kHasData) {
    check_apart(kOp, "k_cache", k_cache, "v_cache", v_cache);
    const auto check_read = [&](const char* name, const Tensor& tensor) {
      check_apart(kOp, "k_cache", k_cache, name, tensor);
      check_apart(kOp, "v_cache", v_cache, name, tensor);
    };
    check_read("q", q);
    check_read("k", k);
    check_read("v", v);
  }
  const Tensor own_cos = as_contiguous(kOp, "cos", cos);
  const Tensor own_sin = as_contiguous(kOp, "sin", sin);
  const Tensor own_positions = as_contiguous(kOp, "positions", positions);
  call.num_batches = q.size(0);
  call.seq_length = q.size(1);
  call.num_heads = q.size(2);
  call.num_kv_heads = k.size(2);
  call.head_dim = q.size(3);
  call.rotary_dim = 2 * cos.size(1);
  call.num_positions = cos.size(0);
  call.num_blocks = pages.num_blocks;
  call.page_size = pages.page_size;
  call.blocks_per_sequence = pages.blocks_per_sequence;
  call.table_dtype = checked_dtype(kOp, "cos", cos);
  call.position_type = positions.scalar_type() == torch::headeronly::ScalarType::Int
                           ? PositionType::kInt32
                           : PositionType::kInt64;
  call.interleaved = interleaved;
  call.has_float8_cache = pages.is_float8;
  call.q = heads_of("q", q);
  call.k = heads_of("k", k);
  call.v = heads_of("v", v);
  call.k_cache = written(pages.k);
  call.v_cache = written(pages.v);
  call.cos = own_cos.const_data_ptr();
  call.sin = own_sin.const_data_ptr();
  call.positions = own_positions.const_data_ptr();
  call.block_table = pages.block_table.const_data_ptr<int32_t>();
  const Tensor output = make_empty(q, q.sizes());
  call.q_out = output.mutable_data_ptr();
  check_places(call, own_positions, pages.block_table);
  if (q.numel() + k.numel() == 0) return output;
  if constexpr (Device::kIsGpu) {
    launch_rope_append_kv(call, device.stream());
  } else if constexpr (Device::kHasData) {
    rope_append_kv_cpu(call, torch_threads);
  }
  return output;
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  const std::string schema =
      "rope_append_kv_(Tensor q, Tensor k, Tensor v, Tensor cos, Tensor sin, Tensor(a!) k_cache, "
      "Tensor(b!) v_cache, Tensor block_table, Tensor positions, bool interleaved=False, "
      "Tensor? k_scale=None, Tensor? v_scale=None) -> Tensor";
  library.def(schema.c_str());
  define_check(library, schema);
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, Meta, library) {
  library.impl("_check_rope_append_kv_", TORCH_BOX(&rope_append_kv<OnMeta>));
}

CUDAOPS_DEVICE_KERNELS(cudaops, Device, library) {
  library.impl("rope_append_kv_", TORCH_BOX(&rope_append_kv<Device>));
}

}  // namespace cudaops_kernels
