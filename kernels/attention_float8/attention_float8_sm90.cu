// SPDX-License-Identifier: Apache-2.0
// Which calls the kernel for sm_90a serves, by tiles of which shape; and the kernel that writes the
// values as it reads them: each byte is read and written once, which takes a few percent of the
// time of 2048 keys, and less of more.
#include <cudaops/check.h>
#include <cudaops/gpu_compat.h>

#include <algorithm>

#include "../attention/attention_sm90.h"
#include "../attention/attention_sm90_tiles.cuh"
#include "attention_float8_sm90.h"
#include "attention_float8_sm90_shapes.cuh"

namespace cudaops_kernels {

// Defined in attention_float8_sm90.cuh, for each shape of its tiles in shards (ops.cmake).
template <typename Shape>
void launch_attention_float8_sm90_of(const AttentionFloat8& call, const void* values,
                                     cudaStream_t stream);

namespace {

constexpr int kThreads = 256;
constexpr int kKeys = 128;  // that a block transposes

struct ValuesToTranspose {
  AttentionTensor from;
  const int32_t* cu_seqlens;
  int64_t batch, seq_k, block_keys;  // sequences, the longest, keys in a block of theirs
  TransposedValues to;
  uint8_t* data;
};

// kWidth: at least head_dim_v.
template <int kWidth>
__global__ void __launch_bounds__(kThreads)
    transpose_values_kernel(const __grid_constant__ ValuesToTranspose call) {
  // Words of four elements. Sixteen keys have four words more, so that the lanes that read a column
  // of each have different banks.
  constexpr int kWords = kWidth / 4, kUnits = kWidth / 16;
  __shared__ __align__(16) uint32_t tile[kKeys * kWords + kKeys / 16 * 4];
  const auto place = [](int key, int word) { return key * kWords + key / 16 * 4 + word; };
  const int width = static_cast<int>(call.to.width);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  for (int64_t index = blockIdx.z; index < call.batch; index += gridDim.z) {
    int64_t first = index * call.from.batch_stride, length = call.seq_k;
    int64_t begin = 0, room = call.to.columns;
    if (call.cu_seqlens != nullptr) {
      const int64_t start = call.cu_seqlens[index], end = call.cu_seqlens[index + 1];
      first = start * call.from.seq_stride;
      length = end - start;
      begin = (start / call.block_keys + index) * call.block_keys;
      room = (end / call.block_keys + index + 1) * call.block_keys - begin;
    }
    for (int64_t head = blockIdx.y; head < call.to.heads; head += gridDim.y) {
      const uint8_t* const from =
          static_cast<const uint8_t*>(call.from.data) + first + head * call.from.head_stride;
      const int64_t matrix = call.cu_seqlens != nullptr ? head : index * call.to.heads + head;
      uint8_t* const to = call.data + matrix * width * call.to.columns + begin;
      for (int64_t key = static_cast<int64_t>(blockIdx.x) * kKeys; key < room;
           key += static_cast<int64_t>(gridDim.x) * kKeys) {
        __syncthreads();
#pragma unroll
        for (int i = static_cast<int>(threadIdx.x); i < kKeys * kUnits; i += kThreads) {
          const int row = i / kUnits, unit = i % kUnits;
          uint4 elements = make_uint4(0, 0, 0, 0);
          if (key + row < length && unit * 16 < width) {
            elements = *reinterpret_cast<const uint4*>(from + (key + row) * call.from.seq_stride +
                                                       unit * 16);
          }
          *reinterpret_cast<uint4*>(tile + place(row, unit * 4)) = elements;
        }
        __syncthreads();
        // A lane has four columns of sixteen keys.
        const int keys = lane / 4 * 16;
        if (key + keys >= room) continue;
#pragma unroll
        for (int word = warp * 4 + lane % 4; word < kWords; word += kThreads / 8) {
          if (word * 4 >= width) break;
          uint32_t columns[4][4];
#pragma unroll
          for (int t = 0; t < 4; ++t) {
            const uint32_t a = tile[place(keys + 2 * t, word)];
            const uint32_t b = tile[place(keys + 2 * t + 1, word)];
            const uint32_t c = tile[place(keys + 2 * t + 8, word)];
            const uint32_t d = tile[place(keys + 2 * t + 9, word)];
            const uint32_t low_ab = __byte_perm(a, b, 0x5140), low_cd = __byte_perm(c, d, 0x5140);
            const uint32_t high_ab = __byte_perm(a, b, 0x7362), high_cd = __byte_perm(c, d, 0x7362);
            columns[0][t] = __byte_perm(low_ab, low_cd, 0x5410);
            columns[1][t] = __byte_perm(low_ab, low_cd, 0x7632);
            columns[2][t] = __byte_perm(high_ab, high_cd, 0x5410);
            columns[3][t] = __byte_perm(high_ab, high_cd, 0x7632);
          }
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            *reinterpret_cast<uint4*>(to + (word * 4 + i) * call.to.columns + key + keys) =
                make_uint4(columns[i][0], columns[i][1], columns[i][2], columns[i][3]);
          }
        }
      }
    }
  }
}

void transpose_values(const Attention& call, int64_t block_keys, void* to, cudaStream_t stream) {
  const ValuesToTranspose values{call.v,
                                 call.cu_seqlens_k,
                                 call.batch,
                                 call.seq_k,
                                 block_keys,
                                 TransposedValues(call, block_keys),
                                 static_cast<uint8_t*>(to)};
  constexpr int64_t kMost = 65535;
  const int64_t blocks =
      divide_up(call.seq_k + (call.cu_seqlens_k != nullptr ? block_keys : 0), kKeys);
  const dim3 grid(static_cast<unsigned int>(blocks),
                  static_cast<unsigned int>(std::min(call.kv_heads, kMost)),
                  static_cast<unsigned int>(std::min(call.batch, kMost)));
  if (call.head_dim_v <= 64) {
    transpose_values_kernel<64><<<grid, kThreads, 0, stream>>>(values);
  } else if (call.head_dim_v <= 128) {
    transpose_values_kernel<128><<<grid, kThreads, 0, stream>>>(values);
  } else {
    transpose_values_kernel<256><<<grid, kThreads, 0, stream>>>(values);
  }
  CUDAOPS_CHECK_LAUNCH();
}

// body(a shape).
template <typename Body>
void with_shape(const Attention& call, const Body& body) {
  const int64_t larger = std::max(call.head_dim, call.head_dim_v);
  if (larger <= 64) return body(AttentionSm90Float8Shape64());
  if (larger <= 128) return body(AttentionSm90Float8Shape128());
  if (larger <= 192 && call.head_dim_v <= 128) return body(AttentionSm90Float8Shape192By128());
  body(AttentionSm90Float8Shape256());
}

}  // namespace

bool attention_float8_sm90_serves(const AttentionFloat8& call) {
  const Attention& attention = call.attention;
  for (const AttentionTensor& tensor : {attention.q, attention.k, attention.v}) {
    const int64_t strides = tensor.batch_stride | tensor.seq_stride | tensor.head_stride;
    if (strides % 16 != 0 || reinterpret_cast<uintptr_t>(tensor.data) % 16 != 0) return false;
  }
  return attention.head_dim % 16 == 0 && attention.head_dim_v % 16 == 0 &&
         attention_sm90_serves_forward(in_pairs(attention));
}

int64_t attention_float8_sm90_workspace_bytes(const AttentionFloat8& call) {
  int64_t bytes = 0;
  with_shape(call.attention, [&](auto shape) {
    bytes = TransposedValues(call.attention, decltype(shape)::kKeys).bytes();
  });
  return bytes;
}

void launch_attention_float8_sm90(const AttentionFloat8& call, void* workspace, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  with_shape(call.attention, [&](auto shape) {
    transpose_values(call.attention, decltype(shape)::kKeys, workspace, on);
    launch_attention_float8_sm90_of<decltype(shape)>(call, workspace, on);
  });
}

}  // namespace cudaops_kernels
