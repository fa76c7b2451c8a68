// SPDX-License-Identifier: Apache-2.0
// Sixteen bytes of elements: loaded and stored where they are aligned (unaligned.cuh: anywhere),
// calculated with in float.
//
//   Packed      in registers, four words: nvcc gives an array of 16-bit elements eight of them
//   Floats<n>   n elements to calculate with; Numbers<T>: as many as 16 bytes of T
//   Vector<T>   in memory (device_types.cuh)
//   Bytes<n>    n bytes in words, such as what n elements become when they are quantised
//
// unpack<T>(packed) and pack<T>(numbers) go from one to the other, rounded to nearest even.
#pragma once

#include <cudaops/gpu_compat.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "device_types.cuh"

namespace cudaops_kernels {

using Packed = uint4;

// The same of other sizes: four bytes a word, the first in the lowest bits.
template <int kNumBytes>
struct Bytes {
  static constexpr int kSize = kNumBytes;
  static constexpr int kWords = (kSize + 3) / 4;
  uint32_t words[kWords];
};

// The elements of a vector as floats, with element-wise arithmetic.
template <int kElements>
struct Floats {
  static constexpr int kSize = kElements;
  float element[kSize];
  __device__ __forceinline__ float& operator[](int k) { return element[k]; }
  __device__ __forceinline__ float operator[](int k) const { return element[k]; }
};

template <typename T>
using Numbers = Floats<Vector<T>::kSize>;

template <typename F, int kSize, typename... Others>
__device__ __forceinline__ Floats<kSize> map(const F& f, const Floats<kSize>& first,
                                             const Others&... others) {
  Floats<kSize> result;
#pragma unroll
  for (int k = 0; k < kSize; ++k) result[k] = f(first[k], others[k]...);
  return result;
}
template <int kSize>
__device__ __forceinline__ Floats<kSize> operator+(const Floats<kSize>& a, const Floats<kSize>& b) {
  return map([](float x, float y) { return x + y; }, a, b);
}
template <int kSize>
__device__ __forceinline__ Floats<kSize> operator-(const Floats<kSize>& a, const Floats<kSize>& b) {
  return map([](float x, float y) { return x - y; }, a, b);
}
template <int kSize>
__device__ __forceinline__ Floats<kSize> operator*(const Floats<kSize>& a, const Floats<kSize>& b) {
  return map([](float x, float y) { return x * y; }, a, b);
}
template <int kSize>
__device__ __forceinline__ Floats<kSize> operator+(const Floats<kSize>& a, float b) {
  return map([b](float x) { return x + b; }, a);
}
template <int kSize>
__device__ __forceinline__ Floats<kSize> operator-(const Floats<kSize>& a, float b) {
  return map([b](float x) { return x - b; }, a);
}
template <int kSize>
__device__ __forceinline__ Floats<kSize> operator*(const Floats<kSize>& a, float b) {
  return map([b](float x) { return x * b; }, a);
}
template <int kSize>
__device__ __forceinline__ float total(const Floats<kSize>& a) {
  float sum = a[0];
#pragma unroll
  for (int k = 1; k < kSize; ++k) sum += a[k];
  return sum;
}
template <int kSize>
__device__ __forceinline__ float largest(const Floats<kSize>& a) {
  float max = a[0];
#pragma unroll
  for (int k = 1; k < kSize; ++k) max = fmaxf(max, a[k]);
  return max;
}
template <int kSize>
__device__ __forceinline__ float dot(const Floats<kSize>& a, const Floats<kSize>& b) {
  return total(a * b);
}

namespace detail {

template <typename T>
using BitsOf = typename std::conditional<sizeof(T) == 4, uint32_t, uint16_t>::type;

template <typename T>
__device__ __forceinline__ T element_of(uint32_t bits) {
  const BitsOf<T> narrow = static_cast<BitsOf<T>>(bits);
  T element;
  memcpy(&element, &narrow, sizeof element);
  return element;
}

template <typename T>
__device__ __forceinline__ uint32_t bits_of(T element) {
  BitsOf<T> bits;
  memcpy(&bits, &element, sizeof bits);
  return bits;
}

// Two 16-bit elements, the first in the lower half.
template <typename T>
__device__ __forceinline__ uint32_t pack_pair(float first, float second) {
#if !CUDAOPS_HIP
  if constexpr (std::is_same<T, bfloat16>::value) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
    uint32_t word;
    memcpy(&word, &pair, sizeof word);
    return word;
  } else if constexpr (std::is_same<T, __half>::value) {
    const __half2 pair = __floats2half2_rn(first, second);
    uint32_t word;
    memcpy(&word, &pair, sizeof word);
    return word;
  }
#endif
  return bits_of(from_float<T>(first)) | bits_of(from_float<T>(second)) << 16;
}

}  // namespace detail

