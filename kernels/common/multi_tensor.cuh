// SPDX-License-Identifier: Apache-2.0
// An engine for element-wise ops on lists of tensors: one launch for any number of tensors of any
// sizes.
//
// A table says of each tensor where its arrays are, how many elements they have, and which block is
// its first; a block finds its tensor in it, then its elements: 1024 of them, four a thread, so
// that a float32 array is accessed 16 bytes a thread and the warps' accesses are contiguous for all
// types. No loop and no persistent grid: short blocks keep the memory busier.
//
// How the table gets to the device:
// - Up to 32 tensors it travels in the kernel's own arguments: nothing is copied at all.
// - Longer ones are written to device memory by launches whose arguments carry the bytes, 32 KB
//   each (4 KB before CUDA 12.1). A launch keeps its arguments, also in a captured graph. A copy
//   from host memory would have to be from pinned memory that stays untouched until the stream has
//   come to it, in a graph for ever, or it would make the host wait.
// - Where the caller keeps the memory, the table is written once and used by many launches.
// A block's search in device memory takes two or three reads that all blocks find in the cache; in
// kernel arguments lanes can't read different places at once, so there it is a binary search, and
// only short tables are worth it.
//
// An op is a functor on the device:
//
//   struct Scale {
//     using Tensor = …;  // of the host and the device alike; has num_elements
//     template <typename Access>
//     __device__ void operator()(const Tensor& tensor, const Access& at) const {
//       at.store(tensor.out, at.load(tensor.in) * 2);
//     }
//   };
#pragma once

#include <cuda_runtime.h>
#include <cudaops/check.h>

#include <cstring>
#include <vector>

#include "vectors.cuh"

// HIP reads kernel arguments from memory anyway.
#if CUDAOPS_HIP
#define CUDAOPS_GRID_CONSTANT
#else
#define CUDAOPS_GRID_CONSTANT __grid_constant__
#endif

namespace cudaops_kernels {

constexpr int kMultiTensorThreads = 256;
constexpr int kMultiTensorSize = 4;  // elements a thread
constexpr int64_t kMultiTensorBlock = kMultiTensorThreads * kMultiTensorSize;
constexpr int kInlineTensors = 32;

template <typename Tensor>
struct alignas(16) TensorRow {
  Tensor tensor;
  uint32_t first_block;
  uint32_t is_aligned;  // all arrays, to four elements
};

// In device memory: the first blocks of all tensors, then, from the next multiple of 16 bytes on,
// their rows. First blocks stand apart, so that a search reads neighbouring words.
template <typename Tensor>
struct DeviceTable {
  const uint32_t* first_blocks;
  const TensorRow<Tensor>* rows;
  int num_tensors;

  // As many places as a warp has lanes are compared at once.
  __device__ __forceinline__ const TensorRow<Tensor>& row_of(uint32_t block) const {
    const int lane = cudaops::lane_id();
    int begin = 0, count = num_tensors;
    while (count > 1) {
      const int stride = (count + cudaops::warp_size() - 1) / cudaops::warp_size();
      const int offset = lane * stride;
      const bool is_before = offset < count && first_blocks[begin + offset] <= block;
      const int skipped = (cudaops::count_lanes(cudaops::ballot(is_before)) - 1) * stride;
      begin += skipped;
      count = count - skipped < stride ? count - skipped : stride;
    }
    return rows[begin];
  }
};

// In the kernel's arguments.
template <typename Tensor>
struct InlineTable {
  TensorRow<Tensor> rows[kInlineTensors];
  int num_tensors;

  __device__ __forceinline__ const TensorRow<Tensor>& row_of(uint32_t block) const {
    int begin = 0, end = num_tensors;
    while (end - begin > 1) {
      const int middle = (begin + end) / 2;
      if (rows[middle].first_block <= block) {
        begin = middle;
      } else {
        end = middle;
      }
    }
    return rows[begin];
  }
};

// Tells the compiler of an address from a table what it knows of a kernel's argument.
template <typename T>
__device__ __forceinline__ T* in_global_memory(T* data) {
#if !CUDAOPS_HIP
  __builtin_assume(__isGlobal(data));
#endif
  return data;
}

using FourFloats = Floats<kMultiTensorSize>;

// Four neighbouring elements of an aligned array, with one instruction.
struct VectorAccess {
  int64_t index;  // in units of four elements

  template <typename T>
  struct alignas(kMultiTensorSize * sizeof(T)) Four {
    uint32_t words[sizeof(T)];
  };

