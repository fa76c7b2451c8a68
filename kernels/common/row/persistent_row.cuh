// SPDX-License-Identifier: Apache-2.0
// What the persistent loops share: their grid, the sums that a thread keeps of its columns, a row.
#pragma once

#include <type_traits>

#include "../hopper.cuh"
#include "../per_device.cuh"
#include "masked_row.cuh"
#include "register_row.cuh"
#include "tuning_sm90.h"

namespace cudaops_kernels {

struct PersistentGrid {
  int64_t num_rows;
  int64_t width;
  Rows anchor;       // the rows' gradients
  float* workspace;  // null: no sums wanted

  // What a block has of a sum: [which][part][column].
  __device__ __forceinline__ float* part(int which, int64_t part, int64_t num_parts) const {
    return workspace + (which * num_parts + part) * width;
  }
};

namespace detail {

// Sums of a thread's columns over the rows that its block takes.
template <int kNumSums, int kVectors, int kSize>
struct ColumnSums {
  Floats<kSize> sums[kNumSums][kVectors];

  template <typename Place>
  __device__ __forceinline__ void add(int which, const Place& place, const Floats<kSize>& numbers) {
#pragma unroll
    for (int k = 0; k < kSize; ++k) sums[which][place.slot][k] += numbers[k];
  }

