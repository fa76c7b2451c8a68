// SPDX-License-Identifier: Apache-2.0
// Attention, forward, for sm_90a, of sequences so short that a head's queries are one tile and its
// keys one block. Longer ones, and options that change scores: attention_sm90.cuh.
//
// Such a call takes the time of its bytes if products, softmax and stores run beside loads. Roles
// and rings aren't needed for that: a block of threads computes one tile or two and ends, and a
// multiprocessor has two to six blocks, each at another point. (Blocks that stay until the end and
// load their next tile as places become free took up to 6 % more: H200, 2026-11-27.)
//
//   S = Q K^T            64 columns of Q and K after the other, as they come. The softmax sees all
//   P = exp2(S - max)    keys of a row at once.
//   O = P V              64 or 128 columns after the other, each to memory by the place of its V.
//
// A tile comes in chunks of 64 columns: those of Q and K by turns, then those of V. All loads are
// begun at once if there is a place for each chunk; else the last ones take the places of the first
// ones, as soon as the scores of these are there.
#include <cudaops/check.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../common/bulk_copy.cuh"
#include "../common/device_types.cuh"
#include "../common/divider.cuh"
#include "../common/hopper/fragment.cuh"
#include "../common/hopper/tile.cuh"
#include "../common/hopper/tma.cuh"
#include "../common/hopper/wgmma.cuh"
#include "../common/per_device.cuh"
#include "attention_sm90.h"
#include "attention_sm90_call.cuh"
#include "attention_sm90_output.cuh"
#include "attention_sm90_scores.cuh"
#include "attention_sm90_tiles.cuh"

namespace cudaops_kernels {

// kHeadDim: what the products are made for, at least head_dim and head_dim_v; the copy engine fills
// up with zeros. kKeys: at most, and as many queries. kPlaces: for chunks. kTiles: of a block, one
// after the other, each with places and barriers of its own. kBlocks: on a multiprocessor.
template <int kHeadDim_, int kKeys_, int kPlaces_, int kTiles_, int kBlocks_>
struct AttentionSm90OneTileShape {
  static constexpr int kHeadDim = kHeadDim_;
  static constexpr int kHeadDimV = kHeadDim_;
  static constexpr int kKeys = kKeys_;
  static constexpr int kPlaces = kPlaces_;
  static constexpr int kTiles = kTiles_;
  static constexpr int kBlocks = kBlocks_;
  static constexpr int kWarpgroups = kKeys / 64;
  static constexpr int kThreads = kWarpgroups * kWarpgroupSize;
  static constexpr bool kIsFloat8 = false;
  static constexpr int kWeightShift = 0;

  using Chunk = SharedTile<kKeys, kBoxColumns>;
  static constexpr int kScoreSteps = kHeadDim / kBoxColumns;  // a chunk of Q and one of K each
  static constexpr int kChunks = 3 * kScoreSteps;
  static constexpr int kSteps = (kChunks + 1) / 2;  // two chunks, or the last one
  static constexpr int kColumns = std::min(kHeadDim, 2 * kBoxColumns);  // of V and O, of a step
  static constexpr int kTileBytes = kPlaces * Chunk::kBytes;
  static constexpr int kBarriersOffset = kTiles * kTileBytes;
  static constexpr int kSharedBytes = kBarriersOffset + kTiles * kSteps * 8;
  static_assert(kHeadDim % kColumns == 0, "values of steps of two chunks, or of one chunk");
  static_assert(kPlaces >= kChunks || (kPlaces % 2 == 0 && kPlaces / 2 + kScoreSteps >= kSteps),
                "a place is free when the scores of its chunk are there");
  static_assert(kBlocks * (kSharedBytes + 1024) <= 228 * 1024, "more than a multiprocessor has");
};

#if CUDAOPS_HAS_WGMMA

namespace attention_sm90 {

// One of a block's tiles; its places and its barriers, each of which is used once.
template <typename T, typename Shape, bool kVarlen>
class OneTile {
 public:
  __device__ __forceinline__ OneTile(const AttentionSm90Parameters& call, char* shared, int n)
      : call_(call),
        places_(shared + n * Shape::kTileBytes),
        barriers_(reinterpret_cast<uint64_t*>(shared + Shape::kBarriersOffset) +
                  n * Shape::kSteps) {
    int item = static_cast<int>(blockIdx.x) + n * static_cast<int>(gridDim.x);
    is_any_ = item < call.num_items;
    if (!is_any_) return;
    tile_.batch = call.by_heads.divide(&item);
    tile_.head = item;
    tile_.first_query = 0;
    find_sequence<kVarlen>(call, tile_);
    is_any_ = tile_.seq_q > 0;
  }

