// SPDX-License-Identifier: Apache-2.0
// What the bindings of ops on paged caches share: caches, tables and scales, checked.
#pragma once

#include <torch/csrc/stable/library.h>

#include <string>

#include "paged.h"
#include "torch_binding.h"

namespace cudaops_kernels {

// Contiguous int32 where q lies.
inline Tensor checked_ints(const char* op, const char* name, const Tensor& q,
                           const Tensor& tensor) {
  check_device(op, "q", q, name, tensor);
  if (tensor.scalar_type() != torch::headeronly::ScalarType::Int) {
    refuse(op, std::string("wanted int32 (Int) for ") + name + ", found " +
                   torch::headeronly::toString(tensor.scalar_type()) + ".");
  }
  return as_contiguous(op, name, tensor);
}

// Both caches, and the tensors that they point into.
struct TensorPages {
  PagedCache k, v;
  int64_t num_blocks, page_size, num_kv_heads, blocks_per_sequence;
  bool is_float8;
  Tensor block_table;
  OptionalTensor k_scale, v_scale;
};

inline void set_scale(const char* op, const char* name, const Tensor& q, OptionalTensor& scale,
                      const TensorPages& pages, PagedCache* cache) {
  if (!scale.has_value()) return;
  check_device(op, "q", q, name, *scale);
  if (!pages.is_float8) {
    refuse(op, std::string("wanted caches of float8_e4m3fn (Float8_e4m3fn) with ") + name +
                   ", found a cache of q's dtype.");
  }
  if (scale->scalar_type() != torch::headeronly::ScalarType::Float) {
    refuse(op, std::string("wanted float32 (Float) for ") + name + ", found " +
                   torch::headeronly::toString(scale->scalar_type()) + ".");
  }
  if (scale->numel() != 1 && scale->numel() != pages.num_kv_heads) {
    refuse(op, std::string("wanted one element or one for each of ") +
                   std::to_string(pages.num_kv_heads) + " heads for " + name + ", found shape " +
                   shape_text(*scale) + ".");
  }
  scale = as_contiguous(op, name, *scale);
  cache->scale = scale->const_data_ptr<float>();
  cache->scale_stride = scale->numel() == 1 ? 0 : 1;
}

inline PagedCache cache_of(const char* op, const char* name, const Tensor& cache) {
  if (cache.size(3) > 1 && cache.stride(3) != 1) {
    refuse(op, std::string("wanted a stride of 1 for the last dimension of ") + name +
                   " (a cache isn't copied), found shape " + shape_text(cache) + " with strides " +
                   strides_text(cache) + ".");
  }
  return {cache.const_data_ptr(), cache.stride(0), cache.stride(1), cache.stride(2), nullptr, 0};
}

inline TensorPages pages_of(const char* op, const Tensor& q, const Tensor& k_cache,
                            const Tensor& v_cache, const Tensor& block_table,
                            const OptionalTensor& k_scale, const OptionalTensor& v_scale) {
  using torch::headeronly::ScalarType;
  check_device(op, "q", q, "k_cache", k_cache);
  check_same(op, "k_cache", k_cache, "v_cache", v_cache);
  const bool is_float8 = k_cache.scalar_type() == ScalarType::Float8_e4m3fn;
  if (!is_float8 && k_cache.scalar_type() != q.scalar_type()) {
    refuse(op,
           std::string("wanted q's dtype or float8_e4m3fn (Float8_e4m3fn) for k_cache, found ") +
               torch::headeronly::toString(k_cache.scalar_type()) + ".");
  }
  const int64_t head_dim = q.size(q.dim() - 1);
  if (k_cache.dim() != 4 || k_cache.size(3) != head_dim || k_cache.size(1) == 0) {
    refuse(op, "wanted shape [blocks, page_size, kv_heads, " + std::to_string(head_dim) +
                   "] for k_cache, found " + shape_text(k_cache) + ".");
  }
  TensorPages pages{cache_of(op, "k_cache", k_cache),
                    cache_of(op, "v_cache", v_cache),
                    k_cache.size(0),
                    k_cache.size(1),
                    k_cache.size(2),
                    0,
                    is_float8,
                    checked_ints(op, "block_table", q, block_table),
                    k_scale,
                    v_scale};
  if (block_table.dim() != 2 || block_table.size(0) != q.size(0)) {
    refuse(op, "wanted shape [" + std::to_string(q.size(0)) +
                   ", blocks], the blocks of each sequence of q, for block_table, found " +
                   shape_text(block_table) + ".");
  }
  pages.blocks_per_sequence = block_table.size(1);
  set_scale(op, "k_scale", q, pages.k_scale, pages, &pages.k);
  set_scale(op, "v_scale", q, pages.v_scale, pages, &pages.v);
  return pages;
}

inline void check_block(const char* op, int64_t block, int64_t num_blocks, int64_t batch,
                        int64_t index) {
  if (block >= 0 && block < num_blocks) return;
  refuse(op, "wanted blocks from 0 to " + std::to_string(num_blocks - 1) + " (k_cache has " +
                 std::to_string(num_blocks) + ") for block_table, found " + std::to_string(block) +
                 " at [" + std::to_string(batch) + ", " + std::to_string(index) + "].");
}

}  // namespace cudaops_kernels
