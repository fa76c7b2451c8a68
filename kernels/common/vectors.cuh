// SPDX-License-Identifier: Apache-2.0
// Sixteen bytes of elements: loaded and stored at any alignment, calculated with in float.
//
// In registers a vector stays packed in four words: as an array of 16-bit elements nvcc gives it
// eight registers.
#pragma once

#include <cudaops/gpu_compat.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "device_types.cuh"

namespace cudaops_kernels {

using Packed = uint4;

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

// The largest magnitude, or element, of the vectors that are added to it; NaN doesn't count.
template <typename T>
class AbsMax {
#if !CUDAOPS_HIP && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  static constexpr bool kInPairs = sizeof(T) == 2;  // two 16-bit elements an instruction
#else
  static constexpr bool kInPairs = false;
#endif

 public:
  // `start`: a number of T, none of the elements is below it.
  __device__ __forceinline__ explicit AbsMax(float start = 0) {
    if constexpr (kInPairs) {
      pair_ = detail::pack_pair<T>(start, start);
    } else {
      largest_ = start;
    }
  }

  __device__ __forceinline__ void add_signed(const Packed& packed) { add_by<false>(packed); }
  __device__ __forceinline__ void add(const Packed& packed) { add_by<true>(packed); }

  // The same as one word, to be exchanged through memory.
  __device__ __forceinline__ uint32_t word() const {
    return kInPairs ? pair_ : __float_as_uint(largest_);
  }
  __device__ __forceinline__ void add_word(uint32_t word) {
    if constexpr (kInPairs) {
      add_pairs(word);
    } else {
      largest_ = fmaxf(largest_, __uint_as_float(word));
    }
  }

  __device__ __forceinline__ float value() const {
    if constexpr (kInPairs) {
      const Numbers<T> both = unpack<T>({pair_, 0, 0, 0});
      return fmaxf(both[0], both[1]);
    } else {
      return largest_;
    }
  }

  // Over groups of `num_lanes` neighbours, a power of two up to 32, of which `lanes` are there: two
  // at a time where that takes half of the shuffles.
  template <int kCount>
  __device__ __forceinline__ static Floats<kCount> reduce_lanes(const AbsMax (&of_thread)[kCount],
                                                                int num_lanes,
                                                                cudaops::LaneMask lanes) {
    Floats<kCount> largest;
    if constexpr (kInPairs && kCount % 2 == 0) {
#pragma unroll
      for (int i = 0; i < kCount; i += 2) {
        const uint32_t a = of_thread[i].pair_, b = of_thread[i + 1].pair_;
        AbsMax both = of_thread[i];
        both.pair_ = __byte_perm(a, b, 0x5410);
        both.add_pairs(__byte_perm(a, b, 0x7632));
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
          if (distance < num_lanes) {
            both.add_pairs(cudaops::shfl_xor(both.pair_, distance, 32, lanes));
          }
        }
        const Numbers<T> numbers = unpack<T>({both.pair_, 0, 0, 0});
        largest[i] = numbers[0];
        largest[i + 1] = numbers[1];
      }
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        largest[i] = max_over_lanes(of_thread[i].value(), num_lanes, lanes);
      }
    }
    return largest;
  }

  // Reduce-scatter over groups of at least kCount lanes of a whole warp: lane i of a group gets
  // only the largest of of_thread[i % kCount]. A lane gives half of what it has to its neighbour
  // and takes the neighbour's other half, until one is left.
  template <int kCount>
  __device__ __forceinline__ static float reduce_scatter_lanes(const AbsMax (&of_thread)[kCount],
                                                               int num_lanes) {
    static_assert(kCount > 1 && (kCount & (kCount - 1)) == 0, "halves down to one");
    constexpr int kLeft = kInPairs ? kCount / 2 : kCount;
    AbsMax left[kLeft];
#pragma unroll
    for (int i = 0; i < kLeft; ++i) {
      left[i] = of_thread[i];
      if constexpr (kInPairs) {
        const uint32_t a = of_thread[i].pair_, b = of_thread[i + kLeft].pair_;
        left[i].pair_ = __byte_perm(a, b, 0x5410);
        left[i].add_pairs(__byte_perm(a, b, 0x7632));
      }
    }
    const int lane = cudaops::lane_id();
    int distance = 1;
#pragma unroll
    for (int num = kLeft / 2; num > 0; num /= 2, distance *= 2) {
      const bool keeps_odd = (lane & distance) != 0;
#pragma unroll
      for (int i = 0; i < num; ++i) {
        const AbsMax even = left[2 * i], odd = left[2 * i + 1];
        left[i] = keeps_odd ? odd : even;
        left[i].add_lane(keeps_odd ? even : odd, distance);
      }
    }
#pragma unroll
    for (; distance < 32; distance *= 2) {
      if (distance < kCount || distance < num_lanes) left[0].add_lane(left[0], distance);
    }
    if constexpr (kInPairs) {
      const Numbers<T> both = unpack<T>({left[0].pair_, 0, 0, 0});
      return (lane & kLeft) != 0 ? both[1] : both[0];
    } else {
      return left[0].largest_;
    }
  }

 private:
  __device__ __forceinline__ void add_lane(const AbsMax& sent, int distance) {
    if constexpr (kInPairs) {
      add_pairs(cudaops::shfl_xor(sent.pair_, distance, 32));
    } else {
      largest_ = fmaxf(largest_, cudaops::shfl_xor(sent.largest_, distance, 32));
    }
  }

  template <bool kMagnitudes>
  __device__ __forceinline__ void add_by(const Packed& packed) {
    if constexpr (kInPairs) {
      constexpr uint32_t kKept = kMagnitudes ? 0x7fff7fffu : 0xffffffffu;
      add_pairs(packed.x & kKept);
      add_pairs(packed.y & kKept);
      add_pairs(packed.z & kKept);
      add_pairs(packed.w & kKept);
    } else {
      const Numbers<T> x = unpack<T>(packed);
#pragma unroll
      for (int k = 0; k < Numbers<T>::kSize; ++k) {
        largest_ = fmaxf(largest_, kMagnitudes ? fabsf(x[k]) : x[k]);
      }
    }
  }

  __device__ __forceinline__ void add_pairs(uint32_t pair) {
#if !CUDAOPS_HIP && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (std::is_same<T, bfloat16>::value) {
      asm("max.bf16x2 %0, %0, %1;" : "+r"(pair_) : "r"(pair));
    } else {
      asm("max.f16x2 %0, %0, %1;" : "+r"(pair_) : "r"(pair));
    }