  // By one thread.
  __device__ __forceinline__ void init_barriers() const {
    for (int step = 0; step < Shape::kSteps; ++step) init_barrier(barriers_ + step);
  }
  __device__ __forceinline__ void begin_loads() const {
    if (!is_any_) return;
#pragma unroll 1
    for (int step = 0; step < min(Shape::kSteps, kStepsAhead); ++step) load(step);
  }

  // By all threads of the block.
  __device__ __forceinline__ void compute() const {
    if (!is_any_) return;
    const int warpgroup = __shfl_sync(0xFFFFFFFF, threadIdx.x / kWarpgroupSize, 0);
    float s[kKeys / 2];
#pragma unroll
    for (int step = 0; step < Shape::kScoreSteps; ++step) {
      wait_for_phase(barriers_ + step, 0);
      fence_wgmma();
      multiply_by_rows<T, kKeys, kKeys, kBoxColumns>(s, place_of(2 * step), 64 * warpgroup,
                                                     place_of(2 * step + 1), step > 0);
      commit_wgmma();
      if (step + kStepsAhead < Shape::kSteps) {
        wait_for_wgmma<0>(s);
        __syncthreads();
        if (threadIdx.x == 0) load(step + kStepsAhead);
      }
    }
    wait_for_wgmma<0>(s);

    mask(warpgroup, s);
    Rows rows = {{-INFINITY, -INFINITY}, {0.0f, 0.0f}};
    float rescale[2];  // there is nothing before
    weigh<0>(call_.factor, s, rows, rescale);
    uint32_t p[kKeys / 4];
    pack_all<T>(p, s);

    float factor[2];
    uint32_t packed[Shape::kHeadDimV / 4];
#pragma unroll
    for (int first = 0; first < Shape::kHeadDimV; first += kColumns) {
      char* const values = place_of(2 * Shape::kScoreSteps + first / kBoxColumns);
      wait_for_phase(barriers_ + Shape::kScoreSteps + first / kColumns, 0);
      if (kVarlen && kKeys > tile_.seq_k) {
        // With a barrier that is known at run time alone a block counts as one that has all 16.
        clear_rows_from<Values, kKeys>(values, tile_.seq_k,
                                       Shape::kWarpgroups == 1 ? 0 : 1 + warpgroup);
      }
      float o[kColumns / 2];
      fence_wgmma();
      multiply_by_columns<T, kKeys, kColumns>(o, p, values);
      commit_wgmma();
      if (first == 0) finish_rows<Shape, kVarlen>(call_, tile_, warpgroup, rows, factor);
      wait_for_wgmma<0>(o);
#pragma unroll
      for (int i = 0; i < kColumns / 4; ++i) {
        packed[first / 4 + i] =
            detail::pack_pair<T>(o[2 * i] * factor[i % 2], o[2 * i + 1] * factor[i % 2]);
      }
      __syncthreads();
      write_rows<T, Shape, kVarlen, kColumns>(call_, tile_,
                                              values + warpgroup * SharedTile<64, kColumns>::kBytes,
                                              warpgroup, first, packed);
    }
  }

 private:
  static constexpr int kKeys = Shape::kKeys, kColumns = Shape::kColumns;
  using Values = SharedTile<kKeys, kColumns>;  // of a step
  static constexpr int kStepsAhead = (Shape::kPlaces + 1) / 2;

  __device__ __forceinline__ char* place_of(int chunk) const {
    return places_ + chunk % Shape::kPlaces * Shape::Chunk::kBytes;
  }

  __device__ __forceinline__ void load(int step) const {
    int in_group = tile_.head;
    const int kv_head = call_.by_group.divide(&in_group);
    const int batch = kVarlen ? 0 : tile_.batch;
    uint64_t* const barrier = barriers_ + step;
    if (step < Shape::kScoreSteps) {
      expect_bytes(barrier, 2 * Shape::Chunk::kBytes);
      copy_box_to_shared(place_of(2 * step), &call_.q, step * kBoxColumns, tile_.q_row, tile_.head,
                         batch, barrier);
      copy_box_to_shared(place_of(2 * step + 1), &call_.k, step * kBoxColumns, tile_.k_row, kv_head,
                         batch, barrier);
    } else {
      expect_bytes(barrier, Values::kBytes);
#pragma unroll
      for (int i = 0; i < Values::kChunks; ++i) {
        copy_box_to_shared(place_of(2 * step + i), &call_.v,
                           (step - Shape::kScoreSteps) * kColumns + i * kBoxColumns, tile_.k_row,
                           kv_head, batch, barrier);
      }
    }
  }

