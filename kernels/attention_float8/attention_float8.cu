// SPDX-License-Identifier: Apache-2.0
// attention_float8 on CUDA devices: by float8's own products where there are any, else by
// attention's kernels of copies that this converts (one byte read, two or four written an element).
#include <cudaops/check.h>
#include <cudaops/gpu_compat.h>

#include <algorithm>

#include "../common/device_types.cuh"
#include "../common/quantized.cuh"
#include "../common/unaligned.cuh"
#include "attention_float8_sm90.h"
#include "attention_float8_tensors.h"

namespace cudaops_kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kSize = 8;  // elements of a thread

// kLanes threads of a row, whose width is at most kLanes * kSize. blockIdx.y: the sequence.
template <typename T, int kLanes>
__global__ void __launch_bounds__(kThreads) convert_kernel(const Float8Tensor from, T* to) {
  constexpr int kRows = kThreads / kLanes;
  const int column = static_cast<int>(threadIdx.x) % kLanes * kSize;
  const int width = static_cast<int>(from.width);
  if (column >= width) return;
  const int count = width - column < kSize ? width - column : kSize;
  for (int64_t index = blockIdx.y; index < from.batch; index += gridDim.y) {
    T* const first = to + from.first_token(index) * from.heads * width + column;
    const int64_t num_rows = from.length(index) * from.heads;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * kRows + threadIdx.x / kLanes; i < num_rows;
         i += static_cast<int64_t>(gridDim.x) * kRows) {
      const int64_t token = i / from.heads, head = i - token * from.heads;
      const uint8_t* const row = from.row(index, token, head);
      const Bytes<kSize> bytes =
          detail::load_window<Bytes<kSize>>(row + column, 0, count, row, row + width).vector();
      const Floats<kSize> numbers =
          cudaops_kernels::numbers_of(bytes, QuantizedType::kFloat8) * from.factor(index, head);
      T* const out = first + i * width;
      uint32_t words[kSize * sizeof(T) / 4];
      pack_words<T>(numbers, words);
      constexpr int kPerVector = Vector<T>::kSize;
#pragma unroll
      for (int n = 0; n < kSize; n += kPerVector) {
        const uint32_t* const four = words + n * sizeof(T) / 4;
        const Packed packed = {four[0], four[1], four[2], four[3]};
        if (count - n >= kPerVector && is_aligned_to_16(out + n)) {
          store_aligned(out + n, packed);
        } else {
          store_unaligned(out + n, packed, 0, count - n < kPerVector ? count - n : kPerVector);
        }
      }
    }
  }
}

template <typename T, int kLanes>
void launch_convert_of(const Float8Tensor& from, T* to, cudaStream_t stream) {
  constexpr int64_t kRows = kThreads / kLanes, kMostBlocks = 8192, kMostSequences = 65535;
  if (from.num_elements() == 0) return;
  const int64_t blocks = (from.seq * from.heads + kRows - 1) / kRows;
  const dim3 grid(static_cast<unsigned int>(std::min(std::max<int64_t>(blocks, 1), kMostBlocks)),
                  static_cast<unsigned int>(std::min(from.batch, kMostSequences)));
  convert_kernel<T, kLanes><<<grid, kThreads, 0, stream>>>(from, to);
  CUDAOPS_CHECK_LAUNCH();
}

struct LaunchConvert {
  template <typename T>
  static void run(const Float8Tensor& from, void* to, cudaStream_t stream) {
    T* const out = static_cast<T*>(to);
    if (from.width <= 64) return launch_convert_of<T, 8>(from, out, stream);
    if (from.width <= 128) return launch_convert_of<T, 16>(from, out, stream);
    launch_convert_of<T, 32>(from, out, stream);
  }
};

// Where the copies lie in the workspace, behind them what attention of them works in.
struct Copies {
  int64_t k, v, attention, bytes;

  explicit Copies(const AttentionFloat8& call) {
    constexpr int64_t kAlignment = 256;
    const Float8Tensors from(call);
    const auto room = [&](const Float8Tensor& tensor) {
      const int64_t needed = tensor.num_elements() * size_of(call.attention.dtype);
      return (needed + kAlignment - 1) / kAlignment * kAlignment;
    };
    k = room(from.q);
    v = k + room(from.k);
    attention = v + room(from.v);
    // Which kernel that is depends on no address but by its alignment.
    bytes =
        attention + attention_workspace_bytes(attention_of_copies(call, nullptr, nullptr, nullptr));
  }
};

}  // namespace

int64_t attention_float8_workspace_bytes(const AttentionFloat8& call) {
#if defined(CUDAOPS_ATTENTION_FLOAT8_WITH_SM90)
  if (attention_float8_sm90_serves(call)) return attention_float8_sm90_workspace_bytes(call);
#endif
  return Copies(call).bytes;
}

void launch_attention_float8(const AttentionFloat8& call, void* workspace, void* stream) {
#if defined(CUDAOPS_ATTENTION_FLOAT8_WITH_SM90)
  if (attention_float8_sm90_serves(call)) {
    return launch_attention_float8_sm90(call, workspace, stream);
  }
#endif
  const Float8Tensors from(call);
  const Copies copies(call);
  char* const q = static_cast<char*>(workspace);
  const DType dtype = call.attention.dtype;
  const auto on = static_cast<cudaStream_t>(stream);
  for_device_type<LaunchConvert>(dtype, from.q, q, on);
  for_device_type<LaunchConvert>(dtype, from.k, q + copies.k, on);
  for_device_type<LaunchConvert>(dtype, from.v, q + copies.v, on);
  launch_attention(attention_of_copies(call, q, q + copies.k, q + copies.v), q + copies.attention,
                   stream);
}

}  // namespace cudaops_kernels
