// SPDX-License-Identifier: Apache-2.0
// Which calls the kernel for sm_90a serves, and by tiles of which shape.
#include <cmath>

#include "../common/per_device.cuh"
#include "attention_sm90.h"
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

// Of head dimensions up to 128: up to so many queries two warpgroups that share 128 keys are faster
// than three that share 80.
constexpr int64_t kMostShort128 = 1024, kMostShort128Masked = 1024;

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

void launch_attention_sm90(const Attention& call, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  const bool is_masked = call.window_left >= 0 || call.window_right >= 0;
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
  if (attention_sm90_is_one_tile(call)) return launch_attention_sm90_one_tile(call, stream);
  const auto tiles = [&](int64_t rows) { return (call.seq_q + rows - 1) / rows; };
  // Scores with other terms take more of a tile's time than products do. Sequences of 2048 to 8192,
  // by tiles of short ones beside those of long ones: head_dim 128 without a bias 0.86 to 1.02 of
  // the time (with one 1.1 to 1.4), 192 by 128 without a mask 0.83 to 0.92 (with one 0.8 to 1.1),
  // 64 with a bias 0.75 to 0.85 (without 0.7 to 1.2); H200, 2026-11-27.
  const bool has_bias = call.bias != nullptr;
  const bool has_terms_alone = changes_scores(call) && !has_bias;
  if (larger <= 64) {
    // Of 192 rows more of a short mask's diagonal is computed in vain, and more of the last tile.
    if (call.seq_q <= (is_masked ? 4096 : 1024) || has_bias ||
        4 * 192 * tiles(192) > 5 * 128 * tiles(128)) {
      return launch_attention_sm90_of<AttentionSm90Shape64Short>(call, on);
    }
    return launch_attention_sm90_of<AttentionSm90Shape64>(call, on);
  }
  const bool is_short = call.seq_q <= 1024;
  if (larger <= 96) {
    return is_short ? launch_attention_sm90_of<AttentionSm90Shape96Short>(call, on)
                    : launch_attention_sm90_of<AttentionSm90Shape96>(call, on);
  }
  if (larger <= 128) {
    const bool has_lengths = call.cu_seqlens_q != nullptr;
    const int64_t most_short = is_masked ? kMostShort128Masked : kMostShort128;
    if (call.seq_q <= most_short || has_terms_alone || (is_masked && has_lengths)) {
      return launch_attention_sm90_of<AttentionSm90Shape128Short>(call, on);
    }
    // Tiles of 192 rows take a twentieth less time for a row. But where the tiles of one sequence
    // are most of the work, the last round of them may leave many multiprocessors without one.
    // (Those of a batch are always the same: its sequences don't depend on each other.)
    if (has_lengths && 2 * call.total_q < 7 * call.seq_q) {
      const auto time = [&](int64_t rows) {
        const int64_t blocks = num_multiprocessors();
        return (tiles(rows) * call.heads + blocks - 1) / blocks * rows;
      };
      if (21 * time(128) < 20 * time(192)) {
        return launch_attention_sm90_of<AttentionSm90Shape128Short>(call, on);
      }
    }
    return launch_attention_sm90_of<AttentionSm90Shape128>(call, on);
  }
  if (larger <= 192) {
    if (call.head_dim_v <= 128) {
      return is_short || (has_terms_alone && !is_masked)
                 ? launch_attention_sm90_of<AttentionSm90Shape192By128Short>(call, on)
                 : launch_attention_sm90_of<AttentionSm90Shape192By128>(call, on);
    }
    return is_short ? launch_attention_sm90_of<AttentionSm90Shape192Short>(call, on)
                    : launch_attention_sm90_of<AttentionSm90Shape192>(call, on);
  }
  if (call.seq_q <= 512) {
    return launch_attention_sm90_of<AttentionSm90Shape256Short>(call, on);
  }
  launch_attention_sm90_of<AttentionSm90Shape256>(call, on);
}

}  // namespace cudaops_kernels
