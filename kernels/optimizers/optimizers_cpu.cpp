// SPDX-License-Identifier: Apache-2.0
// lion, lamb and adamw_8bit on the CPU.
#include <algorithm>
#include <cmath>
#include <vector>

#include "../common/cpu_roots.h"
#include "../common/cpu_rows.h"
#include "optimizers.h"

namespace cudaops_kernels {
namespace {

// Elements that are worth a thread.
constexpr int64_t kGrain = 32768;

// As torch's: 0 for NaN.
inline float sign_of(float x) { return static_cast<float>(x > 0) - static_cast<float>(x < 0); }

struct LionStep {
  float lr, beta1, beta2, rest1, rest2, decay, sign;

  // Arguments that don't overlap: of what a lambda holds a compiler wouldn't know it.
  template <typename T>
  void update(T* __restrict param, const T* __restrict grad, float* __restrict exp_avg,
              int64_t count) const {
    for (int64_t i = 0; i < count; ++i) {
      const float g = to_float(grad[i]) * sign;
      const float mixed = beta1 * exp_avg[i] + rest1 * g;
      float value = to_float(param[i]);
      value -= decay * value;
      param[i] = from_float<T>(value - lr * sign_of(mixed));
      exp_avg[i] = beta2 * exp_avg[i] + rest2 * g;
    }
  }

  template <typename T>
  static void run(const Lion& call, const LionTensor& tensor, ParallelFor parallel_for) {
    const LionStep step{
        static_cast<float>(call.lr),        static_cast<float>(call.beta1),
        static_cast<float>(call.beta2),     static_cast<float>(1 - call.beta1),
        static_cast<float>(1 - call.beta2), static_cast<float>(call.lr * call.weight_decay),
        call.maximize ? -1.0f : 1.0f};
    run_parallel(parallel_for, 0, tensor.num_elements, kGrain, [&](int64_t begin, int64_t end) {
      step.update(static_cast<T*>(tensor.param) + begin, static_cast<const T*>(tensor.grad) + begin,
                  tensor.exp_avg + begin, end - begin);
    });
  }
};

// What adamw_8bit and lamb work on at a time: enough for whole vectors, and in the nearest cache.
constexpr int kSome = static_cast<int>(kStateBlock);
using Some = float[kSome];

template <typename T>
void load_some(const T* from, int count, float* to) {
  for (int i = 0; i < count; ++i) to[i] = to_float(from[i]);
  for (int i = count; i < kSome; ++i) to[i] = 0;
}

struct Moments {
  float beta1, beta2, rest1, rest2, eps;

  template <typename Call>
  explicit Moments(const Call& call)
      : beta1(static_cast<float>(call.beta1)),
        beta2(static_cast<float>(call.beta2)),
        rest1(static_cast<float>(1 - call.beta1)),
        rest2(static_cast<float>(1 - call.beta2)),
        eps(static_cast<float>(call.eps)) {}

  void advance(const float* __restrict grad, float factor, float* __restrict exp_avg,
               float* __restrict exp_avg_sq) const {
    for (int i = 0; i < kSome; ++i) {
      const float g = grad[i] * factor;
      exp_avg[i] = beta1 * exp_avg[i] + rest1 * g;
      exp_avg_sq[i] = beta2 * exp_avg_sq[i] + rest2 * (g * g);
    }
  }
  // update: exp_avg over the root of exp_avg_sq.
  void divide(const float* __restrict exp_avg, const float* __restrict exp_avg_sq,
              float correction1, float correction2, float* __restrict update) const {
    std::copy_n(exp_avg_sq, kSome, update);
    roots_plain(update, kSome);
    for (int i = 0; i < kSome; ++i) {
      update[i] = exp_avg[i] * correction1 / (update[i] * correction2 + eps);
    }
  }
};

struct LambStep {
  // body(first element, how many) for all elements of a part.
  template <typename Body>
  static void for_some(int64_t begin, int64_t end, const Body& body) {
    for (int64_t first = begin; first < end; first += kSome) {
      body(first, static_cast<int>(std::min<int64_t>(kSome, end - first)));
    }
  }

