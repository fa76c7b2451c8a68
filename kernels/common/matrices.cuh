// SPDX-License-Identifier: Apache-2.0
// Matrices of 8 x 8 elements of 16 bits between shared memory and a warp's registers, for sm_80 and
// later (PTX ISA: ldmatrix, movmatrix).
#pragma once

#include <cstdint>

#include "async_copy.cuh"

namespace cudaops_kernels {

#if CUDAOPS_HAS_ASYNC_COPY

// A tile in shared memory has kWidth 16-bit elements a row, a multiple of 64, in units of 16 bytes,
// and begins at a multiple of a row. Units change places within eight by the row: eight rows' same
// units lie in all banks.
template <int kWidth>
__device__ __forceinline__ int place_of_unit(int row, int unit) {
  return (row * (kWidth / 8) + (unit ^ (row & 7))) * 8;
}
// From the address of unit `unit` of a row to that of unit ^ (2 * pair) of the row kRows further
// on, a multiple of 8.
template <int kWidth, int kRows>
__device__ __forceinline__ SharedAddress next_unit(SharedAddress address, int pair) {
  return (address ^ static_cast<SharedAddress>(32 * pair)) + kRows * kWidth * 2;
}

// Four matrices of 8 x 8: lanes 0 to 7 give the rows of the first, and so on. Of each a lane gets
// elements 2 * (l % 4) and the next of row l / 4; transposed: of column l / 4.
__device__ __forceinline__ void load_matrices(uint32_t (&matrices)[4], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
               : "r"(row)
               : "memory");
}
__device__ __forceinline__ void load_transposed(uint32_t (&matrices)[4], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
               : "r"(row)
               : "memory");
}

// Of a matrix in registers, as load_matrices() leaves it: what load_transposed() would have left.
__device__ __forceinline__ uint32_t transpose_matrix(uint32_t matrix) {
  uint32_t transposed;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(transposed) : "r"(matrix));
  return transposed;
}

#endif

}  // namespace cudaops_kernels
