// SPDX-License-Identifier: Apache-2.0
// rope on CUDA devices, q and k by one launch. Moves 2 * sizeof(T) bytes an element; the tables
// come from the L2 cache.
//
// A thread takes two chunks of a head that belong together: for GPT-NeoX's pairs one of either
// half. A chunk has 16 bytes, or as many as alignments and sizes allow; with smaller ones a thread
// takes as many heads as bring it to the same number of bytes in flight, and its part of the tables
// serves them all. A block has all heads of some tokens, or a part of one token's, so that the rows
// of the tables are read once from L2.
#include <cuda_runtime.h>
#include <cudaops/check.h>

#include <stdexcept>
#include <type_traits>

#include "../common/pointwise.cuh"
#include "rope.h"

namespace cudaops_kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kChunkBytes = 16;  // at most

// What one instruction moves.
template <int kBytes>
struct ChunkOf;
template <>
struct ChunkOf<16> {
  using Type = uint4;
};
template <>
struct ChunkOf<8> {
  using Type = uint2;
};
template <>
struct ChunkOf<4> {
  using Type = uint32_t;
};
template <>
struct ChunkOf<2> {
  using Type = uint16_t;
};
template <int kBytes>
using Chunk = typename ChunkOf<kBytes>::Type;

// In registers; 16-bit elements stay packed.
template <int kBytes>
struct Words {
  static constexpr int kCount = (kBytes + 3) / 4;
  uint32_t word[kCount];
};

template <int kBytes>
__device__ __forceinline__ Words<kBytes> load_words(const void* data) {
  constexpr int kPart = kBytes < kChunkBytes ? kBytes : kChunkBytes;
  Words<kBytes> words = {};
#pragma unroll
  for (int i = 0; i < kBytes / kPart; ++i) {
    const Chunk<kPart> part = static_cast<const Chunk<kPart>*>(data)[i];
    memcpy(&words.word[i * kPart / 4], &part, kPart);
  }
  return words;
}

template <typename T, int kSize>
__device__ __forceinline__ Floats<kSize> numbers_of(
    const Words<kSize* static_cast<int>(sizeof(T))>& words) {
  Floats<kSize> result;
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    if constexpr (sizeof(T) == 4) {
      result[i] = __uint_as_float(words.word[i]);
    } else if constexpr (std::is_same<T, bfloat16>::value) {
      const uint32_t word = words.word[i / 2];
      result[i] = __uint_as_float(i % 2 == 0 ? word << 16 : word & 0xffff0000u);
    } else {
      result[i] = to_float(detail::element_of<T>(words.word[i / 2] >> (i % 2 * 16)));
    }
  }
  return result;
}

template <typename T, int kSize>
__device__ __forceinline__ Words<kSize* static_cast<int>(sizeof(T))> words_of(
    const Floats<kSize>& numbers) {
  Words<kSize* static_cast<int>(sizeof(T))> words;
#pragma unroll
  for (int i = 0; i < words.kCount; ++i) {
    if constexpr (sizeof(T) == 4) {
      words.word[i] = __float_as_uint(numbers[i]);
    } else if constexpr (kSize == 1) {
      words.word[i] = detail::bits_of(from_float<T>(numbers[i]));
    } else {
      words.word[i] = detail::pack_pair<T>(numbers[2 * i], numbers[2 * i + 1]);
    }
  }
  return words;
}

// A RopeHeads with strides in chunks.
struct Heads {
  const void* input;
  void* output;
  RopeStrides input_strides;
  RopeStrides output_strides;
};

struct RopeGrid {
  Heads q, k;
  uint32_t num_q_heads;
  uint32_t num_heads;    // of both
  uint32_t num_groups;   // a thread's heads are that many apart
  uint32_t half_chunks;  // of what is rotated
  uint32_t head_chunks;  // of all
  uint32_t token_threads;
  detail::Divider head_threads;
  detail::Divider blocks_per_token;
  detail::Divider blocks_per_batch;  // of blocks_per_token blocks each
  int64_t seq_length;
  int64_t num_positions;
  int64_t rotary_pairs;
  const void* cos;
  const void* sin;
  const void* positions;
  PositionType position_type;
  bool interleaved;
  bool backward;
};

template <typename T>
__device__ __forceinline__ T choose(bool second, const T& a, const T& b) {
  return second ? b : a;
}

__device__ __forceinline__ int64_t offset_of(bool of_k, const RopeStrides& q, const RopeStrides& k,
                                             uint32_t batch, int64_t token, uint32_t head) {
  return choose(of_k, q.batch, k.batch) * batch + choose(of_k, q.token, k.token) * token +
         choose(of_k, q.head, k.head) * head;
}

