// SPDX-License-Identifier: Apache-2.0
// What attention's plain kernels share: tiles of 64 x 64 scores, in float32 on ordinary arithmetic,
// by blocks of 16 x 16 threads that have four rows and four columns each. For any device.
#pragma once

#include <cudaops/check.h>
#include <cudaops/gpu_compat.h>

#include <cstdint>
#include <type_traits>

#include "../common/activations.h"
#include "../common/device_types.cuh"
#include "../common/unaligned.cuh"
#include "attention.h"
#include "attention_dropout.h"

namespace cudaops_kernels {
namespace attention_detail {

// Over groups of `num_lanes` neighbours, a power of two up to 32.
__device__ __forceinline__ float sum_of_lanes(float sum, int num_lanes) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    if (distance < num_lanes) sum += cudaops::shfl_xor(sum, distance, 32);
  }
  return sum;
}

constexpr int kTile = 64;
constexpr int kThreads = 256;
constexpr int kDepth = 32;          // of products, in shared memory at a time
constexpr int kLines = 16;          // of what is summed up with weights, at a time
constexpr int kStride = kTile + 4;  // still aligned to 16 bytes; columns in other banks
constexpr int kMaxWidth = static_cast<int>(Attention::kMaxHeadDim);

// Blocks of a multiprocessor. Of two, one computes while the other waits for its loads, which is
// worth more than registers as long as sums are few. sm_75 has shared memory for one.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
template <int>
constexpr int kMinBlocks = 1;
#else
template <int kWidth>
constexpr int kMinBlocks = kWidth <= 64 ? 2 : 1;
#endif

struct alignas(16) Shared {
  union {
    struct {
      float a[kDepth][kStride], b[kDepth][kStride];
    } products;
    float lines[kLines][kMaxWidth];
  } staged;
  float weights[kTile][kStride];  // [column][row]
};

// body(element) with a number of the type.
template <typename Body>
__device__ __forceinline__ void for_element_type(DType dtype, const Body& body) {
  switch (dtype) {
    case DType::kFloat32:
      return body(float());
    case DType::kFloat16:
      return body(__half());
    case DType::kBFloat16:
      return body(bfloat16());
  }
}

// Rows of a tensor, eight numbers at a time; what lies behind their number or width is 0. The plain
// kernels are told the type when they run: a kernel for each would take three times as long to
// compile, and beside the products loads are few.
struct Rows64 {
  static constexpr int kNumbers = 8;
  const void* data;
  int64_t first, stride;  // elements
  int num_rows, width;
  DType dtype;
  bool is_aligned;  // 16 bytes

  __device__ __forceinline__ Rows64(DType dtype, const AttentionTensor& tensor, int64_t sequence,
                                    int64_t head, int64_t first_row, int64_t end_row,
                                    int64_t width_of_head)
      : data(tensor.data),
        first(sequence + head * tensor.head_stride + first_row * tensor.seq_stride),
        stride(tensor.seq_stride),
        num_rows(end_row - first_row < kTile ? static_cast<int>(end_row - first_row) : kTile),
        width(static_cast<int>(width_of_head)),
        dtype(dtype) {
    const int64_t element_bytes = dtype == DType::kFloat32 ? 4 : 2;
    is_aligned = (reinterpret_cast<uintptr_t>(data) + first * element_bytes) % 16 == 0 &&
                 stride * element_bytes % 16 == 0;
  }

  __device__ __forceinline__ Floats<kNumbers> numbers(int row, int column) const {
    Floats<kNumbers> numbers = {};
    const int count = width - column;
    if (row >= num_rows || count <= 0) return numbers;
    for_element_type(dtype, [&](auto element) {
      using T = decltype(element);
      constexpr int kSize = Vector<T>::kSize;
      const T* const from = static_cast<const T*>(data) + first + row * stride + column;
#pragma unroll
      for (int begin = 0; begin < kNumbers; begin += kSize) {
        const Packed packed = is_aligned && count >= begin + kSize
                                  ? load_aligned(from + begin)
                                  : load_unaligned(from + begin, 0, count - begin);
        const Numbers<T> loaded = unpack<T>(packed);
#pragma unroll
        for (int k = 0; k < kSize; ++k) numbers[begin + k] = loaded[k];
      }
    });
    return numbers;
  }
};

