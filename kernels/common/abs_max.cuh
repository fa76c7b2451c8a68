// SPDX-License-Identifier: Apache-2.0
// The largest magnitude of vectors, over a thread's and over lanes: two 16-bit elements an
// instruction from sm_80 on.
#pragma once

#include "vectors.cuh"

namespace cudaops_kernels {

// The largest magnitude, or element, of the vectors that are added to it; NaN doesn't count.
template <typename T>
class AbsMax {
#if !CUDAOPS_HIP && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  static constexpr bool kInPairs = sizeof(T) == 2;  // two 16-bit elements an instruction
#else
  static constexpr bool kInPairs = false;
#endif
#if !CUDAOPS_HIP && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 860
  static constexpr bool kHasMagnitudes = true;  // of two magnitudes the larger, in one instruction
#else
  static constexpr bool kHasMagnitudes = false;
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
      if constexpr (kMagnitudes && kHasMagnitudes) {
        // Its signs are those of the product.
        uint32_t largest = larger_magnitudes(packed.x, packed.y);
        largest = larger_magnitudes(largest, packed.z);
        add_pairs(larger_magnitudes(largest, packed.w) & 0x7fff7fffu);
        return;
      }
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

  __device__ __forceinline__ static uint32_t larger_magnitudes(uint32_t a, uint32_t b) {
    uint32_t larger = 0;
#if !CUDAOPS_HIP && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 860
    if constexpr (std::is_same<T, bfloat16>::value) {
      asm("max.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
    } else {
      asm("max.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
    }
#endif
    return larger;
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

}  // namespace cudaops_kernels
