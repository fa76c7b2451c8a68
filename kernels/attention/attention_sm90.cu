// SPDX-License-Identifier: Apache-2.0
// Which calls the kernel for sm_90a serves, and by tiles of which shape.
#include <algorithm>
#include <cmath>

#include "../common/per_device.cuh"
#include "attention_sm90.h"
#include "attention_sm90_limits.h"
#include "attention_sm90_tiles.cuh"

namespace cudaops_kernels {

// Defined in attention_sm90.cuh, for each shape of its tiles in shards (ops.cmake).
template <typename Shape>
void launch_attention_sm90_of(const Attention& call, cudaStream_t stream);

namespace {

// Its launch bound tells the host which code the binary holds for a device.
constexpr int kBoundWithWgmma = 128;
constexpr int kBoundWithout = 32;
__global__ void __launch_bounds__(CUDAOPS_HAS_WGMMA || !CUDAOPS_DEVICE_CODE ? kBoundWithWgmma
                                                                            : kBoundWithout)
    has_wgmma_kernel() {}

bool device_has_wgmma() {
  static int known[64];
  return known_for_device(known, [](int) {
           cudaFuncAttributes attributes;
           const auto kernel = reinterpret_cast<const void*>(&has_wgmma_kernel);
           if (cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess) {
             (void)cudaGetLastError();
             return 0;
           }
           const bool has = attributes.binaryVersion == 90 &&
                            attributes.maxThreadsPerBlock == kBoundWithWgmma &&
                            tensor_map_encoder() != nullptr;
           return has ? 1 : 0;
         }) == 1;
}

AttentionSm90Heads heads_of(const Attention& call) {
  const int64_t larger = std::max(call.head_dim, call.head_dim_v);
  if (larger <= 64) return AttentionSm90Heads::k64;
  if (larger <= 96) return AttentionSm90Heads::k96;
  if (larger <= 128) return AttentionSm90Heads::k128;
  if (larger > 192) return AttentionSm90Heads::k256;
  return call.head_dim_v <= 128 ? AttentionSm90Heads::k192By128 : AttentionSm90Heads::k192;
}

bool is_masked(const Attention& call) { return call.window_left >= 0 || call.window_right >= 0; }

// Where tiles of sequences longer than kAttentionSm90Limits has are too large nevertheless.
bool has_large_remainder(const Attention& call, AttentionSm90Heads heads) {
  const auto tiles = [&](int64_t rows) { return divide_up(call.seq_q, rows); };
  // Of 192 rows more of the last tile is computed in vain.
  if (heads == AttentionSm90Heads::k64) return 4 * 192 * tiles(192) > 5 * 128 * tiles(128);
  // With options there is no kernel of others: launch_attention_sm90_shape().
  const bool is_varlen = call.cu_seqlens_q != nullptr;
  if (heads == AttentionSm90Heads::k96) return is_varlen && changes_scores(call);
  if (heads != AttentionSm90Heads::k128 || !is_varlen) return false;
  if (is_masked(call) || changes_scores(call)) return true;
  // Tiles of 192 rows take a twentieth less time for a row. But where the tiles of one sequence
  // are most of the work, the last round of them may leave many multiprocessors without one.
  // (Those of a batch are always the same: its sequences don't depend on each other.)
  if (2 * call.total_q >= 7 * call.seq_q) return false;
  const auto time = [&](int64_t rows) {
    return divide_up(tiles(rows) * call.heads, num_multiprocessors()) * rows;
  };
  return 21 * time(128) < 20 * time(192);
}

bool is_of_one_tile(const Attention& call, AttentionSm90Heads heads) {
  const int64_t longest = std::max(call.seq_q, call.seq_k);
  if (longest > kMostOfOneTile || changes_scores(call)) return false;
  // Its kernels have 64, 128 or 256 columns. With 65 to 128 tokens, which two warpgroups share,
  // tiles of 96 and 192 columns take less time than it: of head_dim 96 and 80 0.93 to 0.98, of 192
  // 0.98; of 72 1.02 to 1.04, and of 192 by 128 1.02 (H200, 2026-11-27).
  const bool has_fewer_columns =
      heads == AttentionSm90Heads::k96 && std::max(call.head_dim, call.head_dim_v) > 72;
  return longest <= 64 || !(has_fewer_columns || heads == AttentionSm90Heads::k192);
}

template <typename Short, typename Long>
void launch_one_of(AttentionSm90Tiles tiles, const Attention& call, cudaStream_t stream) {
  if (tiles == AttentionSm90Tiles::kShort) return launch_attention_sm90_of<Short>(call, stream);
  launch_attention_sm90_of<Long>(call, stream);
}

}  // namespace

bool attention_sm90_serves(const Attention& call) {
  constexpr int64_t kMaxSize = int64_t{1} << 29;  // sums of a few of them are int
  const MappedTensors tensors(call);
  return call.dtype != DType::kFloat32 && !call.is_double && call.bias == nullptr &&
         call.alibi_slopes == nullptr && call.dropout_p == 0 &&
         static_cast<float>(call.scale) > 0 && static_cast<float>(1 / call.scale) < INFINITY &&
         call.head_dim <= Attention::kMaxHeadDim && call.head_dim_v <= Attention::kMaxHeadDim &&
         call.seq_q > 0 && call.seq_q < kMaxSize && call.seq_k < kMaxSize &&
         tensors.q.seq < kMaxSize && tensors.k.seq < kMaxSize &&
         call.batch * call.heads * ((call.seq_q + 127) / 128) < kMaxSize && device_has_wgmma() &&
         can_be_mapped(tensors.q) && can_be_mapped(tensors.k) && can_be_mapped(tensors.v) &&
         can_be_mapped(tensors.o);
}

bool attention_sm90_serves_forward(const Attention& call) {
  if (call.bias != nullptr && !has_aligned_bias(call, 2)) return false;
  Attention plain = call;
  plain.bias = nullptr;
  plain.alibi_slopes = nullptr;
  plain.dropout_p = 0;
  return attention_sm90_serves(plain);
}

AttentionSm90Tiles choose_attention_sm90_tiles(const Attention& call) {
  const AttentionSm90Heads heads = heads_of(call);
  if (is_of_one_tile(call, heads)) return AttentionSm90Tiles::kOne;
  const auto terms = call.bias != nullptr   ? AttentionSm90Terms::kBias
                     : changes_scores(call) ? AttentionSm90Terms::kCapOrSlopes
                                            : AttentionSm90Terms::kNone;
  const AttentionSm90Limits& limits = kAttentionSm90Limits[static_cast<int>(heads)];
  return call.seq_q <= limits.most_short[static_cast<int>(terms)][is_masked(call)] ||
                 has_large_remainder(call, heads)
             ? AttentionSm90Tiles::kShort
             : AttentionSm90Tiles::kLong;
}

void launch_attention_sm90_by(AttentionSm90Tiles tiles, const Attention& call, void* stream) {
  if (tiles == AttentionSm90Tiles::kOne) return launch_attention_sm90_one_tile(call, stream);
  const auto on = static_cast<cudaStream_t>(stream);
  switch (heads_of(call)) {
    case AttentionSm90Heads::k64:
      return launch_one_of<AttentionSm90Shape64Short, AttentionSm90Shape64>(tiles, call, on);
    case AttentionSm90Heads::k96:
      return launch_one_of<AttentionSm90Shape96Short, AttentionSm90Shape96>(tiles, call, on);
    case AttentionSm90Heads::k128:
      return launch_one_of<AttentionSm90Shape128Short, AttentionSm90Shape128>(tiles, call, on);
    case AttentionSm90Heads::k192By128:
      return launch_one_of<AttentionSm90Shape192By128Short, AttentionSm90Shape192By128>(tiles, call,
                                                                                        on);
    case AttentionSm90Heads::k192:
      return launch_one_of<AttentionSm90Shape192Short, AttentionSm90Shape192>(tiles, call, on);
    case AttentionSm90Heads::k256:
      return launch_one_of<AttentionSm90Shape256Short, AttentionSm90Shape256>(tiles, call, on);
  }
}

void launch_attention_sm90(const Attention& call, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  const int64_t larger = std::max(call.head_dim, call.head_dim_v);
  if (call.dropout_p > 0) {
    return larger <= 128 ? launch_attention_sm90_of<AttentionSm90Shape128Dropout>(call, on)
                         : launch_attention_sm90_of<AttentionSm90Shape256Dropout>(call, on);
  }
  if (has_bias_vectors(call)) {
    if (larger <= 64) return launch_attention_sm90_of<AttentionSm90Shape64Bias>(call, on);
    if (larger <= 128) return launch_attention_sm90_of<AttentionSm90Shape128Bias>(call, on);
    return launch_attention_sm90_of<AttentionSm90Shape256Bias>(call, on);
  }
  launch_attention_sm90_by(choose_attention_sm90_tiles(call), call, stream);
}

}  // namespace cudaops_kernels