  template <typename T>
  static void run(const Lamb& call, const LambTensor& tensor, ParallelFor parallel_for) {
    T* const param = static_cast<T*>(tensor.param);
    const T* const grad = static_cast<const T*>(tensor.grad);
    const Moments moments(call);
    const float decay = static_cast<float>(call.weight_decay);
    float factor = call.maximize ? -1.0f : 1.0f;
    if (call.clip_factor != nullptr) factor *= *call.clip_factor;
    const auto update_of = [&](const float* exp_avg, const float* exp_avg_sq, const float* value,
                               int count, float* update) {
      moments.divide(exp_avg, exp_avg_sq, tensor.correction1, tensor.correction2, update);
      for (int i = 0; i < count; ++i) update[i] += decay * value[i];
    };
    // Parts of the same size whatever the threads: the sums are added up in one order.
    const int64_t num_parts = (tensor.num_elements + kGrain - 1) / kGrain;
    std::vector<double> squares(static_cast<size_t>(2 * num_parts));
    run_parallel(parallel_for, 0, num_parts, 1, [&](int64_t first_part, int64_t last_part) {
      for (int64_t part = first_part; part < last_part; ++part) {
        double of_param = 0, of_update = 0;
        const int64_t end = std::min(tensor.num_elements, (part + 1) * kGrain);
        for_some(part * kGrain, end, [&](int64_t first, int count) {
          Some g, value, exp_avg, exp_avg_sq, update;
          load_some(grad + first, count, g);
          load_some(param + first, count, value);
          load_some(tensor.exp_avg + first, count, exp_avg);
          load_some(tensor.exp_avg_sq + first, count, exp_avg_sq);
          moments.advance(g, factor, exp_avg, exp_avg_sq);
          std::copy_n(exp_avg, count, tensor.exp_avg + first);
          std::copy_n(exp_avg_sq, count, tensor.exp_avg_sq + first);
          update_of(exp_avg, exp_avg_sq, value, count, update);
          of_param += sum_over(count, [&](int64_t i) { return double{value[i]} * value[i]; });
          of_update += sum_over(count, [&](int64_t i) { return double{update[i]} * update[i]; });
        });
        squares[static_cast<size_t>(2 * part)] = of_param;
        squares[static_cast<size_t>(2 * part + 1)] = of_update;
      }
    });
    double of_param = 0, of_update = 0;
    for (size_t i = 0; i < squares.size(); i += 2) {
      of_param += squares[i];
      of_update += squares[i + 1];
    }
    const double ratio = of_param > 0 && of_update > 0 ? std::sqrt(of_param / of_update) : 1.0;
    const float step = static_cast<float>(call.lr * ratio);
    run_parallel(parallel_for, 0, tensor.num_elements, kGrain, [&](int64_t begin, int64_t end) {
      for_some(begin, end, [&](int64_t first, int count) {
        Some value, exp_avg, exp_avg_sq, update;
        load_some(param + first, count, value);
        load_some(tensor.exp_avg + first, count, exp_avg);
        load_some(tensor.exp_avg_sq + first, count, exp_avg_sq);
        update_of(exp_avg, exp_avg_sq, value, count, update);
        for (int i = 0; i < count; ++i) {
          param[first + i] = from_float<T>(value[i] - step * update[i]);
        }
      });
    });
  }
};

// A moment's elements of a block of the state, from wherever they are, and back.
struct Moment {
  void* state;
  float* absmax;
  const float* levels;
  const float* middles;

  void load(int64_t block, int64_t begin, int count, float* numbers) const {
    if (absmax == nullptr)
      return load_some(static_cast<const float*>(state) + begin, count, numbers);
    const uint8_t* const places = static_cast<const uint8_t*>(state) + begin;
    for (int i = 0; i < count; ++i) numbers[i] = levels[places[i]] * absmax[block];
    for (int i = count; i < kSome; ++i) numbers[i] = 0;
  }

