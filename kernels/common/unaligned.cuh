// SPDX-License-Identifier: Apache-2.0
// Vectors at any address that is a multiple of an element's size. A vector is Packed, 16 bytes of
// elements, or Bytes<4> or Bytes<8>, what those become when they are quantised.
//
//   load_unaligned(data)                           whatever lies around the vector may be read
//   load_unaligned(data, begin, end)               only its elements begin … end - 1
//   load_window(data)                              as the first, in flight
//   load_window(data, begin, end, first, last)     what lies around it in the array that reaches
//                                                  from `first` to `last`, in flight
//   store_unaligned(data, vector, begin, end)      its elements begin … end - 1
//   store_unaligned(data, vector, begin, end, num_lanes)
//                                                  the same, those of neighbouring lanes put
//                                                  together to aligned vectors
//
// In flight: a Window keeps the two aligned vectors that were loaded; they are shifted when the
// vector is asked for, after other loads were issued. load_window<Bytes<8>>(data) loads bytes.
#pragma once

#include "vectors.cuh"

namespace cudaops_kernels {

template <int kSize>
__device__ __forceinline__ bool is_aligned_for_bytes(const uint8_t* data) {
  return reinterpret_cast<uintptr_t>(data) % kSize == 0;
}

// To the `vector`-th multiple of kSize from `data` on, which is one.
template <int kSize>
__device__ __forceinline__ void store_aligned(uint8_t* data, const Bytes<kSize>& bytes,
                                              int vector = 0) {
  if constexpr (kSize == 8) {
    reinterpret_cast<uint2*>(data)[vector] = {bytes.words[0], bytes.words[1]};
  } else {
    reinterpret_cast<uint32_t*>(data)[vector] = bytes.words[0];
  }
}
// Bytes begin … end - 1 of them; most have the first or the last: in one store for each power of
// two.
template <int kSize>
__device__ __forceinline__ void store_aligned(uint8_t* data, const Bytes<kSize>& bytes, int begin,
                                              int end) {
  const int num = end - begin;
  const uint64_t word =
      kSize == 8 ? uint64_t{bytes.words[kSize / 4 - 1]} << 32 | bytes.words[0] : bytes.words[0];
  if (num == kSize) {
    store_aligned(data, bytes);
  } else if (begin > 0 && end < kSize) {
#pragma unroll 1
    for (int k = begin; k < end; ++k) data[k] = static_cast<uint8_t>(word >> (k * 8));
  } else if (num > 0) {
    // The smallest next to what is not ours.
    const int one = begin > 0 ? begin : num & 6;
    const int two = begin > 0 ? (begin + 1) & 6 : num & 4;
    const int four = begin > 0 ? 4 : 0;
    if ((num & 1) != 0) data[one] = static_cast<uint8_t>(word >> (one * 8));
    if ((num & 2) != 0) {
      *reinterpret_cast<uint16_t*>(data + two) = static_cast<uint16_t>(word >> (two * 8));
    }
    if (kSize == 8 && (num & 4) != 0) {
      *reinterpret_cast<uint32_t*>(data + four) = static_cast<uint32_t>(word >> (four * 8));
    }
  }
}

// Sixteen bytes of `words`, six at least, from the `offset % 8`-th on: a multiple of T's size.
template <typename T, int kNumWords>
__device__ __forceinline__ Packed shift_below_eight(uint32_t (&words)[kNumWords],
                                                    unsigned int offset) {
#pragma unroll
  for (int i = 0; i < 5; ++i) words[i] = (offset & 4) != 0 ? words[i + 1] : words[i];
  if constexpr (sizeof(T) < 4) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      words[i] =
          static_cast<uint32_t>((uint64_t{words[i + 1]} << 32 | words[i]) >> (offset % 4 * 8));
    }
  }
  return {words[0], words[1], words[2], words[3]};
}

// Sixteen bytes of two vectors, from the `offset`-th on: a multiple of T's size below 16.
template <typename T>
__device__ __forceinline__ Packed funnel_shift(const Packed& low, const Packed& high,
                                               unsigned int offset) {
  uint32_t words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int i = 0; i < 6; ++i) words[i] = (offset & 8) != 0 ? words[i + 2] : words[i];
  return shift_below_eight<T>(words, offset);
}

// The same of bytes; offset is at most kSize.
template <typename T, int kSize>
__device__ __forceinline__ Bytes<kSize> funnel_shift(const Bytes<kSize>& low,
                                                     const Bytes<kSize>& high,
                                                     unsigned int offset) {
  constexpr int kWords = Bytes<kSize>::kWords;
  uint32_t words[2 * kWords + 1];
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    words[i] = low.words[i];
    words[kWords + i] = high.words[i];
  }
  words[2 * kWords] = 0;