  template <typename T>
  __device__ __forceinline__ FourFloats load(const T* data) const {
    const Four<T> four = reinterpret_cast<const Four<T>*>(in_global_memory(data))[index];
    return unpack_words<T, kMultiTensorSize>(four.words);
  }

  template <typename T>
  __device__ __forceinline__ void store(T* data, const FourFloats& numbers) const {
    Four<T> four;
    pack_words<T>(numbers, four.words);
    reinterpret_cast<Four<T>*>(in_global_memory(data))[index] = four;
  }
};

// Four elements one by one, a block's threads side by side: for arrays that aren't aligned, and the
// last block of a tensor.
struct ScalarAccess {
  int64_t first;
  int64_t num_elements;

  template <typename T>
  __device__ __forceinline__ FourFloats load(const T* data) const {
    FourFloats result;
#pragma unroll
    for (int k = 0; k < kMultiTensorSize; ++k) {
      const int64_t i = first + k * kMultiTensorThreads;
      result[k] = i < num_elements ? to_float(in_global_memory(data)[i]) : 0.0f;
    }
    return result;
  }

  template <typename T>
  __device__ __forceinline__ void store(T* data, const FourFloats& numbers) const {
#pragma unroll
    for (int k = 0; k < kMultiTensorSize; ++k) {
      const int64_t i = first + k * kMultiTensorThreads;
      if (i < num_elements) in_global_memory(data)[i] = from_float<T>(numbers[k]);
    }
  }
};

template <typename Op, typename Table>
__global__ void __launch_bounds__(kMultiTensorThreads)
    multi_tensor_kernel(CUDAOPS_GRID_CONSTANT const Table table, const Op op) {
  const TensorRow<typename Op::Tensor> row = table.row_of(blockIdx.x);
  const int64_t block = blockIdx.x - row.first_block;
  if (row.is_aligned != 0 && (block + 1) * kMultiTensorBlock <= row.tensor.num_elements) {
    op(row.tensor, VectorAccess{block * kMultiTensorThreads + threadIdx.x});
  } else {
    op(row.tensor, ScalarAccess{block * kMultiTensorBlock + threadIdx.x, row.tensor.num_elements});
  }
}

// The rows of a list, and how many blocks it takes. is_aligned(tensor): whether all of its arrays
// are aligned to four elements.
template <typename Tensor, typename IsAligned>
int64_t fill_rows(const Tensor* tensors, int64_t num_tensors, const IsAligned& is_aligned,
                  TensorRow<Tensor>* rows) {
  int64_t num_blocks = 0;
  for (int64_t i = 0; i < num_tensors; ++i) {
    rows[i] = {tensors[i], static_cast<uint32_t>(num_blocks), is_aligned(tensors[i]) ? 1u : 0u};
    num_blocks += (tensors[i].num_elements + kMultiTensorBlock - 1) / kMultiTensorBlock;
  }
  return num_blocks;
}

inline int64_t first_blocks_bytes(int64_t num_tensors) {
  return (num_tensors * int64_t{sizeof(uint32_t)} + 15) / 16 * 16;
}

template <typename Tensor>
int64_t device_table_bytes(int64_t num_tensors) {
  return first_blocks_bytes(num_tensors) + num_tensors * int64_t{sizeof(TensorRow<Tensor>)};
}

template <typename Tensor>
DeviceTable<Tensor> device_table(const void* memory, int64_t num_tensors) {
  const char* rows = static_cast<const char*>(memory) + first_blocks_bytes(num_tensors);
  return {static_cast<const uint32_t*>(memory), reinterpret_cast<const TensorRow<Tensor>*>(rows),
          static_cast<int>(num_tensors)};
}

// What one launch can carry to the device.
template <int kBytes>
struct Cargo {
  uint4 words[kBytes / 16];
};
using SmallCargo = Cargo<4064>;   // of 4096 bytes of arguments
using LargeCargo = Cargo<32736>;  // of 32764: compute capability 7.0, CUDA 12.1

// Lanes can't read different places of the arguments at once: small blocks spread that over the
// device.
constexpr int kCargoThreads = 32;

template <typename C>
__global__ void __launch_bounds__(kCargoThreads)
    deliver_kernel(CUDAOPS_GRID_CONSTANT const C cargo, uint4* to, int num_words) {
  const int i = static_cast<int>(blockIdx.x) * kCargoThreads + static_cast<int>(threadIdx.x);
  if (i < num_words) to[i] = cargo.words[i];
}

// bytes: a multiple of 16.
template <typename C>
void deliver(const void* from, void* to, int64_t bytes, cudaStream_t stream) {
  for (int64_t done = 0; done < bytes; done += int64_t{sizeof(C)}) {
    const int64_t left = bytes - done;
    const int64_t now = left < int64_t{sizeof(C)} ? left : int64_t{sizeof(C)};
    C cargo;
    std::memcpy(&cargo, static_cast<const char*>(from) + done, static_cast<size_t>(now));
    const int num_words = static_cast<int>(now / 16);
    uint4* place = reinterpret_cast<uint4*>(static_cast<char*>(to) + done);
    deliver_kernel<C><<<num_blocks(num_words, kCargoThreads), kCargoThreads, 0, stream>>>(
        cargo, place, num_words);
    CUDAOPS_CHECK_LAUNCH();
  }
}

// A driver may be older than the toolkit.
inline bool takes_large_cargo() {
#if !CUDAOPS_HIP && defined(CUDART_VERSION) && CUDART_VERSION >= 12010
  static const bool result = [] {
    int version = 0;
    return cudaDriverGetVersion(&version) == cudaSuccess && version >= 12010;
  }();
  return result;
#else
  return false;
#endif
}

// Writes the table to device memory, in stream order; returns the number of blocks.
template <typename Tensor, typename IsAligned>
int64_t write_device_table(const Tensor* tensors, int64_t num_tensors, const IsAligned& is_aligned,
                           void* memory, cudaStream_t stream) {
  const int64_t bytes = device_table_bytes<Tensor>(num_tensors);
  std::vector<uint4> packed(static_cast<size_t>(bytes / 16));
  uint32_t* first_blocks = reinterpret_cast<uint32_t*>(packed.data());
  auto* rows = reinterpret_cast<TensorRow<Tensor>*>(reinterpret_cast<char*>(packed.data()) +
                                                    first_blocks_bytes(num_tensors));
  const int64_t num_blocks = fill_rows(tensors, num_tensors, is_aligned, rows);
  for (int64_t i = 0; i < num_tensors; ++i) first_blocks[i] = rows[i].first_block;
#if !CUDAOPS_HIP && defined(CUDART_VERSION) && CUDART_VERSION >= 12010
  if (bytes > int64_t{sizeof(SmallCargo)} && takes_large_cargo()) {
    deliver<LargeCargo>(packed.data(), memory, bytes, stream);
    return num_blocks;
  }
#endif
  deliver<SmallCargo>(packed.data(), memory, bytes, stream);
  return num_blocks;
}

inline unsigned int checked_grid(int64_t num_blocks) {
  if (num_blocks > 0x7fffffff) {
    cudaops::throw_runtime_error("a list of tensors of more than 2^41 elements is too long.");
  }
  return static_cast<unsigned int>(num_blocks);
}

template <typename Op, typename Table>
void launch_multi_tensor(const Op& op, const Table& table, int64_t num_blocks,
                         cudaStream_t stream) {
  if (num_blocks == 0) return;
  multi_tensor_kernel<Op, Table>
      <<<checked_grid(num_blocks), kMultiTensorThreads, 0, stream>>>(table, op);
  CUDAOPS_CHECK_LAUNCH();
}

// Device memory that a launch from a list on the host needs.
template <typename Tensor>
int64_t multi_tensor_workspace_bytes(int64_t num_tensors) {
  return num_tensors <= kInlineTensors ? 0 : device_table_bytes<Tensor>(num_tensors);
}

template <typename Op, typename IsAligned>
void launch_multi_tensor_list(const Op& op, const typename Op::Tensor* tensors, int64_t num_tensors,
                              const IsAligned& is_aligned, void* workspace, cudaStream_t stream) {
  using Tensor = typename Op::Tensor;
  if (num_tensors <= kInlineTensors) {
    InlineTable<Tensor> table{};
    table.num_tensors = static_cast<int>(num_tensors);
    const int64_t num_blocks = fill_rows(tensors, num_tensors, is_aligned, table.rows);
    launch_multi_tensor(op, table, num_blocks, stream);
    return;
  }
  const int64_t num_blocks =
      write_device_table(tensors, num_tensors, is_aligned, workspace, stream);
  launch_multi_tensor(op, device_table<Tensor>(workspace, num_tensors), num_blocks, stream);
}

}  // namespace cudaops_kernels
