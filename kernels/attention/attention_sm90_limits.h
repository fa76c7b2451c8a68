// SPDX-License-Identifier: Apache-2.0
// Up to how many queries a sequence is computed by the tiles for short ones.
#pragma once

#include <cstdint>

namespace cudaops_kernels {

// The head dimensions that the products are made for.
enum class AttentionSm90Heads { k64, k96, k128, k192By128, k192, k256 };

// What a score has beside the product: nothing; a softcap or slopes; a bias, with or without these.
enum class AttentionSm90Terms { kNone, kCapOrSlopes, kBias };

constexpr int64_t kAllQueries = INT64_MAX;
struct AttentionSm90Limits {
  int64_t most_short[3][2];  // of AttentionSm90Terms; without a mask, with one
};

// attention_sm90_limits: written by bench/kernels/attention_tiles.py
// NVIDIA H200, CUDA 13.0.88, 2026-11-27, bfloat16, 16384 tokens:
// bench/results/attention_tiles_cuda.json.
constexpr AttentionSm90Limits kAttentionSm90Limits[] = {
    // 64
    {{{256, 1024}, {1024, 4096}, {kAllQueries, kAllQueries}}},
    // 96
    {{{1024, 1024}, {kAllQueries, kAllQueries}, {256, 1024}}},
    // 128
    {{{2048, 2048}, {kAllQueries, kAllQueries}, {256, 256}}},
    // 192 by 128
    {{{1024, 4096}, {1024, 1024}, {256, 256}}},
    // 192
    {{{kAllQueries, 1024}, {1024, 1024}, {256, 2048}}},
    // 256
    {{{512, 4096}, {4096, 2048}, {0, 2048}}},
};
// attention_sm90_limits: end

}  // namespace cudaops_kernels