#pragma unroll
  for (int step = kWords; step > 0; step /= 2) {
#pragma unroll
    for (int i = 0; i + step <= 2 * kWords; ++i) {
      words[i] = (offset & (4 * step)) != 0 ? words[i + step] : words[i];
    }
  }
  Bytes<kSize> bytes;
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    bytes.words[i] =
        static_cast<uint32_t>((uint64_t{words[i + 1]} << 32 | words[i]) >> (offset % 4 * 8));
  }
  return bytes;
}

// From any address that is a multiple of T's size: two aligned loads and a funnel shift. Up to 14
// bytes on either side are read as well and must be readable.
template <typename T>
__device__ __forceinline__ Packed load_unaligned(const T* data) {
  const unsigned int offset = static_cast<unsigned int>(reinterpret_cast<uintptr_t>(data) % 16);
  const T* aligned = data - offset / sizeof(T);
  return funnel_shift<T>(load_ordered(aligned), load_ordered(aligned + Vector<T>::kSize), offset);
}

// The `vector`-th sixteen bytes from `data` on, which lies `offset` bytes behind a multiple of 16,
// by the read-only path. Three halves of vectors, not two vectors: half of the choices between
// words. Up to 8 bytes on either side are read as well.
template <typename T>
__device__ __forceinline__ Packed load_halves(const char* data, unsigned int offset, int vector) {
  const uint2* const halves =
      reinterpret_cast<const uint2*>(data - offset % 8) + int64_t{vector} * 2;
  const uint2 a = cudaops::ldg(halves), b = cudaops::ldg(halves + 1), c = cudaops::ldg(halves + 2);
  uint32_t words[6] = {a.x, a.y, b.x, b.y, c.x, c.y};
  return shift_below_eight<T>(words, offset);
}

// Elements begin … end - 1 of the vector at `data`, and 0: nothing else is read. All loads are in
// flight at once: one after the other they would take longer than the rest of a row.
template <typename T>
__device__ __forceinline__ Packed load_unaligned(const T* data, int begin, int end) {
  constexpr int kSize = Vector<T>::kSize;
  uint32_t bits[kSize];
#pragma unroll
  for (int k = 0; k < kSize; ++k) bits[k] = k >= begin && k < end ? detail::bits_of(data[k]) : 0;
  if constexpr (sizeof(T) == 4) {
    return {bits[0], bits[1], bits[2], bits[3]};
  } else {
    return {bits[0] | bits[1] << 16, bits[2] | bits[3] << 16, bits[4] | bits[5] << 16,
            bits[6] | bits[7] << 16};
  }
}

// The same for the ends of a whole array: a loop with shifts is little code.
template <typename T>
__device__ __forceinline__ Packed load_unaligned_looped(const T* data, int begin, int end) {
  constexpr int kHalf = Vector<T>::kSize / 2;
  uint64_t low = 0, high = 0;
#pragma unroll 1
  for (int k = begin; k < end; ++k) {
    const uint64_t bits = uint64_t{detail::bits_of(data[k])}
                          << (k % kHalf * 8 * static_cast<int>(sizeof(T)));
    if (k < kHalf) {
      low |= bits;
    } else {
      high |= bits;
    }
  }
  return {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), static_cast<uint32_t>(high),
          static_cast<uint32_t>(high >> 32)};
}

