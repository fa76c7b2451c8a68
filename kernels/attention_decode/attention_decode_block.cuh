// SPDX-License-Identifier: Apache-2.0
// What a block of attention_decode's kernels does with its keys of an item (attention_decode.cuh).
#pragma once

#include <cudaops/check.h>

#include "../common/activations.h"
#include "../common/device_types.cuh"
#include "../common/hopper.cuh"
#include "../common/mma.cuh"
#include "../common/vectors.cuh"
#include "attention_decode_merge.cuh"
#include "attention_decode_plan.cuh"
#include "attention_decode_reader.cuh"

namespace cudaops_kernels {
namespace decode {

#if !CUDAOPS_HIP

// Shared memory of a block: queries, each warp's tiles of keys and values, kStages of them; a
// warp's sums take a tile's place when a part of an item ends, of float8 that of two.
template <typename Cache, int kDim, int kWarps_, int kStages_>
struct Memory {
  static constexpr int kWarps = kWarps_;
  static constexpr int kStages = kStages_;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kRowBytes = kDim * static_cast<int>(sizeof(Cache));
  static constexpr int kTileBytes = 2 * kTile * kRowBytes;
  static constexpr int kQueryBytes = kRows * kDim * 2;
  static constexpr int kSumsBytes = kRows * kDim * 4;  // of a warp
  static_assert(kSumsBytes <= 2 * kTileBytes, "");
  CUDAOPS_HOST_DEVICE static constexpr int bytes(int stages) {
    return kQueryBytes + kWarps * stages * kTileBytes;
  }

  // Chunks of 16 bytes are spread so that a column of eight rows meets all banks.
  __device__ static uint32_t at(int row, int chunk) {
    constexpr int kChunks = kRowBytes / 16;
    const int spread = kChunks >= 8 ? row % 8 : row / 2 % 4;
    return static_cast<uint32_t>(row * kRowBytes + (chunk ^ spread) * 16);
  }
  __device__ static uint32_t query_at(int row, int chunk) {
    return static_cast<uint32_t>(row * kDim * 2 + (chunk ^ row % 8) * 16);
  }
  // Eights of a row of sums likewise: four rows meet all banks. Of an element: a multiple of 32,
  // and what is left.
  __device__ static int sum_at(int row, int first, int rest) {
    return row * kDim + first + (rest ^ row % 4 * 8);
  }
};

#if CUDAOPS_HAS_MMA

// Keys of a warp: tiles that begin at a key and every so-manieth one from there on.
struct Tiles {
  int first, stride, count;
};

// One block's work. kIsPaged: a table says where keys lie, and what a block has of an item is one
// part; else a sequence's keys are one page, and a block may have several parts.
template <typename T, typename Cache, int kDim, typename M, bool kIsPaged>
class Block {
  static constexpr int kWarps = M::kWarps;
  using R = Reader<T, Cache>;
  using Math = typename R::Math;
  static constexpr int kSteps = kDim / 16;
  static constexpr int kChunks = M::kRowBytes / 16;

 public:
  __device__ Block(const Plan& plan, char* memory)
      : plan_(plan),
        memory_(memory),
        queries_(shared_address(memory)),
        warp_(threadIdx.x / 32),
        lane_(threadIdx.x % 32),
        buffers_(queries_ + M::kQueryBytes + warp_ * plan.stages * M::kTileBytes) {}

