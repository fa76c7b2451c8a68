// SPDX-License-Identifier: Apache-2.0
// Keys or values in pages: [num_blocks, page_size, heads, head_dim], of which a sequence has blocks
// in any order (Kwon et al.: Efficient memory management for large language model serving with
// PagedAttention, 2023).
#pragma once

#include <cstdint>

namespace cudaops_kernels {

// Strides in elements; those of head_dim stand side by side.
template <typename Data>
struct PagesOf {
  Data* data;
  int64_t block_stride;
  int64_t token_stride;
  int64_t head_stride;
  const float* scale;    // of float8; null: 1
  int64_t scale_stride;  // from one head's to the next; 0: one number for all
};
using PagedCache = PagesOf<const void>;
using WrittenCache = PagesOf<void>;

}  // namespace cudaops_kernels