// kSize elements in words of 32 bits, those of 16 bits two a word, and back: rounded to nearest
// even.
template <typename T, int kSize>
__device__ __forceinline__ Floats<kSize> unpack_words(const uint32_t* words) {
  constexpr int kEach = 4 / static_cast<int>(sizeof(T));  // a word
  Floats<kSize> result;
#pragma unroll
  for (int i = 0; i * kEach < kSize; ++i) {
    if constexpr (sizeof(T) == 4) {
      result[i] = __uint_as_float(words[i]);
    } else if constexpr (std::is_same<T, bfloat16>::value) {
      result[2 * i] = __uint_as_float(words[i] << 16);
      if (2 * i + 1 < kSize) result[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
    } else {
      result[2 * i] = to_float(detail::element_of<T>(words[i] & 0xffffu));
      if (2 * i + 1 < kSize) result[2 * i + 1] = to_float(detail::element_of<T>(words[i] >> 16));
    }
  }
  return result;
}
template <typename T, int kSize>
__device__ __forceinline__ void pack_words(const Floats<kSize>& numbers, uint32_t* words) {
  constexpr int kWords = (kSize * static_cast<int>(sizeof(T)) + 3) / 4;
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    if constexpr (sizeof(T) == 4) {
      words[i] = __float_as_uint(numbers[i]);
    } else if constexpr (kSize == 1) {
      words[i] = detail::bits_of(from_float<T>(numbers[i]));
    } else {
      words[i] = detail::pack_pair<T>(numbers[2 * i], numbers[2 * i + 1]);
    }
  }
}

template <typename T>
__device__ __forceinline__ Numbers<T> unpack(const Packed& packed) {
  const uint32_t words[4] = {packed.x, packed.y, packed.z, packed.w};
  return unpack_words<T, Numbers<T>::kSize>(words);
}
template <typename T>
__device__ __forceinline__ Packed pack(const Numbers<T>& numbers) {
  uint32_t words[4];
  pack_words<T>(numbers, words);
  return {words[0], words[1], words[2], words[3]};
}

template <typename T>
__device__ __forceinline__ Packed negated(const Packed& packed) {
  constexpr uint32_t kSigns = sizeof(T) == 4 ? 0x80000000u : 0x80008000u;
  return {packed.x ^ kSigns, packed.y ^ kSigns, packed.z ^ kSigns, packed.w ^ kSigns};
}

// The same vector, opaque to the compiler: it would otherwise convert a vector that two passes use
// once and keep the floats, which for 16-bit types take twice the registers.
template <typename T>
__device__ __forceinline__ Packed kept_packed(Packed packed) {
  if constexpr (sizeof(T) < 4) {
#if CUDAOPS_HIP
    asm volatile("" : "+v"(packed.x), "+v"(packed.y), "+v"(packed.z), "+v"(packed.w));
#else
    asm volatile("" : "+r"(packed.x), "+r"(packed.y), "+r"(packed.z), "+r"(packed.w));
#endif
  }
  return packed;
}

// unpack<T>(), by instructions that ptxas does not take for the same: of a vector that is unpacked
// again later, too, it would keep the numbers, for it sees through kept_packed(). Numbers take
// twice the registers of their vector.
template <typename T>
__device__ __forceinline__ Numbers<T> unpack_apart(const Packed& packed) {
#if !CUDAOPS_HIP && CUDAOPS_DEVICE_CODE
  // 1 in every launch of rows; ptxas does not know that.
  const uint32_t one = gridDim.z;
  if constexpr (std::is_same<T, bfloat16>::value) {
    const uint32_t words[4] = {packed.x, packed.y, packed.z, packed.w};
    Numbers<T> result;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      result[2 * i] = __uint_as_float(words[i] << (16 * one));
      result[2 * i + 1] = __uint_as_float(words[i] & (0xffffffffu << (16 * one)));
    }
    return result;
  } else if constexpr (sizeof(T) < 4) {
    return unpack<T>({packed.x * one, packed.y * one, packed.z * one, packed.w * one});
  }
#endif
  return unpack<T>(packed);
}

// The same number, worked out here, while loads are in flight: nvcc would do it where it is used.
__device__ __forceinline__ float early(float number) {
#if CUDAOPS_HIP
  asm volatile("" : "+v"(number));
#else
  asm volatile("" : "+f"(number));
#endif
  return number;
}