  // The warps' tiles of an item, the first `each` of which are a part, and so on. take(part, row,
  // query, largest, total, sums) gets the rows of each part, by a warp of which each lane has some
  // sums: a row's parts by the same one, one after the other. What comes next is loaded meanwhile.
  template <typename Take>
  __device__ void run(const Item& item, const Tiles& tiles, int each, const Take& take) {
    item_ = item;
    tiles_ = tiles;
    const int stages = plan_.stages;
    find_blocks(0);
    k_from_ = first_chunk(plan_.call.k, plan_.k_bytes);
    v_from_ = first_chunk(plan_.call.v, plan_.v_bytes);
    load_queries();
#pragma unroll 1
    for (int ahead = 0; ahead < stages - 1; ++ahead) copy(ahead, ahead);
    // The queries are in the first group.
    wait(stages - 2);
    __syncthreads();
    begin_item();
    begin_part();
    int stage = 0, part = 0, end = each;
#pragma unroll 1
    for (int i = 0; i < tiles_.count; ++i) {
      wait(stages - 2);
      __syncwarp();
      // Into the tile that all lanes have left.
      copy(i + stages - 1, stage == 0 ? stages - 1 : stage - 1);
      const bool is_block = !kIsPaged || (are_blocks_ >> (stages - 1) & 1) != 0;
      add(token_of(i), buffers_ + static_cast<uint32_t>(stage * M::kTileBytes), is_block);
      if constexpr (!kIsPaged) {
        static_assert(M::kSumsBytes <= M::kTileBytes, "the other tiles are loaded or read");
        if (i + 1 == end && end < tiles_.count) {
          merge(stage, part++, take);
          // Before the next copies come where sums are.
          __syncthreads();
          begin_part();
          end += each;
        }
      }
      stage = stage + 1 == stages ? 0 : stage + 1;
    }
    wait_for_groups<0>();
    merge(0, part, take);
  }

 private:
  // Until at most so many groups are under way.
  template <int kMost = M::kStages - 2>
  __device__ __forceinline__ static void wait(int groups) {
    if constexpr (kMost > 0) {
      if (groups < kMost) return wait<kMost - 1>(groups);
    }
    wait_for_groups<kMost>();
  }

  // The first key of the warp's i-th tile.
  __device__ __forceinline__ int token_of(int i) const { return tiles_.first + i * tiles_.stride; }

  // The blocks with the keys of 32 tiles from this one on, a lane each. Not up to the sequence's
  // length: its length is not waited for.
  __device__ __forceinline__ void find_blocks(int i) {
    if constexpr (!kIsPaged) return;
    const int64_t token = token_of(i) + int64_t{lane_} * tiles_.stride;
    found_ = -1;
    if (token < plan_.most_keys) {
      found_ = block_of(plan_, item_.batch, page_of(plan_, static_cast<int>(token)));
    }
  }

  // The warp's tiles come one after the other. What a tile must not hold comes as zeros.
  __device__ __forceinline__ void copy(int i, int stage) {
    are_blocks_ *= 2;
    if (i < tiles_.count) {
      const AttentionDecode& call = plan_.call;
      const int token = token_of(i);
      int in_page = token, block = 0;
      bool is_there = true;
      if constexpr (kIsPaged) {
        if (i % 32 == 0 && i != 0) find_blocks(i);
        in_page -= page_of(plan_, token) * static_cast<int>(call.page_size);
        block = __shfl_sync(~0u, found_, i % 32);
        is_there = block >= 0 && block < call.num_blocks;
      }
      // Rows of the tile that are to be copied.
      const int count = is_there ? item_.length - token : 0;
      const uint32_t tile = buffers_ + static_cast<uint32_t>(stage * M::kTileBytes);
      const uint32_t known = is_there ? static_cast<uint32_t>(block) : 0;
      copy_tile(tile, call.k.data, k_from_, plan_.k_bytes, known, in_page, count);
      copy_tile(tile + kTile * M::kRowBytes, call.v.data, v_from_, plan_.v_bytes, known, in_page,
                count);
      are_blocks_ += is_there ? 1 : 0;
    }
    close_copies();
  }