  __device__ __forceinline__ void mask(int warpgroup, float (&s)[kKeys / 2]) const {
    const int first = 64 * warpgroup + tile_.seq_k - tile_.seq_q;
    const bool ends = call_.window_right >= 0 && first + call_.window_right + 1 < kKeys;
    if (kKeys > tile_.seq_k || ends) mask_scores<Shape, true>(call_, s, tile_.seq_k, first, 0);
    if (call_.window_left >= 0 && first + 63 > call_.window_left) {
      mask_scores<Shape, false>(call_, s, tile_.seq_k, first, 0);
    }
  }

  const AttentionSm90Parameters& call_;
  char* const places_;
  uint64_t* const barriers_;  // one a step
  Tile tile_;
  bool is_any_;
};

}  // namespace attention_sm90

#endif

namespace {

// Without wgmma it has no body, and is never launched: attention_sm90_serves().
template <typename T, typename Shape, bool kVarlen>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocks)
    attention_sm90_one_tile_kernel(const __grid_constant__ AttentionSm90Parameters call) {
#if CUDAOPS_HAS_WGMMA
  using OneTile = attention_sm90::OneTile<T, Shape, kVarlen>;
  extern __shared__ __align__(1024) char shared[];
  if (threadIdx.x == 0) {
    for (int n = 0; n < Shape::kTiles; ++n) OneTile(call, shared, n).init_barriers();
    fence_barriers();
#pragma unroll 1
    for (int n = 0; n < Shape::kTiles; ++n) OneTile(call, shared, n).begin_loads();
  }
  __syncthreads();
#pragma unroll 1
  for (int n = 0; n < Shape::kTiles; ++n) OneTile(call, shared, n).compute();
  if (threadIdx.x % 32 == 0) wait_for_reads();
#endif
}

using OneTileKernel = void (*)(AttentionSm90Parameters);
template <typename Shape, bool kVarlen>
OneTileKernel kernel_of(DType dtype) {
  return dtype == DType::kFloat16 ? &attention_sm90_one_tile_kernel<__half, Shape, kVarlen>
                                  : &attention_sm90_one_tile_kernel<bfloat16, Shape, kVarlen>;
}

template <typename Shape>
void launch_shape(const Attention& call, cudaStream_t stream) {
  const auto by = [](int64_t n) { return detail::Divider(static_cast<uint32_t>(n)); };
  const int64_t tiles = call.batch * call.heads;
  AttentionSm90Parameters parameters{};
  describe(call, Shape::kKeys, Shape::kKeys, &parameters);
  describe_outputs(call, &parameters);
  encode_map(call, MappedTensors(call).o, 16, &parameters.o);  // a warp writes 16 rows
  parameters.kept = 1.0f;
  parameters.num_items = static_cast<int>(tiles);
  parameters.by_heads = by(call.heads);
  parameters.by_group = by(call.heads / call.kv_heads);

  const OneTileKernel kernel = call.cu_seqlens_q != nullptr ? kernel_of<Shape, true>(call.dtype)
                                                            : kernel_of<Shape, false>(call.dtype);
  const auto function = reinterpret_cast<const void*>(kernel);
  CUDAOPS_CHECK(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     Shape::kSharedBytes));
  CUDAOPS_CHECK(cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutMaxShared));
  // Few tiles have a block each.
  const bool are_few = tiles <= int64_t{Shape::kBlocks} * num_multiprocessors();
  const int64_t blocks = are_few ? tiles : divide_up(tiles, Shape::kTiles);
  kernel<<<static_cast<unsigned int>(blocks), Shape::kThreads, Shape::kSharedBytes, stream>>>(
      parameters);
  CUDAOPS_CHECK_LAUNCH();
}

}  // namespace

// Of 64 queries and keys a warpgroup has all, and blocks are many; of more, two share the keys.
void launch_attention_sm90_one_tile(const Attention& call, void* stream) {
  const int64_t longest = std::max(call.seq_q, call.seq_k);
  if (longest > kMostOfOneTile || changes_scores(call)) CUDAOPS_CHECK(cudaErrorInvalidValue);
  const auto launch = [&](auto shape) {
    launch_shape<decltype(shape)>(call, static_cast<cudaStream_t>(stream));
  };
  const int64_t larger = std::max(call.head_dim, call.head_dim_v);
  if (longest <= 64) {
    if (larger <= 64) return launch(AttentionSm90OneTileShape<64, 64, 3, 1, 6>());
    if (larger <= 128) return launch(AttentionSm90OneTileShape<128, 64, 6, 1, 4>());
    return launch(AttentionSm90OneTileShape<256, 64, 8, 1, 3>());
  }
  if (larger <= 64) return launch(AttentionSm90OneTileShape<64, 128, 3, 2, 2>());
  if (larger <= 128) return launch(AttentionSm90OneTileShape<128, 128, 6, 1, 2>());
  launch(AttentionSm90OneTileShape<256, 128, 6, 1, 2>());
}

}  // namespace cudaops_kernels
