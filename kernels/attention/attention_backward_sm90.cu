// SPDX-License-Identifier: Apache-2.0
// Which calls the backward kernels for sm_90a serve, and what comes before and behind the kernel of
// attention_backward_sm90.cuh: delta, lse as it reads it, and zeros where it adds up dQ; then dQ in
// rows.
#include "../common/hopper.cuh"
#include "attention_backward_sm90.h"
#include "attention_backward_sm90_tiles.cuh"
#include "attention_dropout.cuh"
#include "attention_sm90.h"
#include "attention_tiles.cuh"

namespace cudaops_kernels {

// Defined in attention_backward_sm90.cuh, for each shape of its tiles in shards (ops.cmake).
template <typename Shape>
void launch_attention_backward_sm90_of(DType dtype,
                                       const AttentionBackwardSm90Parameters& parameters,
                                       cudaStream_t stream);

namespace {

constexpr int kRowThreads = 256;

// What the kernels around the main one have to know of a shape.
struct Layout {
  int queries;   // of a block
  int sum_rows;  // of dQ^T, 64 for each chunk of columns
  int part_sums, sum_parts;
  bool splits_queries;
  int64_t blocks;  // of a head

  CUDAOPS_HOST_DEVICE int64_t block_sums() const { return int64_t{queries} * sum_rows; }
  int64_t all_blocks(const Attention& call) const {
    return blocks * call.heads * (call.cu_seqlens_q == nullptr ? call.batch : 1);
  }
};

template <typename Shape>
Layout layout_of(const Attention& call) {
  return {Shape::kQueries,
          64 * Shape::KTile::kChunks,
          Shape::kSums,
          Shape::kSumParts,
          Shape::kSplitsQueries,
          call.cu_seqlens_q == nullptr
              ? divide_up(call.seq_q, Shape::kQueries)
              : first_query_block(call.total_q, call.batch, Shape::kQueries)};
}

// In the workspace, one after the other: sums of dQ, lse and delta of all query blocks, a counter,
// and, where dQ is added up in a fixed order, whose turn it is.
struct BackwardWorkspace {
  float* sums;
  float* lse;
  float* delta;
  int* next_tile;
  int* turns;

  BackwardWorkspace(const AttentionBackward& call, const Layout& layout, void* data) {
    const int64_t blocks = layout.all_blocks(call.forward);
    sums = static_cast<float*>(data);
    lse = sums + blocks * layout.block_sums();
    delta = lse + blocks * layout.queries;
    next_tile = reinterpret_cast<int*>(delta + blocks * layout.queries);
    turns = call.deterministic ? next_tile + 1 : nullptr;
  }
  static int64_t bytes(const AttentionBackward& call, const Layout& layout) {
    const int64_t of_block =
        layout.block_sums() + 2 * layout.queries + (call.deterministic ? layout.sum_parts : 0);
    return (layout.all_blocks(call.forward) * of_block + 1) * 4;
  }
};

// A query block of one head.
struct QueryBlock {
  int64_t head, batch, first_query;
  int64_t index;  // in the workspace
  AttentionSequence sequence;