  // Column by column, `to` is the first's.
  template <typename Row>
  __device__ __forceinline__ void store(const Row& row, int which, float* to) const {
    row.each([&](const auto& place) {
      const Floats<kSize>& numbers = sums[which][place.slot];
      float* const part = to + place.column;
      if (place.is_whole() && is_aligned_to_16(part)) {
#pragma unroll
        for (int k = 0; k < kSize; k += 4) {
          *reinterpret_cast<float4*>(part + k) =
              make_float4(numbers[k], numbers[k + 1], numbers[k + 2], numbers[k + 3]);
        }
      } else {
#pragma unroll
        for (int k = 0; k < kSize; ++k) {
          if (place.holds(k)) part[k] = numbers[k];
        }
      }
    });
  }
};

struct NoSums {
  template <typename Place, typename Numbers>
  __device__ __forceinline__ void add(int, const Place&, const Numbers&) {}
};

// Adds up what the groups of threads of a block have, in pairs and always the same ones.
// `of_groups` is shared memory: `width` floats a group.
template <typename Sums, typename Row>
__device__ __forceinline__ void store_sums_of_groups(const Sums& sums, const Row& row, int which,
                                                     int width, float* of_groups, float* part) {
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  const int num_threads = static_cast<int>(blockDim.x * blockDim.y);
  __syncthreads();  // others may read what they had before
  sums.store(row, which, of_groups + threadIdx.y * width);
  for (int half = static_cast<int>(blockDim.y) / 2; half > 0; half /= 2) {
    __syncthreads();
    for (int i = thread; i < half * width; i += num_threads) {
      of_groups[i] += of_groups[i + half * width];
    }
  }
  __syncthreads();
  for (int i = thread; i < width; i += num_threads) part[i] = of_groups[i];
}

constexpr int kMostTotals = 2;  // a row

template <typename Op>
using Scalars = Floats<Op::kNumScalars>;

template <typename Op>
__device__ __forceinline__ Scalars<Op> load_scalars(const Op& op, int64_t index) {
  Scalars<Op> scalars;
#pragma unroll
  for (int i = 0; i < Op::kNumScalars; ++i) scalars[i] = op.scalars(i)[index];
  return scalars;
}

inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  CUDAOPS_CHECK(cudaGetDevice(&device));
  CUDAOPS_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

inline int warps_for(int64_t num_vectors, int per_thread) {
  const int64_t warps = (num_vectors + 32 * per_thread - 1) / (32 * per_thread);
  return warps == 0 ? 1 : static_cast<int>(warps);
}

template <int kCount>
struct AddFloats {
  __device__ __forceinline__ Floats<kCount> operator()(const Floats<kCount>& a,
                                                       const Floats<kCount>& b) const {
    return a + b;
  }
};

// Of a multiprocessor.
inline int64_t most_blocks(int num_threads) {
  return num_threads < kMaxPersistentThreads ? kMaxPersistentThreads / num_threads : 1;
}

inline int64_t at_most(int64_t value, int64_t limit) { return value < limit ? value : limit; }

// After how many rows the next one starts at the same place in a vector.
template <typename T>
int64_t alignment_period(const Rows& rows) {
  int64_t period = 1;
  while (rows.stride * period % Vector<T>::kSize != 0) period *= 2;
  return period;
}

// Blocks that take `rows_each` rows at once, at most `limit` of them unless there is no other way
// to have the rows of a block's next iteration start where its first ones do. As few as take no
// more iterations than with `limit`: else a few blocks would have the last one to themselves.
inline int64_t num_persistent_blocks(int64_t num_rows, int64_t rows_each, int64_t limit,
                                     int64_t period) {
  const int64_t wanted = (num_rows + rows_each - 1) / rows_each;
  if (wanted <= limit) return wanted;  // one iteration
  const int64_t multiple = period > rows_each ? period / rows_each : 1;
  const int64_t most = limit < multiple ? multiple : limit - limit % multiple;
  const int64_t iterations = (wanted + most - 1) / most;
  const int64_t even = (wanted + iterations - 1) / iterations;
  return at_most(wanted, (even + multiple - 1) / multiple * multiple);
}

// Which elements of a row's first or last vector the row has. Calculated where it is used: the
// compiler would do it before the loop and keep it in registers, which the other vectors need.
struct Ends {
  int begin, end;
};
template <int kSize>
__device__ __forceinline__ Ends ends_of(int64_t vector_column, int64_t width) {
  int column = static_cast<int>(vector_column);
#if CUDAOPS_HIP
  asm volatile("" : "+v"(column));
#else
  asm volatile("" : "+r"(column));
#endif
  const int left = static_cast<int>(width) - column;
  return {column < 0 ? -column : 0, left < kSize ? left : kSize};
}

// A row of a persistent loop: its vectors start at the same columns as those of the block's other
// rows.
template <typename T, int kVectors, bool kWhole>
struct PersistentRow
    : std::conditional_t<kWhole, RegisterRow<T, kVectors, false>, MaskedRow<T, kVectors>> {
  using Base = std::conditional_t<kWhole, RegisterRow<T, kVectors, false>, MaskedRow<T, kVectors>>;
  using Base::Base;
  using typename Base::Numbers;
  using typename Base::Place;

  // To the rows that vectors are laid at.
  __device__ __forceinline__ void store(const Rows& rows, const Place& place,
                                        const Numbers& numbers) const {
    T* const data = rows.template row<T>(this->index()) + place.column;
    const Packed packed = pack<T>(numbers);
    if (place.is_whole()) {
      store_aligned(data, packed);
    } else {
      store_words(data, packed, ends_of<Base::kSize>(place.column, this->width()));
    }
  }

 private:
  // In words as far as they are whole: each store is a request of its own.
  static __device__ __forceinline__ void store_words(T* data, const Packed& packed,
                                                     const Ends& ends) {
    const uint32_t words[4] = {packed.x, packed.y, packed.z, packed.w};
    constexpr int kEach = 4 / sizeof(T);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int first = i * kEach, last = first + kEach - 1;
      const bool has_first = first >= ends.begin && first < ends.end;
      const bool has_last = last >= ends.begin && last < ends.end;
      if (has_first && has_last) reinterpret_cast<uint32_t*>(data)[i] = words[i];
      if (has_first != has_last) {
        data[has_first ? first : last] = element_of<T>(has_first ? words[i] : words[i] >> 16);
      }
    }
  }
};

}  // namespace detail
}  // namespace cudaops_kernels
