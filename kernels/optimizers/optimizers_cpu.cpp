// SPDX-License-Identifier: Apache-2.0
// lion, lamb and adamw_8bit on the CPU.
#include <algorithm>
#include <cmath>
#include <vector>

#include "../common/cpu_rows.h"
#include "optimizers.h"

namespace cudaops_kernels {
namespace {

// Elements that are worth a thread.
constexpr int64_t kGrain = 32768;

struct LionStep {
  template <typename T>
  static void run(const Lion& call, const LionTensor& tensor, ParallelFor parallel_for) {
    T* const param = static_cast<T*>(tensor.param);
    const T* const grad = static_cast<const T*>(tensor.grad);
    const float beta1 = static_cast<float>(call.beta1), beta2 = static_cast<float>(call.beta2);
    const float rest1 = static_cast<float>(1 - call.beta1);
    const float rest2 = static_cast<float>(1 - call.beta2);
    const float lr = static_cast<float>(call.lr), sign = call.maximize ? -1.0f : 1.0f;
    const float decay = static_cast<float>(call.lr * call.weight_decay);
    run_parallel(parallel_for, 0, tensor.num_elements, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float g = to_float(grad[i]) * sign;
        const float mixed = beta1 * tensor.exp_avg[i] + rest1 * g;
        const float direction = mixed > 0 ? 1.0f : mixed < 0 ? -1.0f : mixed;
        float value = to_float(param[i]);
        value -= decay * value;
        param[i] = from_float<T>(value - lr * direction);
        tensor.exp_avg[i] = beta2 * tensor.exp_avg[i] + rest2 * g;
      }
    });
  }
};

struct LambStep {
  template <typename T>
  static void run(const Lamb& call, const LambTensor& tensor, ParallelFor parallel_for) {
    T* const param = static_cast<T*>(tensor.param);
    const T* const grad = static_cast<const T*>(tensor.grad);
    const float beta1 = static_cast<float>(call.beta1), beta2 = static_cast<float>(call.beta2);
    const float rest1 = static_cast<float>(1 - call.beta1);
    const float rest2 = static_cast<float>(1 - call.beta2);
    const float eps = static_cast<float>(call.eps);
    const float decay = static_cast<float>(call.weight_decay);
    float factor = call.maximize ? -1.0f : 1.0f;
    if (call.clip_factor != nullptr) factor *= *call.clip_factor;
    const auto update_at = [&](int64_t i) {
      const float root = std::sqrt(tensor.exp_avg_sq[i]) * tensor.correction2 + eps;
      return tensor.exp_avg[i] * tensor.correction1 / root + decay * to_float(param[i]);
    };
    // Parts of the same size whatever the threads: the sums are added up in one order.
    const int64_t num_parts = (tensor.num_elements + kGrain - 1) / kGrain;
    std::vector<double> squares(static_cast<size_t>(2 * num_parts));
    run_parallel(parallel_for, 0, num_parts, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part) {
        double of_param = 0, of_update = 0;
        const int64_t end = std::min(tensor.num_elements, (part + 1) * kGrain);
        for (int64_t i = part * kGrain; i < end; ++i) {
          const float g = to_float(grad[i]) * factor;
          tensor.exp_avg[i] = beta1 * tensor.exp_avg[i] + rest1 * g;
          tensor.exp_avg_sq[i] = beta2 * tensor.exp_avg_sq[i] + rest2 * (g * g);
          const double value = to_float(param[i]), update = update_at(i);
          of_param += value * value;
          of_update += update * update;
        }
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
      for (int64_t i = begin; i < end; ++i) {
        param[i] = from_float<T>(to_float(param[i]) - step * update_at(i));
      }
    });
  }
};

// As on a device: how many of the middles between levels lie below the number.
uint8_t nearest_level(const float* middles, float number) {
  int place = 0;
  for (int stride = kLevels / 2; stride > 0; stride /= 2) {
    if (middles[place + stride - 1] < number) place += stride;
  }
  return static_cast<uint8_t>(place);
}

// A moment's elements of a block of the state, from wherever they are, and back.
struct Moment {
  void* state;
  float* absmax;
  const float* levels;
  const float* middles;

  void load(int64_t block, int64_t begin, int64_t count, float* numbers) const {
    for (int64_t i = 0; i < count; ++i) {
      numbers[i] = absmax == nullptr
                       ? static_cast<const float*>(state)[begin + i]
                       : levels[static_cast<const uint8_t*>(state)[begin + i]] * absmax[block];
    }
  }
  void store(int64_t block, int64_t begin, int64_t count, const float* numbers) const {
    if (absmax == nullptr) {
      std::copy_n(numbers, count, static_cast<float*>(state) + begin);
      return;
    }
    float largest = 0;
    for (int64_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(numbers[i]));
    absmax[block] = largest;
    const float scale = largest > 0 ? largest : 1.0f;
    for (int64_t i = 0; i < count; ++i) {
      static_cast<uint8_t*>(state)[begin + i] = nearest_level(middles, numbers[i] / scale);
    }
  }
};

struct AdamW8bitStep {
  template <typename T>
  static void run(const AdamW8bit& call, const AdamW8bitTensor& tensor, const float* middles1,
                  const float* middles2, ParallelFor parallel_for) {
    T* const param = static_cast<T*>(tensor.param);
    const T* const grad = static_cast<const T*>(tensor.grad);
    const float beta1 = static_cast<float>(call.beta1), beta2 = static_cast<float>(call.beta2);
    const float rest1 = static_cast<float>(1 - call.beta1);
    const float rest2 = static_cast<float>(1 - call.beta2);
    const float eps = static_cast<float>(call.eps), sign = call.maximize ? -1.0f : 1.0f;
    const float decay = static_cast<float>(call.lr * call.weight_decay);
    const float step_size = static_cast<float>(call.lr) * tensor.correction1;
    const Moment first{tensor.state1, tensor.absmax1, call.levels1, middles1};
    const Moment second{tensor.state2, tensor.absmax2, call.levels2, middles2};
    const int64_t num_blocks = (tensor.num_elements + kStateBlock - 1) / kStateBlock;
    const int64_t grain = kGrain / kStateBlock;
    run_parallel(parallel_for, 0, num_blocks, grain, [&](int64_t begin_block, int64_t end_block) {
      for (int64_t block = begin_block; block < end_block; ++block) {
        const int64_t begin = block * kStateBlock;
        const int64_t count = std::min(kStateBlock, tensor.num_elements - begin);
        float exp_avg[kStateBlock], exp_avg_sq[kStateBlock];
        first.load(block, begin, count, exp_avg);
        second.load(block, begin, count, exp_avg_sq);
        for (int64_t i = 0; i < count; ++i) {
          const float g = to_float(grad[begin + i]) * sign;
          exp_avg[i] = beta1 * exp_avg[i] + rest1 * g;
          exp_avg_sq[i] = beta2 * exp_avg_sq[i] + rest2 * (g * g);
          const float root = std::sqrt(exp_avg_sq[i]) * tensor.correction2 + eps;
          float value = to_float(param[begin + i]);
          value -= decay * value;
          param[begin + i] = from_float<T>(value - step_size * exp_avg[i] / root);
        }
        first.store(block, begin, count, exp_avg);
        second.store(block, begin, count, exp_avg_sq);
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