#endif
  }

  uint32_t pair_ = 0;
  float largest_ = 0;
};

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

// Aligned to 16 bytes.
template <typename T>
__device__ __forceinline__ Packed load_aligned(const T* data) {
  return *reinterpret_cast<const Packed*>(data);
}
// The same by the read-only path: of what nothing writes while the kernel runs. Not ordered behind
// stores.
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

// Sixteen bytes of two vectors, from the `offset`-th on: a multiple of T's size below 16.
template <typename T>
__device__ __forceinline__ Packed funnel_shift(const Packed& low, const Packed& high,
                                               unsigned int offset) {
  uint32_t words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int i = 0; i < 6; ++i) words[i] = (offset & 8) != 0 ? words[i + 2] : words[i];
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

// From any address that is a multiple of T's size: two aligned loads and a funnel shift. Up to 14
// bytes on either side are read as well and must be readable.
template <typename T>
__device__ __forceinline__ Packed load_unaligned(const T* data) {
  const unsigned int offset = static_cast<unsigned int>(reinterpret_cast<uintptr_t>(data) % 16);
  const T* aligned = data - offset / sizeof(T);
  return funnel_shift<T>(load_ordered(aligned), load_ordered(aligned + Vector<T>::kSize), offset);
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

// The same from memory, where nothing but these elements may be read. All loads are in flight at
// once: one after the other they would take longer than the rest of a row.
template <typename T>
__device__ __forceinline__ Packed load_elements(const T* data, int begin, int end) {
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
__device__ __forceinline__ Packed load_elements_looped(const T* data, int begin, int end) {
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

template <typename T>
__device__ __forceinline__ void store_elements(T* data, const Packed& packed, int begin, int end) {
  constexpr int kHalf = Vector<T>::kSize / 2;
  const uint64_t low = uint64_t{packed.y} << 32 | packed.x;
  const uint64_t high = uint64_t{packed.w} << 32 | packed.z;
#pragma unroll 1
  for (int k = begin; k < end; ++k) {
    const uint64_t bits = (k < kHalf ? low : high) >> (k % kHalf * 8 * static_cast<int>(sizeof(T)));
    data[k] = detail::element_of<T>(static_cast<uint32_t>(bits));
  }
}

// To any address that is a multiple of T's size, by neighbouring lanes for neighbouring vectors:
// the lower `num_lanes` of a warp call it together. An aligned vector that two lanes have parts of
// is stored by the lower one.
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
  store_elements(data, packed, joins_last ? middle : begin, joins_next ? middle : end);
}

}  // namespace cudaops_kernels
