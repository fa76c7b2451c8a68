// SPDX-License-Identifier: Apache-2.0
// rope on CUDA devices, q and k by one launch. Moves 2 * sizeof(T) bytes an element; the tables
// come from the L2 cache.

#include "rope_chunks.cuh"
#include "rope_rows.cuh"

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

template <typename T, typename Table, int kBytes = kChunkBytes>
void launch_widest(const Rope& call, int64_t rest, int bytes, cudaStream_t stream) {
  if constexpr (kBytes > sizeof(T)) {
    if (bytes < kBytes) return launch_widest<T, Table, kBytes / 2>(call, rest, bytes, stream);
  }
  if constexpr (kBytes < kChunkBytes) {
    if (launch_rows<T, Table, kBytes>(call, rest, stream)) return;
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
  if (call.q.num_heads + call.k.num_heads == 0) return;
  for_device_type<Launch>(call.dtype, with_fewest_batches(call), static_cast<cudaStream_t>(stream));
}

}  // namespace cudaops_kernels