namespace detail {

// A vector in flight: two aligned ones, to be shifted when they have arrived.
template <typename T, typename V = Packed>
struct Window {
  V low, high;          // without an offset only the first counts: a copy of it would wait for it
  unsigned int offset;  // bytes in `low` before the vector
  __device__ __forceinline__ V vector() const { return funnel_shift<T>(low, high, offset); }
  __device__ __forceinline__ Numbers<T> numbers() const { return unpack<T>(vector()); }
};

// The vector at `data` between others: all of both vectors may be read.
template <typename V = Packed, typename T>
__device__ __forceinline__ Window<T, V> load_window(const T* data) {
  const unsigned int offset =
      static_cast<unsigned int>(reinterpret_cast<uintptr_t>(data) % sizeof(V));
  // As an integer the address would lose its address space.
  const char* const aligned = reinterpret_cast<const char*>(data) - offset;
  return {load_aligned<V>(aligned), load_aligned<V>(aligned + sizeof(V)), offset};
}

// The vector at `data`, of which elements begin … end - 1 are wanted. Of an array that reaches from
// `first` to `last` nothing else is touched; the other elements are what lies there, or 0.
template <typename T>
__device__ __forceinline__ Window<T> load_window(const T* data, int begin, int end, const T* first,
                                                 const T* last) {
  Window<T> window = {};
  window.offset = static_cast<unsigned int>(reinterpret_cast<uintptr_t>(data) % 16);
  const bool is_aligned = window.offset == 0;
  // As an integer the address would lose its address space.
  const char* aligned = reinterpret_cast<const char*>(data) - window.offset;
  if (aligned >= reinterpret_cast<const char*>(first) &&
      aligned + (is_aligned ? 16 : 32) <= reinterpret_cast<const char*>(last)) {
    window.low = load_aligned(aligned);
    if (!is_aligned) window.high = load_aligned(aligned + 16);
  } else {
    window.low = load_unaligned(data, begin, end);
    window.offset = 0;
  }
  return window;
}

// The same of bytes; one body for both would make nvcc 13.0 generate other code for either.
template <typename V, int kSize = V::kSize>
__device__ __forceinline__ Window<uint8_t, V> load_window(const uint8_t* data, int begin, int end,
                                                          const uint8_t* first,
                                                          const uint8_t* last) {
  Window<uint8_t, V> window = {};
  window.offset = static_cast<unsigned int>(reinterpret_cast<uintptr_t>(data) % kSize);
  const uint8_t* const aligned = data - window.offset;
  if (aligned >= first && aligned + (window.offset == 0 ? 1 : 2) * kSize <= last) {
    window.low = load_aligned<V>(aligned);
    if (window.offset != 0) window.high = load_aligned<V>(aligned + kSize);
  } else {
#pragma unroll
    for (int k = 0; k < kSize; ++k) {
      if (k >= begin && k < end) window.low.words[k / 4] |= uint32_t{data[k]} << (k % 4 * 8);
    }
    window.offset = 0;
  }
  return window;
}

}  // namespace detail

// Elements begin … end - 1 of a vector, to any address that is a multiple of T's size.
template <typename T>
__device__ __forceinline__ void store_unaligned(T* data, const Packed& packed, int begin, int end) {
  constexpr int kHalf = Vector<T>::kSize / 2;
  const uint64_t low = uint64_t{packed.y} << 32 | packed.x;
  const uint64_t high = uint64_t{packed.w} << 32 | packed.z;
#pragma unroll 1
  for (int k = begin; k < end; ++k) {
    const uint64_t bits = (k < kHalf ? low : high) >> (k % kHalf * 8 * static_cast<int>(sizeof(T)));
    data[k] = detail::element_of<T>(static_cast<uint32_t>(bits));
  }
}

// Bytes: at once where all are wanted and `data` is a multiple of kSize.
template <int kSize>
__device__ __forceinline__ void store_unaligned(uint8_t* data, const Bytes<kSize>& bytes, int begin,
                                                int end) {
  const bool is_whole = end - begin == kSize && is_aligned_for_bytes<kSize>(data);
  if (is_whole) store_aligned(data, bytes);
#pragma unroll
  for (int k = 0; k < kSize; ++k) {
    if (is_whole || k < begin || k >= end) continue;
    data[k] = static_cast<uint8_t>(bytes.words[k / 4] >> (k % 4 * 8));
  }
}

// The same by neighbouring lanes for neighbouring vectors: the lower `num_lanes` of a warp call it
// together. An aligned vector that two lanes have parts of is stored by the lower one.
template <typename T>
__device__ __forceinline__ void store_unaligned(T* data, const Packed& packed, int begin, int end,
                                                int num_lanes) {
  constexpr int kSize = Vector<T>::kSize;
  const cudaops::LaneMask lanes =
      num_lanes >= 32 ? cudaops::kAllLanes : (cudaops::LaneMask{1} << num_lanes) - 1;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int is_whole = end - begin == kSize;
  // Word by word: HIP's uint4 is no plain value.
  const Packed next = {
      cudaops::shfl_down(packed.x, 1, 32, lanes), cudaops::shfl_down(packed.y, 1, 32, lanes),
      cudaops::shfl_down(packed.z, 1, 32, lanes), cudaops::shfl_down(packed.w, 1, 32, lanes)};
  const int next_is_whole = cudaops::shfl_down(is_whole, 1, 32, lanes);
  const int last_is_whole = cudaops::shfl_up(is_whole, 1, 32, lanes);
  const bool joins_next = lane + 1 < num_lanes && is_whole != 0 && next_is_whole != 0;
  const bool joins_last = lane > 0 && is_whole != 0 && last_is_whole != 0;
  const unsigned int misaligned_bytes =
      static_cast<unsigned int>(reinterpret_cast<uintptr_t>(data) % 16);
  const int middle = kSize - static_cast<int>(misaligned_bytes / sizeof(T));
  if (joins_next)
    store_aligned(data + middle, funnel_shift<T>(packed, next, 16 - misaligned_bytes));
  store_unaligned(data, packed, joins_last ? middle : begin, joins_next ? middle : end);
}

}  // namespace cudaops_kernels