// Over groups of `num_lanes` neighbours, a power of two up to 32; `lanes` are there.
__device__ __forceinline__ float max_over_lanes(float largest, int num_lanes,
                                                cudaops::LaneMask lanes = cudaops::kAllLanes) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    if (distance < num_lanes) {
      largest = fmaxf(largest, cudaops::shfl_xor(largest, distance, 32, lanes));
    }
  }
  return largest;
}

// The same address, opaque to the compiler: it would otherwise calculate a row's address again for
// each of its vectors.
template <typename T>
__device__ __forceinline__ T* kept_address(T* address) {
#if CUDAOPS_HIP || !CUDAOPS_DEVICE_CODE
  return address;
#else
  size_t global = __cvta_generic_to_global(address);
  asm volatile("" : "+l"(global));
  return static_cast<T*>(__cvta_global_to_generic(global));
#endif
}

// Another lane's address, of the same 32.
template <typename T>
__device__ __forceinline__ T* address_of_lane(T* address, int lane) {
#if CUDAOPS_HIP || !CUDAOPS_DEVICE_CODE
  return reinterpret_cast<T*>(cudaops::shfl(reinterpret_cast<uintptr_t>(address), lane, 32));
#else
  // As a plain integer the address would lose its address space; and nvcc 13.0 doesn't terminate
  // where it can see through the shuffle.
  size_t global = __cvta_generic_to_global(address);
  asm("" : "+l"(global));
  global = cudaops::shfl(global, lane, 32);
  asm("" : "+l"(global));
  return static_cast<T*>(__cvta_global_to_generic(global));
#endif
}

__device__ __forceinline__ bool is_aligned_to_16(const void* data) {
  return reinterpret_cast<uintptr_t>(data) % 16 == 0;
}

// Aligned to its size; V: the vector, Packed or unaligned.cuh's Bytes.
template <typename V = Packed, typename T>
__device__ __forceinline__ V load_aligned(const T* data) {
  if constexpr (sizeof(V) == 16) {
    return *reinterpret_cast<const V*>(data);
  } else if constexpr (sizeof(V) == 8) {
    const uint2 both = *reinterpret_cast<const uint2*>(data);
    return {{both.x, both.y}};
  } else {
    return {{*reinterpret_cast<const uint32_t*>(data)}};
  }
}
// The same, of 16 bytes, by the read-only path: of what nothing writes while the kernel runs. Not
// ordered behind stores.
template <typename T>
__device__ __forceinline__ Packed load_readonly(const T* data) {
#if CUDAOPS_HIP || !CUDAOPS_DEVICE_CODE
  return load_aligned(data);
#else
  Packed packed;
  asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(packed.x), "=r"(packed.y), "=r"(packed.z), "=r"(packed.w)
      : "l"(__cvta_generic_to_global(data)));
  return packed;
#endif
}
// The same, issued where it is written: the compiler would otherwise sink the load of a next row
// below the work on this one, to save registers.
template <typename T>
__device__ __forceinline__ Packed load_ordered(const T* data) {
#if CUDAOPS_HIP || !CUDAOPS_DEVICE_CODE
  return load_aligned(data);
#else
  Packed packed;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(packed.x), "=r"(packed.y), "=r"(packed.z), "=r"(packed.w)
               : "l"(__cvta_generic_to_global(data)));
  return packed;
#endif
}
// In one instruction: nvcc 13.0 takes four where the address was computed in elements.
template <typename T>
__device__ __forceinline__ void store_aligned(T* data, const Packed& packed) {
#if CUDAOPS_HIP || !CUDAOPS_DEVICE_CODE
  *reinterpret_cast<Packed*>(data) = packed;
#else
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(data)),
               "r"(packed.x), "r"(packed.y), "r"(packed.z), "r"(packed.w)
               : "memory");
#endif
}

// Elements begin … end - 1 of a vector; the others become `other`.
template <typename T>
__device__ __forceinline__ Packed masked(const Packed& packed, int begin, int end,
                                         float other = 0) {
  const uint32_t words[4] = {packed.x, packed.y, packed.z, packed.w};
  uint32_t others = detail::bits_of(from_float<T>(other));
  if constexpr (sizeof(T) < 4) others |= others << 16;
  uint32_t result[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if constexpr (sizeof(T) == 4) {
      result[i] = i >= begin && i < end ? words[i] : others;
    } else {
      const uint32_t low = 2 * i >= begin && 2 * i < end ? 0xffffu : 0;
      const uint32_t high = 2 * i + 1 >= begin && 2 * i + 1 < end ? 0xffff0000u : 0;
      result[i] = (words[i] & (low | high)) | (others & ~(low | high));
    }
  }
  return {result[0], result[1], result[2], result[3]};
}

}  // namespace cudaops_kernels
