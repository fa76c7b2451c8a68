// SPDX-License-Identifier: Apache-2.0
// adamw on the CPU, with the vector instructions that this machine has.

#include <algorithm>
#include <cmath>
#include <vector>

#include "../common/cpu_roots.h"
#include "../common/cpu_rows.h"
#include "adamw.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cudaops_kernels {
namespace {

// One step of one tensor.
struct Step {
  float beta1, beta2, decay, eps, factor, step_size, denominator_scale;
  float rest1, rest2;   // 1 - beta, rounded once: one of a rounded beta has few right digits
  float inverse_scale;  // of the gradient as it is stored

  Step(const AdamW& call, const AdamWTensor& tensor) {
    const double lr = call.lr_pointer != nullptr ? *call.lr_pointer : call.lr;
    const double step = *tensor.step;
    beta1 = static_cast<float>(call.beta1);
    beta2 = static_cast<float>(call.beta2);
    rest1 = static_cast<float>(1 - call.beta1);
    rest2 = static_cast<float>(1 - call.beta2);
    decay = static_cast<float>(lr * call.weight_decay);
    eps = static_cast<float>(call.eps);
    factor = call.maximize ? -1.0f : 1.0f;
    if (call.clip_factor != nullptr) factor *= *call.clip_factor;
    inverse_scale = call.grad_scale != nullptr ? 1 / *call.grad_scale : 1;
    step_size = static_cast<float>(lr / (1 - std::pow(call.beta1, step)));
    denominator_scale = static_cast<float>(1 / std::sqrt(1 - std::pow(call.beta2, step)));
  }
};

// kFma: whether a multiplication and an addition are one instruction; where they aren't, fmaf() is
// a slow function.
template <bool kFma>
inline __attribute__((always_inline)) float multiply_add(float a, float b, float c) {
  if constexpr (kFma) {
    return __builtin_fmaf(a, b, c);
  } else {
    return a * b + c;
  }
}

// Square roots, of whole vectors. A compiler that has to set errno takes them one by one.
constexpr int kGroup = 64;  // larger groups are slower, by a sixth at 1024

#if defined(__x86_64__)
__attribute__((target("avx2"))) inline void roots_avx2(float* numbers, int count) {
  for (int i = 0; i < count; i += 8) {
    _mm256_storeu_ps(numbers + i, _mm256_sqrt_ps(_mm256_loadu_ps(numbers + i)));
  }
}
__attribute__((target("avx512f"))) inline void roots_avx512(float* numbers, int count) {
  for (int i = 0; i < count; i += 16) {
    const __m512 group = _mm512_loadu_ps(numbers + i);
    // With a mask: the plain one makes GCC 12 warn of its own header.
    _mm512_storeu_ps(numbers + i, _mm512_mask_sqrt_ps(group, 0xffff, group));
  }
}
#endif

// The arrays of a tensor don't overlap; without being told so, a compiler writes its loops twice,
// behind a comparison of all pairs.
#if defined(__clang__)
#define CUDAOPS_NO_OVERLAP _Pragma("clang loop vectorize(assume_safety)")
#else
#define CUDAOPS_NO_OVERLAP _Pragma("GCC ivdep")
#endif

// Inlined into functions for several instruction sets, which each vectorise it.
template <typename T, bool kMaster, bool kScaled, bool kFma, void (*roots)(float*, int)>
inline __attribute__((always_inline)) void update(const Step& step, const AdamWTensor& tensor,
                                                  int64_t begin, int64_t end) {
  const Step s = step;
  float denominator[kGroup] = {};
  for (int64_t first = begin; first < end; first += kGroup) {
    const int count = static_cast<int>(std::min<int64_t>(kGroup, end - first));
    T* const param = static_cast<T*>(tensor.param) + first;
    T* const grad = static_cast<T*>(tensor.grad) + first;
    float* const exp_avg = tensor.exp_avg + first;
    float* const exp_avg_sq = tensor.exp_avg_sq + first;
    float* const master = tensor.master + (kMaster ? first : 0);
    CUDAOPS_NO_OVERLAP
    for (int i = 0; i < count; ++i) {
      float g = to_float(grad[i]);
      if constexpr (kScaled) {
        g *= s.inverse_scale;
        grad[i] = from_float<T>(g);
      }
      g *= s.factor;
      const float m = multiply_add<kFma>(s.beta1, exp_avg[i], s.rest1 * g);
      const float v = multiply_add<kFma>(s.beta2, exp_avg_sq[i], s.rest2 * (g * g));
      exp_avg[i] = m;
      exp_avg_sq[i] = v;
      denominator[i] = v;
    }
    roots(denominator, count);
    CUDAOPS_NO_OVERLAP
    for (int i = 0; i < count; ++i) {
      float p = kMaster ? master[i] : to_float(param[i]);
      p -= s.decay * p;
      p -= s.step_size * exp_avg[i] / (denominator[i] * s.denominator_scale + s.eps);
      if constexpr (kMaster) master[i] = p;
      param[i] = from_float<T>(p);
    }
  }
}

using UpdateRange = void (*)(const Step& step, const AdamWTensor& tensor, int64_t begin,
                             int64_t end);

template <typename T, bool kMaster, bool kScaled>
void update_plain(const Step& step, const AdamWTensor& tensor, int64_t begin, int64_t end) {
  update<T, kMaster, kScaled, false, roots_plain>(step, tensor, begin, end);
}

#if defined(__x86_64__)
template <typename T, bool kMaster, bool kScaled>
__attribute__((target("avx2,fma"))) void update_avx2(const Step& step, const AdamWTensor& tensor,
                                                     int64_t begin, int64_t end) {
  update<T, kMaster, kScaled, true, roots_avx2>(step, tensor, begin, end);
}

template <typename T, bool kMaster, bool kScaled>
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512"))) void
update_avx512(const Step& step, const AdamWTensor& tensor, int64_t begin, int64_t end) {
  update<T, kMaster, kScaled, true, roots_avx512>(step, tensor, begin, end);
}
#endif

template <typename T, bool kMaster, bool kScaled>
UpdateRange update_for(CpuLevel level) {
#if defined(__x86_64__)
  if (level == CpuLevel::kAvx512) return update_avx512<T, kMaster, kScaled>;
  if (level == CpuLevel::kAvx2) return update_avx2<T, kMaster, kScaled>;
#endif
  (void)level;
  return update_plain<T, kMaster, kScaled>;
}

// Short enough that a range's five arrays leave the cache to others, long enough that handing it
// out costs nothing.
constexpr int64_t kChunk = 16384;

struct Run {
  template <typename T>
  static void run(CpuLevel level, const AdamW& call, const AdamWTensor* tensors,
                  int64_t num_tensors, ParallelFor parallel_for) {
    const bool has_master = call.has_master, is_scaled = call.grad_scale != nullptr;
    const UpdateRange update_range =
        has_master
            ? (is_scaled ? update_for<T, true, true>(level) : update_for<T, true, false>(level))
            : (is_scaled ? update_for<T, false, true>(level) : update_for<T, false, false>(level));
    std::vector<Step> steps;
    std::vector<int64_t> first_chunks;
    int64_t num_chunks = 0, num_elements = 0;
    for (int64_t i = 0; i < num_tensors; ++i) {
      steps.emplace_back(call, tensors[i]);
      first_chunks.push_back(num_chunks);
      num_chunks += (tensors[i].num_elements + kChunk - 1) / kChunk;
      num_elements += tensors[i].num_elements;
    }
    // A thread gets no less than a chunk's worth of elements; small tensors are short chunks.
    const int64_t grain = num_elements == 0 ? 1 : num_chunks * kChunk / num_elements + 1;
    run_parallel(parallel_for, 0, num_chunks, grain, [&](int64_t begin, int64_t end) {
      const auto found = std::upper_bound(first_chunks.begin(), first_chunks.end(), begin);
      int64_t tensor = static_cast<int64_t>(found - first_chunks.begin()) - 1;
      for (int64_t chunk = begin; chunk < end; ++chunk) {
        while (tensor + 1 < num_tensors && first_chunks[static_cast<size_t>(tensor + 1)] <= chunk) {
          ++tensor;
        }
        const int64_t first = (chunk - first_chunks[static_cast<size_t>(tensor)]) * kChunk;
        const int64_t last = std::min(first + kChunk, tensors[tensor].num_elements);
        update_range(steps[static_cast<size_t>(tensor)], tensors[tensor], first, last);
      }
    });
  }
};

}  // namespace

CpuLevel best_cpu_level() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return CpuLevel::kAvx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return CpuLevel::kAvx2;
#endif
  return CpuLevel::kPlain;
}

void adamw_cpu_with(CpuLevel level, const AdamW& call, const AdamWTensor* tensors,
                    int64_t num_tensors, ParallelFor parallel_for) {
  if (num_tensors == 0 || (call.found_inf != nullptr && *call.found_inf != 0)) return;
  for_host_type<Run>(call.dtype, level, call, tensors, num_tensors, parallel_for);
}

void adamw_cpu(const AdamW& call, const AdamWTensor* tensors, int64_t num_tensors,
               ParallelFor parallel_for) {
  static const CpuLevel level = best_cpu_level();
  adamw_cpu_with(level, call, tensors, num_tensors, parallel_for);
}

}  // namespace cudaops_kernels