  // A lane has one chunk of every so-manieth row; the first in block 0 that is the item's.
  static constexpr int kPerChunk = 16 / sizeof(Cache), kRowsAtOnce = 32 / kChunks;
  static_assert(kRowsAtOnce >= 1 && kTile % kRowsAtOnce == 0, "");
  __device__ __forceinline__ const char* first_chunk(const PagedCache& cache,
                                                     const CacheBytes& bytes) const {
    const Cache* const head = first_of<Cache, kIsPaged>(plan_, cache, item_.batch, item_.kv_head);
    return reinterpret_cast<const char*>(head) + uint64_t{bytes.token} * (lane_ / kChunks) +
           lane_ % kChunks * 16;
  }
  __device__ __forceinline__ void copy_tile(uint32_t tile, const void* anything, const char* from,
                                            const CacheBytes& bytes, uint32_t block, int in_page,
                                            int count) {
    const int row = lane_ / kChunks, chunk = lane_ % kChunks;
    from += uint64_t{block} * bytes.block + uint64_t{static_cast<uint32_t>(in_page)} * bytes.token;
    const uint64_t step = uint64_t{bytes.token} * kRowsAtOnce;
    const bool is_chunk = chunk * kPerChunk < plan_.call.head_dim;
    if (count >= kTile && kDim == static_cast<int>(plan_.call.head_dim)) {
#pragma unroll
      for (int i = 0; i < kTile; i += kRowsAtOnce) {
        begin_copy_once(tile + M::at(i + row, chunk), from);
        from += step;
      }
      return;
    }
#pragma unroll 1
    for (int i = 0; i < kTile; i += kRowsAtOnce) {
      const bool is_there = is_chunk && i + row < count;
      begin_copy(tile + M::at(i + row, chunk), is_there ? from : anything, is_there);
      from += step;
    }
  }

  // A thread has eight elements of a row. float8's products are of float16, which has not
  // bfloat16's range: a row is divided by the power of two that its largest element needs.
  __device__ __forceinline__ void load_queries() {
    const AttentionDecode& call = plan_.call;
    constexpr int kLanes = kDim / 8;  // of a row
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < kRows * kLanes; i += M::kThreads) {
      const int row = i / kLanes, chunk = i % kLanes;
      const Query query = query_of(plan_, item_, row);
      const bool is_there = query.is_there && chunk * 8 < call.head_dim;
      const T* const from = static_cast<const T*>(call.q) + item_.batch * call.q_batch_stride +
                            query.token * call.q_token_stride + query.head * call.q_head_stride +
                            chunk * 8;
      if constexpr (sizeof(Cache) != 1) {
        begin_copy(queries_ + M::query_at(row, chunk), is_there ? from : call.q, is_there);
      } else {
        Vector<T> vector{};
        if (is_there) vector = *vectors_at(from);
        float value[8], largest = 0;
        for (int k = 0; k < 8; ++k) {
          value[k] = to_float(vector.element[k]);
          largest = fmaxf(largest, fabsf(value[k]));
        }
        for (int step = kLanes / 2; step > 0; step /= 2) {
          largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, step));
        }
        // 2^exponent is not less than the largest, nor so far from 1 that its inverse isn't there.
        int exponent = (__float_as_int(largest) >> 23) - 126;
        exponent = largest < INFINITY ? min(max(exponent, -120), 120) : 0;
        const float factor = __int_as_float((127 - exponent) << 23);
        if (chunk == 0) query_scale()[row] = __int_as_float((127 + exponent) << 23);
        uint32_t word[4];
        for (int k = 0; k < 4; ++k) {
          word[k] = detail::pack_pair<Math>(value[2 * k] * factor, value[2 * k + 1] * factor);
        }
        // Elements 4t … 4t + 3 are columns 2t, 2t + 1, 8 + 2t, 9 + 2t of their sixteen.
        char* const to = memory_ + chunk % 2 * 8;
        *reinterpret_cast<uint2*>(to + M::query_at(row, chunk / 2 * 2)) =
            make_uint2(word[0], word[2]);
        *reinterpret_cast<uint2*>(to + M::query_at(row, chunk / 2 * 2 + 1)) =
            make_uint2(word[1], word[3]);
      }
    }
  }

  __device__ float* query_scale() const {
    __shared__ float scales[kRows];
    return scales;
  }

  __device__ __forceinline__ void begin_part() {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      largest_[half] = -INFINITY;
      total_[half] = 0;
    }
