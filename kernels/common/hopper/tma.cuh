// SPDX-License-Identifier: Apache-2.0
// Tiles of tensors to shared memory and back by the copy engine (sm_90 and later). PTX ISA,
// "cp.async.bulk.tensor" and "Tensors: Swizzling Modes"; CUDA driver API, cuTensorMapEncodeTiled.
//
// A tensor map describes a tensor [batch, heads, seq, columns] of 16-bit elements and a box of
// rows x 64 columns (128 bytes). A copied box lies in shared memory as rows of 128 bytes, whose
// 16-byte units are permuted (128-byte swizzle: the unit's index is xored with the row's index
// modulo 8), as wgmma reads it without bank conflicts. What lies outside of the tensor comes as
// zeros and counts as bytes like the rest.
#pragma once

#include <cudaops/gpu_compat.h>

#if !CUDAOPS_HIP

#include <cudaTypedefs.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "../hopper.cuh"

namespace cudaops_kernels {

// Elements in a row of a box, and its bytes.
constexpr int kBoxColumns = 64;
constexpr int kBoxRowBytes = 128;

#if CUDAOPS_HAS_HOPPER

__device__ __forceinline__ void prefetch_tensor_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// One thread copies a box; `to` is a multiple of 1024 bytes. Rows are counted in the sequence.
__device__ __forceinline__ void copy_box_to_shared(void* to, const CUtensorMap* map, int column,
                                                   int row, int head, int batch,
                                                   uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(column), "r"(row), "r"(head), "r"(batch)
      : "memory");
}

// A box to memory, by one thread; what lies outside of the tensor is not written. What was written
// to shared memory by ordinary stores is fenced before (wgmma.cuh); when it has been read:
// bulk_copy.cuh, wait_for_reads().
__device__ __forceinline__ void copy_box_from_shared(const CUtensorMap* map, const void* from,
                                                     int column, int row, int head, int batch) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::
          "l"(map),
      "r"(shared_address(from)), "r"(column), "r"(row), "r"(head), "r"(batch)
      : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// The same box to the L2 cache.
__device__ __forceinline__ void prefetch_box(const CUtensorMap* map, int column, int row, int head,
                                             int batch) {
  asm volatile("cp.async.bulk.prefetch.tensor.4d.L2.global.tile [%0, {%1, %2, %3, %4}];" ::"l"(map),
               "r"(column), "r"(row), "r"(head), "r"(batch)
               : "memory");
}

#endif

// What a tensor map says: sizes, and strides in elements. Elements of a row stand side by side.
struct MappedTensor {
  const void* data;
  int64_t columns, seq, heads, batch;
  int64_t seq_stride, head_stride, batch_stride;
};

// Whether the copy engine can read the tensor: address and strides are multiples of 16 bytes, and
// within its limits. A stride may be 0, of a tensor that was expanded.
inline bool can_be_mapped(const MappedTensor& tensor) {
  constexpr int64_t kMaxSize = int64_t{1} << 31;
  constexpr int64_t kMaxStride = int64_t{1} << 39;  // in elements of two bytes
  const int64_t sizes[] = {tensor.seq, tensor.heads, tensor.batch};
  const int64_t strides[] = {tensor.seq_stride, tensor.head_stride, tensor.batch_stride};
  if (reinterpret_cast<uintptr_t>(tensor.data) % 16 != 0) return false;
  for (int i = 0; i < 3; ++i) {
    if (sizes[i] <= 0 || sizes[i] >= kMaxSize) return false;
    if (sizes[i] == 1) continue;
    if (strides[i] < 0 || strides[i] >= kMaxStride || strides[i] % 8 != 0) return false;
  }
  return tensor.columns > 0 && tensor.columns % 8 == 0;
}

// The driver's encoder, or null when there is no driver; libcuda is not linked.
inline PFN_cuTensorMapEncodeTiled_v12000 tensor_map_encoder() {
  static const PFN_cuTensorMapEncodeTiled_v12000 encoder = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                                               12000, cudaEnableDefault, &result);
#else
    const cudaError_t error =
        cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &result);
#endif
    if (error != cudaSuccess) (void)cudaGetLastError();
    const bool found = error == cudaSuccess && result == cudaDriverEntryPointSuccess;
    return found ? reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function) : nullptr;
  }();
  return encoder;
}

// False when the driver refuses it. `type`: of 16 bits.
inline bool encode_tensor_map(CUtensorMap* map, CUtensorMapDataType type,
                              const MappedTensor& tensor, int box_rows) {
  const cuuint64_t sizes[4] = {
      static_cast<cuuint64_t>(tensor.columns), static_cast<cuuint64_t>(tensor.seq),
      static_cast<cuuint64_t>(tensor.heads), static_cast<cuuint64_t>(tensor.batch)};
  // The stride of a dimension of size 1 is never used, but must be valid.
  const auto bytes = [](int64_t size, int64_t stride) {
    return static_cast<cuuint64_t>(size == 1 ? 16 : stride * 2);
  };
  const cuuint64_t strides[3] = {bytes(tensor.seq, tensor.seq_stride),
                                 bytes(tensor.heads, tensor.head_stride),
                                 bytes(tensor.batch, tensor.batch_stride)};
  const cuuint32_t box[4] = {kBoxColumns, static_cast<cuuint32_t>(box_rows), 1, 1};
  const cuuint32_t steps[4] = {1, 1, 1, 1};
  const auto encode = tensor_map_encoder();
  return encode != nullptr && encode(map, type, 4, const_cast<void*>(tensor.data), sizes, strides,
                                     box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                     CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

}  // namespace cudaops_kernels

#endif