// A part of a row of cos or sin, as numbers. `ones` makes them NaN (every type's NaN has all bits
// set), `flips` changes their signs.
template <typename Table, int kSize>
__device__ __forceinline__ Floats<kSize> load_table(const void* table, int64_t first, uint32_t ones,
                                                    uint32_t flips) {
  auto words =
      load_words<kSize* static_cast<int>(sizeof(Table))>(static_cast<const Table*>(table) + first);
#pragma unroll
  for (int i = 0; i < words.kCount; ++i) words.word[i] = (words.word[i] | ones) ^ flips;
  return numbers_of<Table, kSize>(words);
}

// A thread's. With a table of larger elements than the heads' twice as many, for what is read of
// the table would else be more than what is read of them.
template <typename T, typename Table, int kBytes>
constexpr int kHeadsEach = kBytes == kChunkBytes ? (sizeof(Table) > sizeof(T) ? 2 : 1)
                                                 : kChunkBytes / kBytes;

// Interleaved with one element a chunk: the two chunks are a pair.
template <typename T, typename Table, int kBytes, bool kInterleaved>
__global__ void __launch_bounds__(kThreads) rope_kernel(const RopeGrid grid) {
  constexpr int kSize = kBytes / static_cast<int>(sizeof(T));
  constexpr int kHeads = kHeadsEach<T, Table, kBytes>;
  static_assert(!kInterleaved || kSize > 1, "a chunk has whole pairs");

  const uint32_t row = grid.blocks_per_token.quotient(blockIdx.x);
  const uint32_t thread =
      (blockIdx.x - row * grid.blocks_per_token.divisor()) * blockDim.x + threadIdx.x;
  const uint32_t batch = grid.blocks_per_batch.quotient(row);
  const int64_t token =
      int64_t{row - batch * grid.blocks_per_batch.divisor()} * blockDim.y + threadIdx.y;
  if (thread >= grid.token_threads || token >= grid.seq_length) return;
  const uint32_t group = grid.head_threads.quotient(thread);
  const uint32_t part = thread - group * grid.head_threads.divisor();

  // Behind the rotated chunks threads take two of the others each, the last one perhaps one twice.
  const bool rotates = part < grid.half_chunks;
  uint32_t first = part, second = part + grid.half_chunks;
  if (!rotates) {
    first += grid.half_chunks;
    second = first + grid.head_threads.divisor() - grid.half_chunks;
    if (second >= grid.head_chunks) second = first;
  } else if (kSize == 1 && grid.interleaved) {
    first = 2 * part;
    second = first + 1;
  }

  Words<kBytes> a[kHeads], b[kHeads];
#pragma unroll
  for (int i = 0; i < kHeads; ++i) {
    // A head that isn't there: another one is read and not written.
    uint32_t head = group + static_cast<uint32_t>(i) * grid.num_groups;
    if (kHeads > 1 && head >= grid.num_heads) head = grid.num_heads - 1;
    const bool of_k = head >= grid.num_q_heads;
    const Chunk<kBytes>* const input =
        static_cast<const Chunk<kBytes>*>(choose(of_k, grid.q.input, grid.k.input)) +
        offset_of(of_k, grid.q.input_strides, grid.k.input_strides, batch, token,
                  of_k ? head - grid.num_q_heads : head);
    a[i] = load_words<kBytes>(input + first);
    b[i] = load_words<kBytes>(input + second);
  }

  if (rotates) {
    // Behind the loads above, as everything from here on waits for it.
    int64_t position = token;
    if (grid.positions != nullptr) {
      const int64_t index = batch * grid.seq_length + token;
      position = grid.position_type == PositionType::kInt32
                     ? static_cast<const int32_t*>(grid.positions)[index]
                     : static_cast<const int64_t*>(grid.positions)[index];
    }
    const bool is_in_table = position >= 0 && position < grid.num_positions;
    const uint32_t ones = is_in_table ? 0 : 0xffffffffu;
    const uint32_t sign = sizeof(Table) == 4 ? 0x80000000u : 0x80008000u;
    const uint32_t flips = grid.backward ? sign : 0;
    const int64_t table_row = (is_in_table ? position : 0) * grid.rotary_pairs;
    if constexpr (kInterleaved) {
      constexpr int kPairs = kSize / 2;
      const int64_t at_first = table_row + int64_t{first} * kPairs;
      const int64_t at_second = table_row + int64_t{second} * kPairs;
      const auto cos_a = load_table<Table, kPairs>(grid.cos, at_first, ones, 0);
      const auto sin_a = load_table<Table, kPairs>(grid.sin, at_first, ones, flips);
      const auto cos_b = load_table<Table, kPairs>(grid.cos, at_second, ones, 0);
      const auto sin_b = load_table<Table, kPairs>(grid.sin, at_second, ones, flips);
      const auto rotated = [](const Words<kBytes>& words, const Floats<kPairs>& cos,
                              const Floats<kPairs>& sin) {
        const Floats<kSize> x = numbers_of<T, kSize>(words);
        Floats<kSize> y;
#pragma unroll
        for (int k = 0; k < kPairs; ++k) {
          y[2 * k] = x[2 * k] * cos[k] - x[2 * k + 1] * sin[k];
          y[2 * k + 1] = x[2 * k + 1] * cos[k] + x[2 * k] * sin[k];
        }
        return words_of<T, kSize>(y);
      };
#pragma unroll
      for (int i = 0; i < kHeads; ++i) {
        a[i] = rotated(a[i], cos_a, sin_a);
        b[i] = rotated(b[i], cos_b, sin_b);
      }
    } else {
      const int64_t at = table_row + int64_t{part} * kSize;
      const auto cos = load_table<Table, kSize>(grid.cos, at, ones, 0);
      const auto sin = load_table<Table, kSize>(grid.sin, at, ones, flips);
#pragma unroll
      for (int i = 0; i < kHeads; ++i) {
        const Floats<kSize> x = numbers_of<T, kSize>(a[i]), y = numbers_of<T, kSize>(b[i]);
        a[i] = words_of<T, kSize>(x * cos - y * sin);
        b[i] = words_of<T, kSize>(y * cos + x * sin);
      }
    }
  }

#pragma unroll
  for (int i = 0; i < kHeads; ++i) {
    const uint32_t head = group + static_cast<uint32_t>(i) * grid.num_groups;
    if (kHeads > 1 && head >= grid.num_heads) break;
    const bool of_k = head >= grid.num_q_heads;
    Chunk<kBytes>* const output =
        static_cast<Chunk<kBytes>*>(choose(of_k, grid.q.output, grid.k.output)) +
        offset_of(of_k, grid.q.output_strides, grid.k.output_strides, batch, token,
                  of_k ? head - grid.num_q_heads : head);
    Chunk<kBytes> chunk;
    memcpy(&chunk, a[i].word, kBytes);
    output[first] = chunk;
    memcpy(&chunk, b[i].word, kBytes);
    output[second] = chunk;
  }
}