#pragma unroll
    for (int i = 0; i < 2 * kSteps; ++i) {
#pragma unroll
      for (int k = 0; k < 4; ++k) sums_[i][k] = 0;
    }
  }

  __device__ __forceinline__ void begin_item() {
    const int g = lane_ / 4;
    const PagedCache& k = plan_.call.k;
    const float k_scale = k.scale == nullptr ? 1.0f : k.scale[item_.kv_head * k.scale_stride];
    const int window_left = static_cast<int>(plan_.call.window_left);
    halves_ = plan_.num_rows - item_.first_row > 8 ? 2 : 1;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Query query = query_of(plan_, item_, g + 8 * half);
      last_[half] = query.is_there ? query.last : -1;
      first_[half] = window_left < 0 ? 0 : query.position - window_left;
      scale_[half] = plan_.scale_log2 * k_scale;
      if constexpr (sizeof(Cache) == 1) scale_[half] *= query_scale()[g + 8 * half];
    }
    // All queries see keys from last_first on, up to first_last.
    last_first_ = window_left < 0 ? 0 : item_.length - 1 - window_left;
    first_last_ =
        last_key_of(plan_, item_.length, item_.length - static_cast<int>(plan_.call.q_length));
  }

  // `token`: the tile's first key. `is_block`: there is one with its keys.
  __device__ __forceinline__ void add(int token, uint32_t tile, bool is_block) {
    const int t = lane_ % 4;
    float scores[2][4] = {};
    // Row lane % 16 of the queries; the matrices of columns 8 … behind those of columns 0 ….
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      Four q;
      load_matrices(q.word, queries_ + M::query_at(lane_ % 16, 2 * step + lane_ / 16));
      const Four k = R::template keys<M>(tile, step, lane_);
      multiply_add<Math>(scores[0], q.word, k.word[0], k.word[1]);
      multiply_add<Math>(scores[1], q.word, k.word[2], k.word[3]);
    }
    // Whole tiles, but for the ends of what queries see and for blocks that aren't there.
    const bool is_partly_seen = token < last_first_ || token + kTile - 1 > first_last_ || !is_block;
    bool grows = false;
    float base[2] = {}, kept[2] = {};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (half < halves_) {
        float* const s0 = &scores[0][2 * half];
        float* const s1 = &scores[1][2 * half];
        const float scale = scale_[half], softcap = plan_.call.softcap;
        if (softcap > 0) {
          const float factor = scale * plan_.per_softcap;
          s0[0] = capped(s0[0] * factor, softcap);
          s0[1] = capped(s0[1] * factor, softcap);
          s1[0] = capped(s1[0] * factor, softcap);
          s1[1] = capped(s1[1] * factor, softcap);
        } else {
          s0[0] *= scale;
          s0[1] *= scale;
          s1[0] *= scale;
          s1[1] *= scale;
        }
        if (is_partly_seen) {
          const int key = token + 2 * t, last = is_block ? last_[half] : -1;
          s0[0] = key >= first_[half] && key <= last ? s0[0] : -INFINITY;
          s0[1] = key + 1 >= first_[half] && key + 1 <= last ? s0[1] : -INFINITY;
          s1[0] = key + 8 >= first_[half] && key + 8 <= last ? s1[0] : -INFINITY;
          s1[1] = key + 9 >= first_[half] && key + 9 <= last ? s1[1] : -INFINITY;
        }
        float largest = fmaxf(fmaxf(s0[0], s0[1]), fmaxf(s1[0], s1[1]));
        largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 1));
        largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 2));
        largest = fmaxf(largest, largest_[half]);
        base[half] = largest == -INFINITY ? 0.0f : largest;
        kept[half] = detail::exp2_of(largest_[half] - base[half]);
        grows = grows || largest > largest_[half];
        largest_[half] = largest;
      }
    }
    if (__any_sync(~0u, grows)) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        if (half < halves_) {
          total_[half] *= kept[half];
#pragma unroll
          for (int i = 0; i < 2 * kSteps; ++i) {
            sums_[i][2 * half] *= kept[half];
            sums_[i][2 * half + 1] *= kept[half];
          }
        }
      }
    }
    Four p{};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (half < halves_) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const float p0 = detail::exp2_of(scores[i][2 * half] - base[half]);
          const float p1 = detail::exp2_of(scores[i][2 * half + 1] - base[half]);
          total_[half] += p0 + p1;
          p.word[2 * i + half] = detail::pack_pair<Math>(p0, p1);
        }
      }
    }
    const uint32_t values = tile + kTile * M::kRowBytes;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const Four v = R::template values<M>(values, step, lane_);
      multiply_add<Math>(sums_[2 * step], p.word, v.word[0], v.word[1]);
      multiply_add<Math>(sums_[2 * step + 1], p.word, v.word[2], v.word[3]);
    }
  }

  // softcap * tanh(x), times log2(e): to 1e-6 of softcap.
  __device__ __forceinline__ static float capped(float x, float softcap) {
    const float power = detail::exp2_of(2 * kLog2e * x);
    return (softcap * kLog2e) * (1.0f - __fdividef(2.0f, 1.0f + power));
  }

  // The warps' sums become one: each warp's lie from a tile of its own on, which all of it have
  // left.
  template <typename Take>
  __device__ void merge(int tile, int part, const Take& take) {
    const int g = lane_ / 4, t = lane_ % 4;
    const auto sums_of = [&](int warp) {
      return reinterpret_cast<float*>(memory_ + M::kQueryBytes +
                                      (warp * plan_.stages + tile) * M::kTileBytes);
    };
    __shared__ float largest_of[kWarps][kRows], total_of[kWarps][kRows];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float total = total_[half];
      total += __shfl_xor_sync(~0u, total, 1);
      total += __shfl_xor_sync(~0u, total, 2);
      if (t == 0) {
        largest_of[warp_][g + 8 * half] = largest_[half];
        total_of[warp_][g + 8 * half] = total;
      }
    }
    __syncthreads();
    float* const own = sums_of(warp_);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (half >= halves_) break;
      const int row = g + 8 * half;
      float largest = -INFINITY;
      for (int warp = 0; warp < kWarps; ++warp) largest = fmaxf(largest, largest_of[warp][row]);
      const float kept = detail::exp2_of(largest_[half] - (largest == -INFINITY ? 0.0f : largest));
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        float sum[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) sum[i] = sums_[2 * step + i / 2][2 * half + i % 2] * kept;
        const int first = step / 2 * 32, rest = step % 2 * 16;
        if constexpr (sizeof(Cache) != 1) {
#pragma unroll
          for (int i = 0; i < 4; i += 2) {
            *reinterpret_cast<float2*>(own + M::sum_at(row, first, rest + R::element(i, t))) =
                make_float2(sum[i], sum[i + 1]);
          }
        } else {
          *reinterpret_cast<float4*>(own + M::sum_at(row, first, rest + R::element(0, t))) =
              make_float4(sum[0], sum[2], sum[1], sum[3]);
        }
      }
    }
    __syncthreads();