__device__ __forceinline__ void stage_transposed(const Rows64& rows, int first,
                                                 float (&to)[kDepth][kStride]) {
  constexpr int kPerRow = kDepth / Rows64::kNumbers;
  static_assert(kTile * kPerRow == kThreads, "a thread has eight numbers");
  const int row = static_cast<int>(threadIdx.x) / kPerRow;
  const int column = static_cast<int>(threadIdx.x) % kPerRow * Rows64::kNumbers;
  const Floats<Rows64::kNumbers> numbers = rows.numbers(row, first + column);
#pragma unroll
  for (int k = 0; k < Rows64::kNumbers; ++k) to[column + k][row] = numbers[k];
}

// Four rows and four columns of a thread.
struct Scores {
  float at[4][4];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) at[i][j] = 0;
    }
  }
  template <typename Body>
  __device__ __forceinline__ void for_each(const Body& body) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) body(i, j, at[i][j]);
    }
  }
};

__device__ __forceinline__ int thread_row() { return static_cast<int>(threadIdx.x) / 16 * 4; }
__device__ __forceinline__ int thread_column() { return static_cast<int>(threadIdx.x) % 16 * 4; }

__device__ __forceinline__ float element(const float4& four, int i) {
  return i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w;
}

// sums[row][column] = a[row] · b[column].
__device__ __forceinline__ void find_products(const Rows64& a, const Rows64& b, Shared& shared,
                                              Scores& sums) {
  auto& staged = shared.staged.products;
  sums.clear();
#pragma unroll 1
  for (int first = 0; first < a.width; first += kDepth) {
    __syncthreads();
    stage_transposed(a, first, staged.a);
    stage_transposed(b, first, staged.b);
    __syncthreads();
#pragma unroll 8
    for (int depth = 0; depth < kDepth; ++depth) {
      const float4 x = *reinterpret_cast<const float4*>(&staged.a[depth][thread_row()]);
      const float4 y = *reinterpret_cast<const float4*>(&staged.b[depth][thread_column()]);
      sums.for_each([&](int i, int j, float& sum) { sum += element(x, i) * element(y, j); });
    }
  }
}

// For add_weighted(), which waits for all threads first.
__device__ __forceinline__ void share_weights(const Scores& weights, Shared& shared) {
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    *reinterpret_cast<float4*>(&shared.weights[thread_column() + j][thread_row()]) =
        make_float4(weights.at[0][j], weights.at[1][j], weights.at[2][j], weights.at[3][j]);
  }
}

// Four rows, of which a thread has four columns of each 64.
template <int kWidth>
struct RowSums {
  static constexpr int kParts = kWidth / 64;
  float at[4][kParts][4];

  template <typename Body>
  __device__ __forceinline__ void for_each(const Body& body) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
#pragma unroll
        for (int j = 0; j < 4; ++j) body(i, part * 64 + thread_column() + j, at[i][part][j]);
      }
    }
  }
  __device__ __forceinline__ void clear() {
    for_each([](int, int, float& sum) { sum = 0; });
  }
};

