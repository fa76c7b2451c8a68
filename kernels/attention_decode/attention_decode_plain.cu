// SPDX-License-Identifier: Apache-2.0
// The plain kernel (attention_decode_plain.cuh): a block has one query, a thread of it a key, then
// an element.
#include <cudaops/check.h>

#include "../common/activations.h"
#include "../common/quantized.cuh"
#include "attention_decode_plain.cuh"

namespace cudaops_kernels {
namespace {

using namespace decode;

constexpr int kPlainThreads = 256;
static_assert(kPlainThreads >= kMostDecodeHeadDim, "");

__device__ __forceinline__ float number(Float8 value) { return float8_to_float(value.bits); }
template <typename T>
__device__ __forceinline__ float number(T value) {
  return to_float(value);
}

template <bool kLargest>
__device__ float over_block(float value) {
  __shared__ float all[kPlainThreads];
  __syncthreads();
  all[threadIdx.x] = value;
  __syncthreads();
  for (int step = kPlainThreads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) {
      const float other = all[threadIdx.x + step];
      all[threadIdx.x] = kLargest ? fmaxf(all[threadIdx.x], other) : all[threadIdx.x] + other;
    }
    __syncthreads();
  }
  return all[0];
}

template <typename T, typename Cache>
__global__ void __launch_bounds__(kPlainThreads) plain_decode_kernel(const Plan plan) {
  __shared__ float q[kMostDecodeHeadDim], p[kPlainThreads];
  __shared__ int block_of[kPlainThreads];
  const AttentionDecode& call = plan.call;
  const int token = static_cast<int>(blockIdx.x % call.q_length);
  const int batch = static_cast<int>(blockIdx.x / call.q_length);
  const int thread = static_cast<int>(threadIdx.x), head_dim = static_cast<int>(call.head_dim);
  for (int head = static_cast<int>(blockIdx.y); head < call.num_heads; head += gridDim.y) {
    const Item item =
        item_of(plan, batch, head / plan.group * plan.row_tiles, length_of(plan, batch));
    const int position = item.length - static_cast<int>(call.q_length) + token;
    const Query query{head, token, position, position, true};
    __syncthreads();
    if (thread < head_dim) {
      q[thread] = to_float(
          static_cast<const T*>(call.q)[batch * call.q_batch_stride + token * call.q_token_stride +
                                        head * call.q_head_stride + thread]);
    }
    const auto row_of = [&](const PagedCache& cache, int64_t block, int64_t key) {
      return static_cast<const Cache*>(cache.data) + block * cache.block_stride +
             key % call.page_size * cache.token_stride + item.kv_head * cache.head_stride;
    };
    const float k_scale =
        call.k.scale == nullptr ? 1.0f : call.k.scale[item.kv_head * call.k.scale_stride];
    int64_t first = 0;
    if (call.window_left >= 0 && query.position > call.window_left) {
      first = query.position - call.window_left;
    }
    float largest = -INFINITY, total = 0, sum = 0;
    for (int64_t begin = first; begin <= query.position; begin += kPlainThreads) {
      const int64_t key = begin + thread;
      int block = -1;
      float score = -INFINITY;
      if (key <= query.position) {
        block = call.block_table[batch * call.block_table_stride + key / call.page_size];
        if (block >= call.num_blocks) block = -1;
      }
      __syncthreads();  // p and block_of have been read
      if (block >= 0) {
        const Cache* const k = row_of(call.k, block, key);
        score = 0;
        for (int i = 0; i < head_dim; ++i) score += q[i] * number(k[i]);
        score *= call.scale * k_scale;
        if (call.softcap > 0) score = call.softcap * tanhf(score / call.softcap);
        score *= kLog2e;
      }
      const float most = fmaxf(largest, over_block<true>(score));
      const float base = most == -INFINITY ? 0.0f : most;
      const float kept = exp2f(largest - base);
      p[thread] = block >= 0 ? exp2f(score - base) : 0.0f;
      block_of[thread] = block;
      total = total * kept + over_block<false>(p[thread]);
      sum *= kept;
      largest = most;
      if (thread < head_dim) {
        for (int i = 0; i < kPlainThreads && begin + i <= query.position; ++i) {
          if (block_of[i] >= 0) {
            sum += p[i] * number(row_of(call.v, block_of[i], begin + i)[thread]);
          }
        }
      }
    }
    const Finish finish = Ending(plan, item, query).of(largest, total);
    if (thread < head_dim) {
      static_cast<T*>(call.output)[output_row(plan, item, query) + thread] =
          from_float<T>(sum * finish.factor);
    }
    if (thread == 0) store_lse(plan, item, query, finish.lse);
  }
}

template <typename T, typename Cache>
void launch_plain(const Plan& plan, cudaStream_t stream) {
  const int64_t blocks = plan.call.num_batches * plan.call.q_length;
  if (blocks > 0x7fffffff) {
    cudaops::throw_runtime_error(
        "attention_decode: wanted at most 2147483647 queries, found more.");
  }
  const dim3 grid(
      static_cast<unsigned int>(blocks),
      static_cast<unsigned int>(plan.call.num_heads < 65535 ? plan.call.num_heads : 65535));
  plain_decode_kernel<T, Cache><<<grid, kPlainThreads, 0, stream>>>(plan);
  CUDAOPS_CHECK_LAUNCH();
}

struct Plain {
  template <typename T>
  static void run(const Plan& plan, cudaStream_t stream) {
    if (plan.call.has_float8_cache) {
      launch_plain<T, Float8>(plan, stream);
    } else {
      launch_plain<T, T>(plan, stream);
    }
  }
};

}  // namespace

void decode::launch_plain_decode(const Plan& plan, cudaStream_t stream) {
  for_device_type<Plain>(plan.call.dtype, plan, stream);
}

}  // namespace cudaops_kernels
