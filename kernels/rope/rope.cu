// SPDX-License-Identifier: Apache-2.0
// rope on CUDA devices, q and k by one launch. Moves 2 * sizeof(T) bytes an element; the tables
// come from the L2 cache.

#include "rope_kernel.cuh"

namespace cudaops_kernels {
namespace {

using namespace rotary;

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
    cudaops::throw_runtime_error("rope: wanted work for at most 2147483647 blocks, found more.");
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
    cudaops::throw_runtime_error("rope: wanted at least one row for cos and sin, found none.");
  }
  for_device_type<Launch>(call.dtype, with_fewest_batches(call), static_cast<cudaStream_t>(stream));
}

}  // namespace cudaops_kernels