// sums[row] += sum over the columns of weights[row][column] * lines[column].
template <int kWidth>
__device__ __forceinline__ void add_weighted(const Rows64& lines, Shared& shared,
                                             RowSums<kWidth>& sums) {
  constexpr int kSize = Rows64::kNumbers, kPerRow = kWidth / kSize;
  auto& staged = shared.staged.lines;
#pragma unroll 1
  for (int first = 0; first < lines.num_rows; first += kLines) {
    __syncthreads();
#pragma unroll
    for (int round = 0; round < (kLines * kPerRow + kThreads - 1) / kThreads; ++round) {
      const int i = round * kThreads + static_cast<int>(threadIdx.x);
      if (i >= kLines * kPerRow) break;
      const int row = i / kPerRow, column = i % kPerRow * kSize;
      const Floats<kSize> numbers = lines.numbers(first + row, column);
#pragma unroll
      for (int k = 0; k < kSize; k += 4) {
        *reinterpret_cast<float4*>(&staged[row][column + k]) =
            make_float4(numbers[k], numbers[k + 1], numbers[k + 2], numbers[k + 3]);
      }
    }
    __syncthreads();
#pragma unroll 4
    for (int line = 0; line < kLines; ++line) {
      const float4 weight =
          *reinterpret_cast<const float4*>(&shared.weights[first + line][thread_row()]);
#pragma unroll
      for (int part = 0; part < RowSums<kWidth>::kParts; ++part) {
        const float4 number =
            *reinterpret_cast<const float4*>(&staged[line][part * 64 + thread_column()]);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            sums.at[i][part][j] += element(weight, i) * element(number, j);
          }
        }
      }
    }
  }
}

template <int kWidth>
__device__ __forceinline__ void store_rows(RowSums<kWidth>& sums, DType dtype,
                                           const AttentionOutput& tensor, int64_t sequence,
                                           int64_t head, int64_t first, int64_t end, int64_t width,
                                           const float (&factor)[4]) {
  for_element_type(dtype, [&](auto element) {
    using T = decltype(element);
    T* const data = static_cast<T*>(tensor.data) + sequence + head * tensor.head_stride;
    sums.for_each([&](int i, int column, float& sum) {
      const int64_t row = first + thread_row() + i;
      if (row < end && column < width) {
        data[row * tensor.seq_stride + column] = from_float<T>(sum * factor[i]);
      }
    });
  });
}

__device__ __forceinline__ float number_at(DType dtype, const void* data, int64_t index) {
  switch (dtype) {
    case DType::kFloat32:
      return static_cast<const float*>(data)[index];
    case DType::kFloat16:
      return to_float(static_cast<const __half*>(data)[index]);
    case DType::kBFloat16:
      return to_float(static_cast<const bfloat16*>(data)[index]);
  }
  return 0;
}

__device__ __forceinline__ void store_number(DType dtype, void* data, int64_t index, float number) {
  switch (dtype) {
    case DType::kFloat32:
      static_cast<float*>(data)[index] = number;
      return;
    case DType::kFloat16:
      static_cast<__half*>(data)[index] = from_float<__half>(number);
      return;
    case DType::kBFloat16:
      static_cast<bfloat16*>(data)[index] = from_float<bfloat16>(number);
      return;
  }
}

// What weights of a query need, in powers of two; of one that is not there, or that sees no key,
// weights are 0.
struct QueryStatistics {
  float lse, delta;

  __device__ __forceinline__ void load(const AttentionBackward& call, int64_t first, int64_t query,
                                       int64_t end) {
    lse = INFINITY;
    delta = 0;
    if (query >= end) return;
    delta = static_cast<const float*>(call.delta)[first + query];
    const float natural = static_cast<const float*>(call.forward.lse)[first + query];
    if (natural != -INFINITY) lse = natural * kLog2E;
  }
};

// Where a sequence starts in a tensor that the forward pass doesn't know.
template <typename Tensor>
__device__ __forceinline__ int64_t first_of(const Tensor& tensor, int64_t batch,
                                            const int32_t* cu_seqlens) {
  return cu_seqlens == nullptr ? batch * tensor.batch_stride
                               : cu_seqlens[batch] * tensor.seq_stride;
}

// A pair of tiles: of queries and of keys of one head.
struct Pair {
  const Attention& call;
  const AttentionSequence& sequence;
  int64_t batch, head;
  int64_t first_query, first_key;