  // As on a device: a level's place is how many of the middles between levels lie below the number.
  // All elements take a step of the search before the next one, so that none waits for another.
  void store(int64_t block, int64_t begin, int count, const float* numbers) const {
    if (absmax == nullptr) {
      std::copy_n(numbers, count, static_cast<float*>(state) + begin);
      return;
    }
    float largest = 0;
    for (int i = 0; i < count; ++i) largest = std::max(largest, std::fabs(numbers[i]));
    absmax[block] = largest;
    const float scale = largest > 0 ? largest : 1.0f;
    Some scaled;
    int32_t places[kSome];
    for (int i = 0; i < kSome; ++i) {
      scaled[i] = numbers[i] / scale;
      places[i] = 0;
    }
    for (int stride = kLevels / 2; stride > 0; stride /= 2) {
      for (int i = 0; i < kSome; ++i) {
        places[i] += static_cast<int>(middles[places[i] + stride - 1] < scaled[i]) * stride;
      }
    }
    uint8_t* const stored = static_cast<uint8_t*>(state) + begin;
    for (int i = 0; i < count; ++i) stored[i] = static_cast<uint8_t>(places[i]);
  }
};

struct AdamW8bitStep {
  template <typename T>
  static void run(const AdamW8bit& call, const AdamW8bitTensor& tensor, const float* middles1,
                  const float* middles2, ParallelFor parallel_for) {
    T* const param = static_cast<T*>(tensor.param);
    const T* const grad = static_cast<const T*>(tensor.grad);
    const Moments moments(call);
    const float sign = call.maximize ? -1.0f : 1.0f, lr = static_cast<float>(call.lr);
    const float decay = static_cast<float>(call.lr * call.weight_decay);
    const Moment of_first{tensor.state1, tensor.absmax1, call.levels1, middles1};
    const Moment of_second{tensor.state2, tensor.absmax2, call.levels2, middles2};
    const int64_t num_blocks = (tensor.num_elements + kStateBlock - 1) / kStateBlock;
    run_parallel(
        parallel_for, 0, num_blocks, kGrain / kStateBlock, [&](int64_t begin, int64_t end) {
          for (int64_t block = begin; block < end; ++block) {
            const int64_t first = block * kStateBlock;
            const int count =
                static_cast<int>(std::min<int64_t>(kSome, tensor.num_elements - first));
            Some g, exp_avg, exp_avg_sq, update;
            load_some(grad + first, count, g);
            of_first.load(block, first, count, exp_avg);
            of_second.load(block, first, count, exp_avg_sq);
            moments.advance(g, sign, exp_avg, exp_avg_sq);
            moments.divide(exp_avg, exp_avg_sq, tensor.correction1, tensor.correction2, update);
            for (int i = 0; i < count; ++i) {
              const float value = to_float(param[first + i]);
              param[first + i] = from_float<T>(value - decay * value - lr * update[i]);
            }
            of_first.store(block, first, count, exp_avg);
            of_second.store(block, first, count, exp_avg_sq);
          }
        });
  }
};

std::vector<float> middles_of(const float* levels) {
  std::vector<float> middles(kLevels);
  for (int i = 0; i < kLevels; ++i) {
    middles[static_cast<size_t>(i)] = (levels[i] + levels[std::min(i + 1, kLevels - 1)]) / 2;
  }
  return middles;
}

}  // namespace

void lion_cpu(const Lion& call, const LionTensor* tensors, int64_t num_tensors,
              ParallelFor parallel_for) {
  for (int64_t i = 0; i < num_tensors; ++i) {
    for_host_type<LionStep>(call.dtype, call, tensors[i], parallel_for);
  }
}

void lamb_cpu(const Lamb& call, const LambTensor* tensors, int64_t num_tensors,
              ParallelFor parallel_for) {
  for (int64_t i = 0; i < num_tensors; ++i) {
    for_host_type<LambStep>(call.dtype, call, tensors[i], parallel_for);
  }
}

void adamw_8bit_cpu(const AdamW8bit& call, const AdamW8bitTensor* tensors, int64_t num_tensors,
                    ParallelFor parallel_for) {
  const std::vector<float> middles1 = middles_of(call.levels1);
  const std::vector<float> middles2 = middles_of(call.levels2);
  for (int64_t i = 0; i < num_tensors; ++i) {
    for_host_type<AdamW8bitStep>(call.dtype, call, tensors[i],
                                 static_cast<const float*>(middles1.data()),
                                 static_cast<const float*>(middles2.data()), parallel_for);
  }
}

}  // namespace cudaops_kernels
