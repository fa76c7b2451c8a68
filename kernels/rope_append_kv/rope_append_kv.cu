// SPDX-License-Identifier: Apache-2.0
// A block has a token; a thread has kSize of a head's items at a time: two runs of elements, each
// loaded and stored at once where they lie at multiples of the runs' size.
#include <cudaops/check.h>

#include "../common/device_types.cuh"
#include "../common/quantized.cuh"
#include "rope_append_kv_formula.h"

namespace cudaops_kernels {
namespace {

using namespace append;

constexpr int kThreads = 256;

template <typename T, int kSize>
struct alignas(kSize * sizeof(T)) Run {
  T element[kSize];
};

template <int kSize, typename T>
__device__ __forceinline__ void load(const T* from, float (&to)[kSize]) {
  const Run<T, kSize> run = *reinterpret_cast<const Run<T, kSize>*>(from);
#pragma unroll
  for (int i = 0; i < kSize; ++i) to[i] = to_float(run.element[i]);
}

template <int kSize, typename T>
__device__ __forceinline__ void store(const float (&from)[kSize], float, T* to) {
  Run<T, kSize> run;
#pragma unroll
  for (int i = 0; i < kSize; ++i) run.element[i] = from_float<T>(from[i]);
  *reinterpret_cast<Run<T, kSize>*>(to) = run;
}
template <int kSize>
__device__ __forceinline__ void store(const float (&from)[kSize], float inverse, uint8_t* to) {
  Run<uint8_t, kSize> run;
#pragma unroll
  for (int i = 0; i < kSize; ++i) run.element[i] = nearest_float8(from[i] * inverse);
  *reinterpret_cast<Run<uint8_t, kSize>*>(to) = run;
}

template <typename T, typename Table, typename Cache, int kSize>
__global__ void __launch_bounds__(kThreads) append_kernel(const RopeAppendKv call) {
  const int64_t token = blockIdx.x;
  const CachePlace place = place_of(call, token);
  const int64_t batch = token / call.seq_length, in_batch = token - batch * call.seq_length;
  const int head_dim = static_cast<int>(call.head_dim);
  const int per_head = ((head_dim + 1) / 2 + kSize - 1) / kSize;
  const int num_heads = static_cast<int>(call.num_heads);
  const int num_kv_heads = static_cast<int>(call.num_kv_heads);
  const int heads = num_heads + (place.block < 0 ? 0 : 2 * num_kv_heads);
  const bool has_row = place.position < call.num_positions;
  const int64_t row = has_row ? place.position * (call.rotary_dim / 2) : 0;
  for (int i = static_cast<int>(threadIdx.x); i < heads * per_head; i += kThreads) {
    const int head = i / per_head;
    const bool is_q = head < num_heads, is_k = !is_q && head < num_heads + num_kv_heads;
    const TokenHeads& from_heads = is_q ? call.q : is_k ? call.k : call.v;
    const int own = is_q ? head : is_k ? head - num_heads : head - num_heads - num_kv_heads;
    const int rotary_dim =
        place.position < 0 || !(is_q || is_k) ? 0 : static_cast<int>(call.rotary_dim);
    // Runs of items: those of elements_of() in their order.
    const int item = i % per_head * kSize;
    const bool is_pair = item < rotary_dim / 2;
    const int half = rotary_dim / 2;
    const int first = is_pair && !call.interleaved ? item : 2 * item;
    const int second = is_pair && !call.interleaved ? item + half : 2 * item + kSize;
    const bool has_second = second < head_dim;
    const T* const from = static_cast<const T*>(from_heads.data) +
                          batch * from_heads.strides.batch + in_batch * from_heads.strides.token +
                          own * from_heads.strides.head;
    float a[kSize], b[kSize] = {};
    load<kSize>(from + first, a);
    if (has_second) load<kSize>(from + second, b);
    if (is_pair) {
      float c[kSize], s[kSize];
      if (has_row) {
        load<kSize>(static_cast<const Table*>(call.cos) + row + item, c);
        load<kSize>(static_cast<const Table*>(call.sin) + row + item, s);
      } else {
#pragma unroll
        for (int k = 0; k < kSize; ++k) c[k] = s[k] = NAN;
      }
      if (call.interleaved) {
        float all[2 * kSize];
#pragma unroll
        for (int k = 0; k < kSize; ++k) {
          all[k] = a[k];
          all[kSize + k] = b[k];
        }
#pragma unroll
        for (int k = 0; k < kSize; ++k) {
          const float x = all[2 * k], y = all[2 * k + 1];
          all[2 * k] = x * c[k] - y * s[k];
          all[2 * k + 1] = y * c[k] + x * s[k];
        }
#pragma unroll
        for (int k = 0; k < kSize; ++k) {
          a[k] = all[k];
          b[k] = all[kSize + k];
        }
      } else {
#pragma unroll
        for (int k = 0; k < kSize; ++k) {
          const float x = a[k], y = b[k];
          a[k] = x * c[k] - y * s[k];
          b[k] = y * c[k] + x * s[k];
        }
      }
    }
    if (is_q) {
      T* const out = static_cast<T*>(call.q_out) + (token * num_heads + own) * head_dim;
      store<kSize>(a, 1.0f, out + first);
      if (has_second) store<kSize>(b, 1.0f, out + second);
    } else {
      const WrittenCache& cache = is_k ? call.k_cache : call.v_cache;
      const float inverse = inverse_scale(cache, own);
      Cache* const out = static_cast<Cache*>(cache.data) + offset_of(cache, place, own);
      store<kSize>(a, inverse, out + first);
      if (has_second) store<kSize>(b, inverse, out + second);
    }
  }
}

template <typename T, typename Table, typename Cache, int kSize>
void launch_of(const RopeAppendKv& call, cudaStream_t stream) {
  append_kernel<T, Table, Cache, kSize>
      <<<static_cast<unsigned int>(call.num_batches * call.seq_length), kThreads, 0, stream>>>(
          call);
  CUDAOPS_CHECK_LAUNCH();
}

// Whether runs of `size` elements are whole, and aligned.
template <typename T>
bool has_runs(const RopeAppendKv& call, int64_t size) {
  int64_t bits = call.rotary_dim / 2 | (call.head_dim - call.rotary_dim) / 2 | call.head_dim / 2;
  if (call.head_dim % 2 != 0) return false;
  for (const TokenHeads* heads : {&call.q, &call.k, &call.v}) {
    bits |= heads->strides.batch | heads->strides.token | heads->strides.head;
    if (reinterpret_cast<uintptr_t>(heads->data) % (size * sizeof(T)) != 0) return false;
  }
  const int64_t cache_size = size * (call.has_float8_cache ? 1 : int64_t{sizeof(T)});
  for (const WrittenCache* cache : {&call.k_cache, &call.v_cache}) {
    bits |= cache->block_stride | cache->token_stride | cache->head_stride;
    if (reinterpret_cast<uintptr_t>(cache->data) % cache_size != 0) return false;
  }
  for (const void* table : {call.cos, call.sin}) {
    if (reinterpret_cast<uintptr_t>(table) % (size * size_of(call.table_dtype)) != 0) return false;
  }
  return bits % size == 0;
}

template <typename T, typename Table, typename Cache>
void launch_widest(const RopeAppendKv& call, cudaStream_t stream) {
  constexpr int kSize = 4;
  if (has_runs<T>(call, kSize)) return launch_of<T, Table, Cache, kSize>(call, stream);
  launch_of<T, Table, Cache, 1>(call, stream);
}

template <typename T, typename Table>
void launch_cache(const RopeAppendKv& call, cudaStream_t stream) {
  if (call.has_float8_cache) return launch_widest<T, Table, uint8_t>(call, stream);
  launch_widest<T, Table, T>(call, stream);
}

struct Launch {
  template <typename T>
  static void run(const RopeAppendKv& call, cudaStream_t stream) {
    if (call.table_dtype == DType::kFloat32) return launch_cache<T, float>(call, stream);
    launch_cache<T, T>(call, stream);
  }
};

}  // namespace

void launch_rope_append_kv(const RopeAppendKv& call, void* stream) {
  if (call.num_batches * call.seq_length == 0 || call.head_dim == 0) return;
  if (call.num_batches * call.seq_length > 0x7fffffff) {
    cudaops::throw_runtime_error("rope_append_kv_: wanted at most 2147483647 tokens, found more.");
  }
  for_device_type<Launch>(call.dtype, call, static_cast<cudaStream_t>(stream));
}

}  // namespace cudaops_kernels