bool same(const RopeStrides& a, const RopeStrides& b) {
  return a.batch == b.batch && a.token == b.token && a.head == b.head;
}

bool is_in_place(const RopeHeads& heads) {
  return heads.num_heads == 0 ||
         (heads.input == heads.output && same(heads.input_strides, heads.output_strides));
}

// Batches that follow each other like tokens are one, where positions don't start anew with each.
Rope with_fewest_batches(Rope call) {
  if (call.num_batches <= 1 || call.positions == nullptr) return call;
  RopeStrides* const strides[] = {&call.q.input_strides, &call.q.output_strides,
                                  &call.k.input_strides, &call.k.output_strides};
  if (call.seq_length == 1) {
    for (RopeStrides* s : strides) s->token = s->batch;
  }
  for (const RopeStrides* s : strides) {
    if (s->batch != s->token * call.seq_length) return call;
  }
  call.seq_length *= call.num_batches;
  call.num_batches = 1;
  return call;
}

// The bytes that divide all sizes and addresses which a chunk may meet; at most a chunk's.
template <typename T>
int chunk_bytes(const Rope& call, int64_t rest) {
  constexpr int64_t kElement = sizeof(T);
  int64_t bits = kChunkBytes | call.rotary_dim / 2 * kElement | rest * kElement;
  const auto add_array = [&](const void* data, const RopeStrides& strides, int64_t num_heads) {
    bits |= static_cast<int64_t>(reinterpret_cast<uintptr_t>(data));
    if (call.num_batches > 1) bits |= strides.batch * kElement;
    if (call.seq_length > 1) bits |= strides.token * kElement;
    if (num_heads > 1) bits |= strides.head * kElement;
  };
  for (const RopeHeads* heads : {&call.q, &call.k}) {
    if (heads->num_heads == 0) continue;
    add_array(heads->input, heads->input_strides, heads->num_heads);
    add_array(heads->output, heads->output_strides, heads->num_heads);
  }
  // A chunk's part of the tables has as many elements.
  for (const void* table : {call.cos, call.sin}) {
    bits |= static_cast<int64_t>(reinterpret_cast<uintptr_t>(table)) /
            (size_of(call.table_dtype) / kElement);
  }
  return static_cast<int>(bits & -bits);
}

