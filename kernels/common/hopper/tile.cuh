// SPDX-License-Identifier: Apache-2.0
// Tiles in shared memory, and products of a warpgroup with them (sm_90a). What is done with their
// results in registers: fragment.cuh.
#pragma once

#include <cudaops/gpu_compat.h>

#include <cstdint>

#include "mbarrier.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

#if !CUDAOPS_HIP

namespace cudaops_kernels {

// kRows x kColumns elements of 16 bits in chunks of 64 columns, as the copy engine writes and wgmma
// reads them; the last chunk may be used in part. Elements of 8 bits count as pairs.
template <int kRows, int kColumns_>
struct SharedTile {
  static_assert(kRows % 8 == 0 && kColumns_ % 16 == 0, "not a tile of whole matrix products");
  static constexpr int kColumns = kColumns_;
  static constexpr int kChunks = (kColumns + kBoxColumns - 1) / kBoxColumns;
  static constexpr int kChunkBytes = kRows * kBoxRowBytes;
  static constexpr int kBytes = kChunks * kChunkBytes;
};

#if CUDAOPS_HAS_WGMMA

// One thread fills a tile, from its row `to_row` on, with boxes of rows of the tensor from `row`
// on; the barrier expects the bytes.
template <typename Tile>
__device__ __forceinline__ void copy_rows(char* tile, int to_row, const CUtensorMap* map, int row,
                                          int head, int batch, uint64_t* barrier) {
  // Not unrolled: the thread that does it has few registers.
#pragma unroll 1
  for (int chunk = 0; chunk < Tile::kChunks; ++chunk) {
    copy_box_to_shared(tile + chunk * Tile::kChunkBytes + to_row * kBoxRowBytes, map,
                       chunk * kBoxColumns, row, head, batch, barrier);
  }
}
// The same, and has it expect the bytes of boxes of kRows rows.
template <typename Tile, int kRows>
__device__ __forceinline__ void load_rows(char* tile, int to_row, const CUtensorMap* map, int row,
                                          int head, int batch, uint64_t* barrier) {
  expect_bytes(barrier, Tile::kChunks * kRows * kBoxRowBytes);
  copy_rows<Tile>(tile, to_row, map, row, head, batch, barrier);
}

// All of a tile from boxes of the tensor's columns from `column` on, and of its first kRows rows.
template <typename Tile, int kRows>
__device__ __forceinline__ void load_columns(char* tile, const CUtensorMap* map, int column,
                                             int head, int batch, uint64_t* barrier) {
  expect_bytes(barrier, Tile::kChunks * kRows * kBoxRowBytes);
#pragma unroll 1
  for (int chunk = 0; chunk < Tile::kChunks; ++chunk) {
    copy_box_to_shared(tile + chunk * Tile::kChunkBytes, map, column + chunk * kBoxColumns, 0, head,
                       batch, barrier);
  }
}

// Rows of a tile beyond the end of a sequence, which are those of the next one, become zeros: a
// weight of zero times a NaN is NaN. Each warpgroup does it before it reads them, with a barrier of
// its own.
template <typename Tile, int kRows>
__device__ __forceinline__ void clear_rows_from(char* tile, int first_row, int barrier) {
  constexpr int kVectors = kBoxRowBytes / 16;
  const int num_vectors = (kRows - first_row) * kVectors;
  for (int chunk = 0; chunk < Tile::kChunks; ++chunk) {
    char* const rows = tile + chunk * Tile::kChunkBytes + first_row * kBoxRowBytes;
    for (int i = threadIdx.x % kWarpgroupSize; i < num_vectors; i += kWarpgroupSize) {
      *reinterpret_cast<uint4*>(rows + 16 * i) = make_uint4(0, 0, 0, 0);
    }
  }
  fence_for_wgmma();
  wait_at_barrier(barrier, kWarpgroupSize);
}

// D = A * B^T, with 64 of A's rows (from `a_row` on, a multiple of 8) and all N of B's; or added to
// D.
template <typename T, int kARows, int kN, int kColumns>
__device__ __forceinline__ void multiply_by_rows(float (&d)[kN / 2], const char* a, int a_row,
                                                 const char* b, bool is_added = false) {
  using A = SharedTile<kARows, kColumns>;
  using B = SharedTile<kN, kColumns>;
  const uint64_t a_descriptor = matrix_descriptor(a + a_row * kBoxRowBytes, 0);
  const uint64_t b_descriptor = matrix_descriptor(b, 0);
#pragma unroll
  for (int k = 0; k < kColumns / 16; ++k) {
    // Addresses in descriptors count in 16 bytes.
    const uint64_t a_step = k / 4 * (A::kChunkBytes / 16) + k % 4 * 2;
    const uint64_t b_step = k / 4 * (B::kChunkBytes / 16) + k % 4 * 2;
    Wgmma<T, kN>::multiply(d, a_descriptor + a_step, b_descriptor + b_step, is_added || k > 0);
  }
}

// D += P * B, with P of 64 x kK packed in registers.
template <typename T, int kK, int kColumns>
__device__ __forceinline__ void multiply_add_by_columns(float (&d)[kColumns / 2],
                                                        const uint32_t (&p)[kK / 4],
                                                        const char* b) {
  const uint64_t descriptor = matrix_descriptor(b, SharedTile<kK, kColumns>::kChunkBytes);
#pragma unroll
  for (int k = 0; k < kK / 16; ++k) {
    Wgmma<T, kColumns>::multiply(d, p + 4 * k, descriptor + k * (2048 / 16), true);
  }
}

// D = P * B, likewise.
template <typename T, int kK, int kColumns>
__device__ __forceinline__ void multiply_by_columns(float (&d)[kColumns / 2],
                                                    const uint32_t (&p)[kK / 4], const char* b) {
  const uint64_t descriptor = matrix_descriptor(b, SharedTile<kK, kColumns>::kChunkBytes);
#pragma unroll
  for (int k = 0; k < kK / 16; ++k) {
    Wgmma<T, kColumns>::multiply(d, p + 4 * k, descriptor + k * (2048 / 16), k > 0);
  }
}

// D += P * B, with 64 rows of P in shared memory, from `row` on.
template <typename T, int kRows, int kK, int kColumns>
__device__ __forceinline__ void multiply_add_by_columns(float (&d)[kColumns / 2], const char* p,
                                                        int row, const char* b) {
  const uint64_t p_descriptor = matrix_descriptor(p + row * kBoxRowBytes, 0);
  const uint64_t descriptor = matrix_descriptor(b, SharedTile<kK, kColumns>::kChunkBytes);
#pragma unroll
  for (int k = 0; k < kK / 16; ++k) {
    const uint64_t step = k / 4 * (SharedTile<kRows, kK>::kChunkBytes / 16) + k % 4 * 2;
    Wgmma<T, kColumns>::multiply_by_columns(d, p_descriptor + step, descriptor + k * (2048 / 16),
                                            true);
  }
}

// D = A^T * B, with 64 columns of A and kN of B, both tiles of kK rows: `a` and `b` are the first
// of the chunks that have these columns.
template <typename T, int kK, int kN>
__device__ __forceinline__ void multiply_columns(float (&d)[kN / 2], const char* a, const char* b) {
  const uint64_t a_descriptor = matrix_descriptor(a, kK * kBoxRowBytes);
  const uint64_t b_descriptor = matrix_descriptor(b, kK * kBoxRowBytes);
#pragma unroll
  for (int k = 0; k < kK / 16; ++k) {
    Wgmma<T, kN>::multiply_transposed(d, a_descriptor + k * (2048 / 16),
                                      b_descriptor + k * (2048 / 16), k > 0);
  }
}

// D = P * B^T, with P of 64 x kK elements of 8 bits packed in registers, and kN of B's kRows rows
// of them, from `row` on.
template <typename T, int kRows, int kK, int kN>
__device__ __forceinline__ void multiply_by_rows(float (&d)[kN / 2], const uint32_t (&p)[kK / 8],
                                                 const char* b, int row) {
  const uint64_t descriptor = matrix_descriptor(b + row * kBoxRowBytes, 0);
#pragma unroll
  for (int k = 0; k < kK / 32; ++k) {
    const uint64_t step = k / 4 * (SharedTile<kRows, kK / 2>::kChunkBytes / 16) + k % 4 * 2;
    Wgmma<T, kN>::multiply(d, p + 4 * k, descriptor + step, k > 0);
  }
}

#endif

}  // namespace cudaops_kernels

#endif