#pragma unroll 1
    for (int row = warp_; row < kRows; row += kWarps) {
      const Query query = query_of(plan_, item_, row);
      if (!query.is_there) break;
      float largest = -INFINITY, total = 0;
#pragma unroll
      for (int warp = 0; warp < kWarps; ++warp) largest = fmaxf(largest, largest_of[warp][row]);
      const float base = largest == -INFINITY ? 0.0f : largest;
#pragma unroll
      for (int warp = 0; warp < kWarps; ++warp) {
        total += total_of[warp][row] * detail::exp2_of(largest_of[warp][row] - base);
      }
      // A lane's elements; those beyond head_dim are none.
      LaneElements<kDim> all{};
#pragma unroll
      for (int warp = 0; warp < kWarps; ++warp) {
        const LaneElements<kDim> some = *reinterpret_cast<const LaneElements<kDim>*>(
            sums_of(warp) + M::sum_at(row, 0, lane_ * all.kCount));
#pragma unroll
        for (int i = 0; i < all.kCount; ++i) all.at[i] += some.at[i];
      }
      take(part, row, query, largest, total, all);
    }
  }

  const Plan& plan_;
  char* const memory_;
  const uint32_t queries_;
  const int warp_, lane_;
  const uint32_t buffers_;
  Item item_;
  Tiles tiles_;
  const char *k_from_, *v_from_;  // of block 0
  int found_;
  uint32_t are_blocks_ = 0;  // of the tiles copied last, the lowest bit of the last one
  int halves_;               // 1: rows 8 … 15 are none
  int first_[2], last_[2];
  int last_first_, first_last_;
  float largest_[2], total_[2], scale_[2];
  float sums_[2 * kSteps][4];
};

#endif

#endif

}  // namespace decode
}  // namespace cudaops_kernels