  // From a product q·k to the score, in powers of two; minus infinity where the key is not visible.
  // slope: of the softcap, before that.
  __device__ __forceinline__ float score(float product, int query_of_tile, int key_of_tile,
                                         float* slope) const {
    const int64_t query = first_query + query_of_tile, key = first_key + key_of_tile;
    const int64_t distance = key - (query + sequence.seq_k - sequence.seq_q);
    float score = product * static_cast<float>(call.scale);
    if (call.softcap != 0) {
      const float cap = static_cast<float>(call.softcap);
      const float t = tanhf(score / cap);
      score = cap * t;
      *slope = 1 - t * t;
    }
    const bool is_visible = query < sequence.seq_q && key < sequence.seq_k &&
                            (call.window_left < 0 || distance >= -call.window_left) &&
                            (call.window_right < 0 || distance <= call.window_right);
    if (!is_visible) return -INFINITY;
    if (call.alibi_slopes != nullptr) {
      score -= call.alibi_slopes[batch * call.alibi_batch_stride + head] *
               fabsf(static_cast<float>(distance));
    }
    if (call.bias != nullptr) {
      score += number_at(call.bias_dtype, call.bias,
                         sequence.bias + head * call.bias_head_stride +
                             query * call.bias_query_stride + key * call.bias_key_stride);
    }
    return score * kLog2E;
  }
};

// Which of a thread's weights are dropped, a bit each: i * 4 + j. kRowsAreKeys: else queries.
template <bool kRowsAreKeys>
__device__ __forceinline__ uint32_t dropped_of_thread(const AttentionDropout& dropout,
                                                      const Pair& pair) {
  const int64_t query = pair.first_query + (kRowsAreKeys ? thread_column() : thread_row());
  const int64_t key = pair.first_key + (kRowsAreKeys ? thread_row() : thread_column());
  uint32_t dropped = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; j += 2) {
      const Philox words = dropout.words(pair.batch, pair.head, query + i, key + j);
      const int query_half = static_cast<int>(query / 8 % 2);
      const int key_half = static_cast<int>(key / 8 % 2);
#pragma unroll
      for (int parity = 0; parity < 2; ++parity) {
        const int bit = kRowsAreKeys ? (j + parity) * 4 + i : i * 4 + j + parity;
        dropped |= dropout.is_dropped(words, query_half, key_half, parity) ? 1u << bit : 0u;
      }
    }
  }
  return dropped;
}

// One block for each tile of rows of each head of each sequence; the last tiles, which causal
// attention makes the longest, first.
template <int kRows>
struct Place {
  int64_t batch, head, tile, num_tiles;

  __device__ __forceinline__ Place(int64_t seq, int64_t heads) {
    num_tiles = num_tiles_of(seq);
    const int64_t index = blockIdx.x;
    tile = num_tiles - 1 - index % num_tiles;
    head = index / num_tiles % heads;
    batch = index / num_tiles / heads;
  }
  CUDAOPS_HOST_DEVICE static int64_t num_tiles_of(int64_t seq) {
    return seq <= kRows ? 1 : (seq + kRows - 1) / kRows;
  }
  static unsigned int num_blocks(int64_t batch, int64_t seq, int64_t heads) {
    const int64_t blocks = batch * heads * num_tiles_of(seq);
    if (blocks > 0x7fffffff) {
      cudaops::throw_runtime_error(
          "attention: wanted at most 2147483647 tiles of rows, found more.");
    }
    return static_cast<unsigned int>(blocks);
  }
};

// Of elements of 16 bits: rows start at multiples of 16 bytes, of whole units of 16 bytes.
template <typename Tensor>
bool has_whole_units(const Tensor& tensor, int64_t width) {
  return reinterpret_cast<uintptr_t>(tensor.data) % 16 == 0 && tensor.batch_stride % 8 == 0 &&
         tensor.seq_stride % 8 == 0 && tensor.head_stride % 8 == 0 && width % 8 == 0;
}

inline int64_t widest(const Attention& call) {
  return call.head_dim > call.head_dim_v ? call.head_dim : call.head_dim_v;
}

// body(std::integral_constant<int, width>()): widths of 64, 128 and 256 have kernels of their own.
template <typename Body>
void for_width(int64_t width, const Body& body) {
  if (width <= 64) return body(std::integral_constant<int, 64>());
  if (width <= 128) return body(std::integral_constant<int, 128>());
  body(std::integral_constant<int, 256>());
}

}  // namespace attention_detail
}  // namespace cudaops_kernels