  __device__ __forceinline__ QueryBlock(const Attention& call, const Layout& layout,
                                        int64_t num_blocks)
      : head(blockIdx.x / num_blocks % call.heads),
        batch(blockIdx.x / num_blocks / call.heads),
        first_query(blockIdx.x % num_blocks * layout.queries),
        sequence(call, batch) {
    const int64_t block = blockIdx.x % num_blocks;
    if (call.cu_seqlens_q == nullptr) {
      index = (batch * call.heads + head) * layout.blocks + block;
    } else {
      index = head * layout.blocks + block +
              first_query_block(call.cu_seqlens_q[batch], batch, layout.queries);
    }
  }
};

// A group of lanes a row of 8 * kLanes elements or fewer.
template <typename T>
__global__ void __launch_bounds__(kRowThreads)
    prepare_kernel(const AttentionBackward call, const Layout layout,
                   const BackwardWorkspace workspace, int64_t num_blocks) {
  constexpr int kLanes = 16;
  let_next_kernel_start();
  if (blockIdx.x == 0 && threadIdx.x == 0) *workspace.next_tile = 0;
  const Attention& forward = call.forward;
  const QueryBlock block(forward, layout, num_blocks);
  if (block.first_query >= block.sequence.seq_q) return;
  const int64_t sums = layout.block_sums();
  float4* const zeros = reinterpret_cast<float4*>(workspace.sums + block.index * sums);
  for (int64_t i = threadIdx.x; i < sums / 4; i += kRowThreads) {
    zeros[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  }
  if (workspace.turns != nullptr && threadIdx.x < layout.sum_parts) {
    workspace.turns[block.index * layout.sum_parts + threadIdx.x] = 0;
  }
  const int lane = threadIdx.x % kLanes;
  const int64_t line = block.sequence.lse + block.head * block.sequence.lse_head_stride;
  const int64_t first_grad =
      attention_detail::first_of(call.grad_output, block.batch, forward.cu_seqlens_q);
  const T* const output = static_cast<const T*>(forward.output.data) + block.sequence.output +
                          block.head * forward.output.head_stride;
  const T* const grad = static_cast<const T*>(call.grad_output.data) + first_grad +
                        block.head * call.grad_output.head_stride;
  for (int i = threadIdx.x / kLanes; i < layout.queries; i += kRowThreads / kLanes) {
    const int64_t query = block.first_query + i;
    const bool is_there = query < block.sequence.seq_q;
    float sum = 0.0f;
    if (is_there) {
      for (int column = lane * 8; column < forward.head_dim_v; column += kLanes * 8) {
        const Numbers<T> a =
            unpack<T>(load_aligned(output + query * forward.output.seq_stride + column));
        const Numbers<T> b =
            unpack<T>(load_aligned(grad + query * call.grad_output.seq_stride + column));
#pragma unroll
        for (int k = 0; k < 8; ++k) sum = fmaf(a[k], b[k], sum);
      }
    }
    sum = attention_detail::sum_of_lanes(sum, kLanes);
    if (lane != 0) continue;
    float lse = INFINITY;
    if (is_there) {
      if (call.grad_lse != nullptr) sum -= static_cast<const float*>(call.grad_lse)[line + query];
      static_cast<float*>(call.delta)[line + query] = sum;
      // No score of a query with an lse of minus infinity is visible.
      const float natural = static_cast<const float*>(forward.lse)[line + query];
      if (natural != -INFINITY) lse = natural * kLog2E;
    }
    workspace.lse[block.index * layout.queries + i] = lse;
    workspace.delta[block.index * layout.queries + i] = sum;
  }
}

// Sums of dQ, which lie in the order of the main kernel's registers, to rows.
template <typename T>
__global__ void __launch_bounds__(kRowThreads)
    finish_kernel(const AttentionBackward call, const Layout layout,
                  const BackwardWorkspace workspace, int64_t num_blocks) {
  // Rows of queries; an odd number of 16 bytes between them.
  extern __shared__ __align__(16) char shared[];
  wait_for_kernels_before();
  T* const rows = reinterpret_cast<T*>(shared);
  const int stride = layout.sum_rows + 8;
  const Attention& forward = call.forward;
  const QueryBlock block(forward, layout, num_blocks);
  const int64_t left = block.sequence.seq_q - block.first_query;
  if (left <= 0) return;
  const int sums = static_cast<int>(layout.block_sums());
  const float4* const from = reinterpret_cast<const float4*>(workspace.sums + block.index * sums);
  const float scale = static_cast<float>(forward.scale);
  for (int i = threadIdx.x; i < sums / 4; i += kRowThreads) {
    const float4 four = from[i];
    const int part = i / (layout.part_sums / 4), in_part = i - part * (layout.part_sums / 4);
    const int thread = in_part % kWarpgroupSize;
    const int column = (layout.splits_queries ? 0 : part * 64) + thread / 32 * 16 + thread % 32 / 4;
    const int row =
        (layout.splits_queries ? part * 64 : 0) + in_part / kWarpgroupSize * 8 + thread % 4 * 2;
    T* const to = rows + row * stride + column;
    to[0] = from_float<T>(four.x * scale);
    to[stride] = from_float<T>(four.y * scale);
    to[8] = from_float<T>(four.z * scale);
    to[stride + 8] = from_float<T>(four.w * scale);
  }
  __syncthreads();
  const int64_t first = attention_detail::first_of(call.grad_q, block.batch, forward.cu_seqlens_q);
  T* const grad_q = static_cast<T*>(call.grad_q.data) + first +
                    block.head * call.grad_q.head_stride +
                    block.first_query * call.grad_q.seq_stride;
  const int vectors = static_cast<int>(forward.head_dim) / 8;
  const int num_rows = left < layout.queries ? static_cast<int>(left) : layout.queries;
  for (int i = threadIdx.x; i < num_rows * vectors; i += kRowThreads) {
    const int row = i / vectors, column = (i - row * vectors) * 8;
    *reinterpret_cast<uint4*>(grad_q + row * call.grad_q.seq_stride + column) =
        *reinterpret_cast<const uint4*>(rows + row * stride + column);
  }
}

MappedTensor mapped_grad_output(const AttentionBackward& call) {
  return mapped_queries(call.forward, call.grad_output, call.forward.head_dim_v);
}

template <typename Shape>
AttentionBackwardSm90Parameters parameters_of(const AttentionBackward& call, const Layout& layout,
                                              const BackwardWorkspace& workspace) {
  const Attention& forward = call.forward;
  AttentionBackwardSm90Parameters parameters{};
  describe(forward, Shape::kQueries, Shape::kKeys, &parameters);
  encode_map(forward, mapped_grad_output(call), Shape::kQueries, &parameters.grad_output);
  parameters.lse = workspace.lse;
  parameters.delta = workspace.delta;
  parameters.sums = workspace.sums;
  parameters.next_tile = workspace.next_tile;
  parameters.turns = workspace.turns;
  describe_options(forward, &parameters);
  parameters.bias_dtype = forward.bias_dtype;
  parameters.bias_key_stride = forward.bias_key_stride;
  parameters.grad_bias = call.grad_bias;
  parameters.grad_bias_dtype = call.grad_bias_dtype;
  parameters.grad_k = call.grad_k;
  parameters.grad_v = call.grad_v;
  parameters.group = static_cast<int>(forward.heads / forward.kv_heads);
  parameters.head_dim = static_cast<int>(forward.head_dim);
  parameters.query_blocks = static_cast<int>(layout.blocks);
  parameters.scale = static_cast<float>(forward.scale);
  const auto by = [](int64_t n) { return detail::Divider(static_cast<uint32_t>(n)); };
  const int64_t key_tiles = divide_up(forward.seq_k, Shape::kKeys);
  const int64_t all_heads = forward.batch * forward.kv_heads;
  parameters.key_tiles = static_cast<int>(key_tiles);
  parameters.num_tiles = static_cast<int>(key_tiles * all_heads);
  parameters.by_key_tiles = by(key_tiles);
  parameters.by_heads = by(forward.kv_heads);
  if (parameters.is_masked()) {
    // Heads whose Q, dO and sums of dQ are a small part of the L2 cache: blocks work at several
    // sections at once.
    constexpr int64_t kSectionBytes = int64_t{8} << 20;
    const int64_t bytes = forward.heads / forward.kv_heads * forward.seq_q *
                          (2 * (forward.head_dim + forward.head_dim_v) + 4 * layout.sum_rows);
    divide_into_sections(all_heads,
                         std::max<int64_t>(1, kSectionBytes / std::max<int64_t>(1, bytes)),
                         key_tiles, &parameters);
  }
  return parameters;
}

template <typename Shape>
void launch_shape(const AttentionBackward& call, void* data, cudaStream_t stream) {
  const Attention& forward = call.forward;
  const Layout layout = layout_of<Shape>(forward);
  const BackwardWorkspace workspace(call, layout, data);
  const int64_t num_blocks = divide_up(forward.seq_q, layout.queries);
  const auto grid = static_cast<unsigned int>(num_blocks * forward.heads * forward.batch);
  const bool is_half = forward.dtype == DType::kFloat16;
  const auto prepare = is_half ? &prepare_kernel<__half> : &prepare_kernel<bfloat16>;
  prepare<<<grid, kRowThreads, 0, stream>>>(call, layout, workspace, num_blocks);
  CUDAOPS_CHECK_LAUNCH();

  launch_attention_backward_sm90_of<Shape>(forward.dtype,
                                           parameters_of<Shape>(call, layout, workspace), stream);

  const auto finish = is_half ? &finish_kernel<__half> : &finish_kernel<bfloat16>;
  const int bytes = layout.queries * (layout.sum_rows + 8) * 2;
  launch_overlapping_with(finish, dim3(grid), dim3(kRowThreads), bytes, stream, call, layout,
                          workspace, num_blocks);
}

// Whether the call is one for shapes WithBiasOfKeys: they have no other options, and write
// derivatives by the bias in float32 or in vectors.
bool has_bias_alone(const AttentionBackward& call) {
  const Attention& forward = call.forward;
  return has_bias_vectors(forward) && forward.alibi_slopes == nullptr && forward.dropout_p == 0 &&
         !call.deterministic &&
         (call.grad_bias == nullptr || call.grad_bias_dtype == DType::kFloat32 ||
          (forward.seq_k % 8 == 0 && reinterpret_cast<uintptr_t>(call.grad_bias) % 16 == 0));
}

// Calls with the shape of this call's tiles.
template <typename Call>
auto for_shape(const AttentionBackward& backward, const Call& with) {
  const Attention& call = backward.forward;
  const int64_t larger = std::max(call.head_dim, call.head_dim_v);
  if (has_bias_alone(backward)) {
    if (larger <= 64) return with(AttentionBackwardSm90Shape64Bias());
    if (larger <= 128) return with(AttentionBackwardSm90Shape128Bias());
    return with(AttentionBackwardSm90Shape256Bias());
  }
  if (larger <= 64) return with(AttentionBackwardSm90Shape64());
  if (larger <= 96) return with(AttentionBackwardSm90Shape96());
  if (larger <= 128) return with(AttentionBackwardSm90Shape128());
  if (larger <= 192) {
    // Its registers don't suffice for a bias, or for weights with and without dropout.
    if (call.head_dim_v <= 128 && call.dropout_p == 0 && call.bias == nullptr) {
      return with(AttentionBackwardSm90Shape192By128());
    }
    return with(AttentionBackwardSm90Shape192());
  }
  return with(AttentionBackwardSm90Shape256());
}

}  // namespace

bool attention_backward_sm90_serves(const AttentionBackward& call) {
  using attention_detail::has_whole_units;
  constexpr int64_t kMaxBlocks = int64_t{1} << 29;
  // Asked without what that function knows nothing of. The slope of a softcap is found from
  // weights, which have nothing else in them then.
  Attention forward = call.forward;
  const bool has_terms = forward.alibi_slopes != nullptr || forward.bias != nullptr;
  if (has_terms && forward.softcap != 0) return false;
  forward.alibi_slopes = nullptr;
  forward.bias = nullptr;
  forward.dropout_p = 0;
  return forward.seq_k > 0 && attention_sm90_serves(forward) &&
         forward.batch * forward.kv_heads * divide_up(forward.seq_k, 64) < kMaxBlocks &&
         forward.heads * (forward.batch + 1) *
                 divide_up(forward.cu_seqlens_q == nullptr ? forward.seq_q : forward.total_q, 64) <
             kMaxBlocks &&
         can_be_mapped(mapped_grad_output(call)) &&
         has_whole_units(call.grad_q, forward.head_dim) &&
         has_whole_units(call.grad_k, forward.head_dim) &&
         has_whole_units(call.grad_v, forward.head_dim_v);
}

int64_t attention_backward_sm90_workspace_bytes(const AttentionBackward& call) {
  const Attention& forward = call.forward;
  return for_shape(call, [&](auto shape) {
    return BackwardWorkspace::bytes(call, layout_of<decltype(shape)>(forward));
  });
}

void launch_attention_backward_sm90(const AttentionBackward& call, void* workspace, void* stream) {
  for_shape(call, [&](auto shape) {
    launch_shape<decltype(shape)>(call, workspace, static_cast<cudaStream_t>(stream));
  });
}

}  // namespace cudaops_kernels