template <typename T, typename Table, int kBytes>
void launch_chunks(const Rope& call, int64_t rest, cudaStream_t stream) {
  constexpr int64_t kSize = kBytes / sizeof(T), kHeads = kHeadsEach<T, Table, kBytes>;
  const auto in_chunks = [](const RopeStrides& strides) {
    return RopeStrides{strides.batch / kSize, strides.token / kSize, strides.head / kSize};
  };
  const auto heads_of = [&](const RopeHeads& heads) {
    return Heads{heads.input, heads.output, in_chunks(heads.input_strides),
                 in_chunks(heads.output_strides)};
  };
  const int64_t num_heads = call.q.num_heads + call.k.num_heads;
  const int64_t num_groups = (num_heads + kHeads - 1) / kHeads;
  const int64_t half_chunks = call.rotary_dim / 2 / kSize, rest_chunks = rest / kSize;
  const int64_t head_threads = half_chunks + (rest_chunks + 1) / 2;
  const int64_t token_threads = num_groups * head_threads;
  if (token_threads == 0) return;
  const int64_t num_parts = (token_threads + kThreads - 1) / kThreads;
  int64_t threads_x = token_threads, threads_y = 1, blocks_per_token = 1;
  if (num_parts == 1) {
    threads_y = kThreads / token_threads;
    if (threads_y > call.seq_length) threads_y = call.seq_length;
  } else {
    // Parts of one size, of whole warps.
    threads_x = ((token_threads + num_parts - 1) / num_parts + 31) / 32 * 32;
    blocks_per_token = (token_threads + threads_x - 1) / threads_x;
  }
  const int64_t blocks_per_batch = (call.seq_length + threads_y - 1) / threads_y;
  constexpr int64_t kMost = 0x7fffffff;
  if (num_heads > kMost || token_threads > kMost || blocks_per_batch > kMost ||
      call.num_batches > kMost / blocks_per_batch / blocks_per_token) {
    throw std::runtime_error("rope: wanted work for at most 2147483647 blocks, found more.");
  }
  const RopeGrid grid{heads_of(call.q),
                      heads_of(call.k),
                      static_cast<uint32_t>(call.q.num_heads),
                      static_cast<uint32_t>(num_heads),
                      static_cast<uint32_t>(num_groups),
                      static_cast<uint32_t>(half_chunks),
                      static_cast<uint32_t>(2 * half_chunks + rest_chunks),
                      static_cast<uint32_t>(token_threads),
                      detail::Divider(static_cast<uint32_t>(head_threads)),
                      detail::Divider(static_cast<uint32_t>(blocks_per_token)),
                      detail::Divider(static_cast<uint32_t>(blocks_per_batch)),
                      call.seq_length,
                      call.num_positions,
                      call.rotary_dim / 2,
                      call.cos,
                      call.sin,
                      call.positions,
                      call.position_type,
                      call.interleaved,
                      call.backward};
  const unsigned int blocks =
      static_cast<unsigned int>(call.num_batches * blocks_per_batch * blocks_per_token);
  const dim3 block(static_cast<unsigned int>(threads_x), static_cast<unsigned int>(threads_y));
  if constexpr (kSize > 1) {
    if (call.interleaved) {
      rope_kernel<T, Table, kBytes, true><<<blocks, block, 0, stream>>>(grid);
      CUDAOPS_CHECK_LAUNCH();
      return;
    }
  }
  rope_kernel<T, Table, kBytes, false><<<blocks, block, 0, stream>>>(grid);
  CUDAOPS_CHECK_LAUNCH();
}

template <typename T, typename Table, int kBytes = kChunkBytes>
void launch_widest(const Rope& call, int64_t rest, int bytes, cudaStream_t stream) {
  if constexpr (kBytes > sizeof(T)) {
    if (bytes < kBytes) return launch_widest<T, Table, kBytes / 2>(call, rest, bytes, stream);
  }
  launch_chunks<T, Table, kBytes>(call, rest, stream);
}

struct Launch {
  template <typename T>
  static void run(const Rope& call, cudaStream_t stream) {
    // In place the rest of a head stays as it is.
    const int64_t rest =
        is_in_place(call.q) && is_in_place(call.k) ? 0 : call.head_dim - call.rotary_dim;
    const int bytes = chunk_bytes<T>(call, rest);
    if (call.table_dtype == DType::kFloat32) {
      launch_widest<T, float>(call, rest, bytes, stream);
    } else {
      launch_widest<T, T>(call, rest, bytes, stream);
    }
  }
};

}  // namespace

void launch_rope(const Rope& call, void* stream) {
  if (call.num_batches == 0 || call.seq_length == 0) return;
  if (call.num_positions == 0 && call.rotary_dim > 0) {
    throw std::runtime_error("rope: wanted at least one row for cos and sin, found none.");
  }
  for_device_type<Launch>(call.dtype, with_fewest_batches(call), static_cast<cudaStream_t>(stream));
}

}  // namespace cudaops_kernels
