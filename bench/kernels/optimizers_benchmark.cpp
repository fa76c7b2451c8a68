// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "op_benchmark.h"
#include "optimizers/optimizers.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace {

using namespace op_benchmark;
using namespace cudaops_kernels;
using cudaops::benchmark::DeviceSets;
using cudaops::testing::exact;

constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kLr = 1e-3, kDecay = 0.01, kEps = 1e-6;
constexpr float kCorrection1 = 3.69f, kCorrection2 = 18.3f;

std::vector<float> squares() {
  std::vector<float> result = values<float>(3);
  for (float& value : result) value = value * value + 0.1f;
  return result;
}

// Levels of an 8-bit state, closer near 0.
const std::vector<float>& levels(bool is_signed) {
  const auto make = [](bool with_sign) {
    std::vector<float> result;
    for (int i = 0; i < kLevels; ++i) {
      const double place = i / (kLevels - 1.0), centred = with_sign ? 2 * place - 1 : place;
      result.push_back(static_cast<float>(centred * std::fabs(centred)));
    }
    return result;
  };
  static const std::vector<float> of_signed = make(true), of_others = make(false);
  return is_signed ? of_signed : of_others;
}

// Numbers from 0 to 255, the lower half left out.
std::vector<uint8_t> places() {
  std::vector<uint8_t> result;
  for (int64_t i = 0; i < kPeriod; ++i) result.push_back(static_cast<uint8_t>(128 + i * 37 % 128));
  return result;
}

// As wrong_elements(), with expected(index in the list): what an element becomes hangs on its
// tensor.
template <typename T, typename Expected>
std::string wrong_of_list(const DeviceSets& out, int64_t num_elements, const Expected& expected) {
  const int64_t period = std::min(kPeriod, num_elements);
  const int64_t last = num_elements - period;
  // What cancels keeps the rounding errors of its terms.
  cudaops::testing::Tolerance tolerance = cudaops::testing::DtypeOf<T>::kTolerance;
  tolerance.atol = std::max(tolerance.atol, 2e-6);
  for (const int64_t first : {int64_t{0}, last / 2, last}) {
    const auto compared = cudaops::testing::compare(
        out.to_host<T>(first, period), [&](int64_t i) { return expected(first + i); }, {},
        tolerance);
    if (!compared.ok) return compared.text;
  }
  return "";
}

// A list of `count` tensors of `size` elements, which lie one behind the other: odd sizes give
// every alignment. Of 8 bits where `kPlaces`.
template <typename T, bool kPlaces>
class List {
 public:
  List(int64_t count, int64_t size, int num_sets)
      : count_(count),
        size_(size),
        params_(values<T>(0)),
        grads_(values<T>(1)),
        moments1_(first_moments(grads_)),
        moments2_(squares()),
        places_(places()),
        param_(num_sets, elements(sizeof(T)), as_pattern(params_)),
        grad_(num_sets, elements(sizeof(T)), as_pattern(grads_)),
        state1_(num_sets, elements(kPlaces ? 1 : 4),
                kPlaces ? as_pattern(places_) : as_pattern(moments1_)),
        state2_(num_sets, elements(kPlaces ? 1 : 4),
                kPlaces ? as_pattern(places_) : as_pattern(moments2_)),
        absmax1_(num_sets, scales(), as_pattern(std::vector<float>{kScale})),
        absmax2_(num_sets, scales(), as_pattern(std::vector<float>{kScale})),
        levels1_(1, kLevels * sizeof(float), as_pattern(levels(true))),
        levels2_(1, kLevels * sizeof(float), as_pattern(levels(false))) {}

  int64_t num_elements() const { return count_ * size_; }
  const float* levels1() const { return static_cast<const float*>(levels1_[0]); }
  const float* levels2() const { return static_cast<const float*>(levels2_[0]); }

  // make(param, grad, state1, absmax1, state2, absmax2, size) of each tensor.
  template <typename Make>
  auto tensors(int set, const Make& make) const {
    const int64_t blocks = blocks_of_tensor(), bytes = kPlaces ? 1 : 4;
    std::vector<decltype(make(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0))> result;
    for (int64_t i = 0; i < count_; ++i) {
      const int64_t first = i * size_;
      const auto state = [&](const DeviceSets& sets) {
        return static_cast<void*>(static_cast<char*>(sets[set]) + first * bytes);
      };
      const auto absmax = [&](const DeviceSets& sets) {
        return kPlaces ? static_cast<float*>(sets[set]) + i * blocks : nullptr;
      };
      result.push_back(make(static_cast<T*>(param_[set]) + first,
                            static_cast<T*>(grad_[set]) + first, state(state1_), absmax(absmax1_),
                            state(state2_), absmax(absmax2_), size_));
    }
    return result;
  }

  // Before the step, of an index in the list.
  double grad(int64_t i) const { return exact(grads_[at(i)]); }
  double param(int64_t i) const { return exact(params_[at(i)]); }
  double moment1(int64_t i) const {
    return kPlaces ? double{kScale} * levels(true)[places_[at(i)]] : moments1_[at(i)];
  }
  double moment2(int64_t i) const {
    return kPlaces ? double{kScale} * levels(false)[places_[at(i)]] : moments2_[at(i)];
  }

  // After one step of set 0; both are functions of an index in the list.
  template <typename Param, typename Moment>
  std::string wrong(const Param& param, const Moment& moment1) const {
    std::string text = wrong_of_list<T>(param_, num_elements(), param);
    if (!text.empty()) return text;
    if (kPlaces) return wrong_states(moment1);
    return wrong_of_list<float>(state1_, num_elements(), moment1);
  }

 private:
  static constexpr float kScale = 0.75f;

  static size_t at(int64_t i) { return static_cast<size_t>(i % kPeriod); }

  // A sum that cancels has a sign that hangs on its rounding.
  static std::vector<float> first_moments(const std::vector<T>& grads) {
    std::vector<float> result = values<float>(2);
    for (size_t i = 0; i < result.size(); ++i) {
      if (std::fabs(kBeta1 * result[i] + (1 - kBeta1) * exact(grads[i])) < 1e-4) result[i] += 1;
    }
    return result;
  }

  // Of 8 bits, in the first tensor: scales are the largest magnitudes, places those of near levels.
  template <typename Moment>
  std::string wrong_states(const Moment& moment) const {
    const int64_t count = std::min(kPeriod, size_);
    std::vector<double> largest(static_cast<size_t>((count + kStateBlock - 1) / kStateBlock), 0.0);
    for (int64_t i = 0; i < count; ++i) {
      double& scale = largest[static_cast<size_t>(i / kStateBlock)];
      scale = std::max(scale, std::fabs(moment(i)));
    }
    const std::vector<float> scales =
        absmax1_.to_host<float>(0, static_cast<int64_t>(largest.size()));
    const auto scale_of = [&](int64_t block) { return largest[static_cast<size_t>(block)]; };
    const auto compared = cudaops::testing::compare(scales, scale_of);
    if (!compared.ok) return "scales: " + compared.text;
    const std::vector<uint8_t> stored = state1_.to_host<uint8_t>(0, count);
    // Half of the widest gap between levels.
    const double most = (1.0 - static_cast<double>(levels(true)[kLevels - 2])) / 2 + 1e-5;
    for (int64_t i = 0; i < count; ++i) {
      const double level = levels(true)[stored[static_cast<size_t>(i)]];
      const double scale = scale_of(i / kStateBlock);
      if (std::fabs(level * scale - moment(i)) <= most * scale) continue;
      return "state of element " + std::to_string(i) + ": " + std::to_string(level * scale) +
             " for " + std::to_string(moment(i));
    }
    return "";
  }

  size_t elements(size_t bytes) const { return static_cast<size_t>(num_elements()) * bytes; }
  int64_t blocks_of_tensor() const { return (size_ + kStateBlock - 1) / kStateBlock; }
  size_t scales() const {
    return kPlaces ? static_cast<size_t>(count_ * blocks_of_tensor()) * sizeof(float) : 0;
  }

  int64_t count_, size_;
  std::vector<T> params_, grads_;
  std::vector<float> moments1_, moments2_;
  std::vector<uint8_t> places_;
  DeviceSets param_, grad_, state1_, state2_, absmax1_, absmax2_, levels1_, levels2_;
};

template <typename Listed, typename Launch, typename Bytes, typename Call>
void run_list(benchmark::State& state, cudaops::benchmark::Case& c,
              const std::vector<std::vector<Listed>>& tensors, Bytes* workspace_bytes,
              Launch* launch, const Call& call) {
  const int64_t count = static_cast<int64_t>(tensors[0].size());
  const DeviceSets workspace(c.num_sets, static_cast<size_t>(std::max<int64_t>(
                                             16, workspace_bytes(tensors[0].data(), count))));
  c.launch = [&](int set, cudaStream_t stream) {
    launch(call, tensors[static_cast<size_t>(set)].data(), count, workspace[set], stream);
  };
  cudaops::benchmark::run(state, c);
}

cudaops::benchmark::Case case_of(const benchmark::State& state, double bytes_an_element) {
  cudaops::benchmark::Case c;
  c.bytes = bytes_an_element * static_cast<double>(state.range(0) * state.range(1));
  c.num_sets = cudaops::benchmark::cold_sets(c.bytes);
  return c;
}

template <typename T>
void lion(benchmark::State& state) {
  cudaops::benchmark::Case c = case_of(state, 8 + 3 * sizeof(T));
  const List<T, false> list(state.range(0), state.range(1), c.num_sets);
  std::vector<std::vector<LionTensor>> tensors;
  for (int set = 0; set < c.num_sets; ++set) {
    tensors.push_back(list.tensors(
        set, [](void* param, const void* grad, void* exp_avg, float*, void*, float*, int64_t size) {
          return LionTensor{param, grad, static_cast<float*>(exp_avg), size};
        }));
  }
  const auto moment = [&](int64_t i) {
    return kBeta2 * list.moment1(i) + (1 - kBeta2) * list.grad(i);
  };
  const auto param = [&](int64_t i) {
    const double mixed = kBeta1 * list.moment1(i) + (1 - kBeta1) * list.grad(i);
    return list.param(i) * (1 - kLr * kDecay) - kLr * (mixed > 0 ? 1 : mixed < 0 ? -1 : 0);
  };
  c.verify = [&] { return list.wrong(param, moment); };
  run_list(state, c, tensors, lion_workspace_bytes, launch_lion,
           Lion{kDType<T>, kLr, kBeta1, kBeta2, kDecay, false});
}

// A step's moments, and its update without decay.
template <typename List>
double exp_avg_of(const List& list, int64_t i) {
  return kBeta1 * list.moment1(i) + (1 - kBeta1) * list.grad(i);
}
template <typename List>
double update_of(const List& list, int64_t i) {
  const double g = list.grad(i);
  const double exp_avg_sq = kBeta2 * list.moment2(i) + (1 - kBeta2) * g * g;
  return exp_avg_of(list, i) * kCorrection1 / (std::sqrt(exp_avg_sq) * kCorrection2 + kEps);
}

template <typename T>
void lamb(benchmark::State& state) {
  // Moments are read twice, and written once; so are parameters.
  cudaops::benchmark::Case c = case_of(state, 24 + 4 * sizeof(T));
  const int64_t size = state.range(1);
  const List<T, false> list(state.range(0), size, c.num_sets);
  std::vector<std::vector<LambTensor>> tensors;
  for (int set = 0; set < c.num_sets; ++set) {
    tensors.push_back(list.tensors(set, [](void* param, const void* grad, void* exp_avg, float*,
                                           void* exp_avg_sq, float*, int64_t num_elements) {
      return LambTensor{param,
                        grad,
                        static_cast<float*>(exp_avg),
                        static_cast<float*>(exp_avg_sq),
                        num_elements,
                        kCorrection1,
                        kCorrection2};
    }));
  }
  const auto decayed = [&](int64_t i) { return update_of(list, i) + kDecay * list.param(i); };
  // Sums of squares of the first i elements of a period: a tensor is any piece of it, repeated.
  std::vector<double> params{0}, updates{0};
  for (int64_t i = 0; i < kPeriod; ++i) {
    params.push_back(params.back() + list.param(i) * list.param(i));
    updates.push_back(updates.back() + decayed(i) * decayed(i));
  }
  const auto sum_up_to = [&](const std::vector<double>& sums, int64_t end) {
    return static_cast<double>(end / kPeriod) * sums.back() +
           sums[static_cast<size_t>(end % kPeriod)];
  };
  const auto param = [&](int64_t i) {
    const int64_t first = i / size * size;
    const double of_param = sum_up_to(params, first + size) - sum_up_to(params, first);
    const double of_update = sum_up_to(updates, first + size) - sum_up_to(updates, first);
    return list.param(i) - kLr * std::sqrt(of_param / of_update) * decayed(i);
  };
  c.verify = [&] { return list.wrong(param, [&](int64_t i) { return exp_avg_of(list, i); }); };
  run_list(state, c, tensors, lamb_workspace_bytes, launch_lamb,
           Lamb{kDType<T>, kLr, kBeta1, kBeta2, kDecay, kEps, false, nullptr});
}

template <typename T>
void adamw_8bit(benchmark::State& state) {
  cudaops::benchmark::Case c = case_of(state, 4 + 3 * sizeof(T));
  const List<T, true> list(state.range(0), state.range(1), c.num_sets);
  std::vector<std::vector<AdamW8bitTensor>> tensors;
  for (int set = 0; set < c.num_sets; ++set) {
    tensors.push_back(
        list.tensors(set, [](void* param, const void* grad, void* state1, float* absmax1,
                             void* state2, float* absmax2, int64_t size) {
          return AdamW8bitTensor{param,   grad, state1,       absmax1,     state2,
                                 absmax2, size, kCorrection1, kCorrection2};
        }));
  }
  c.verify = [&] {
    return list.wrong(
        [&](int64_t i) { return list.param(i) * (1 - kLr * kDecay) - kLr * update_of(list, i); },
        [&](int64_t i) { return exp_avg_of(list, i); });
  };
  run_list(state, c, tensors, adamw_8bit_workspace_bytes, launch_adamw_8bit,
           AdamW8bit{kDType<T>, kLr, kBeta1, kBeta2, kDecay, kEps, false, list.levels1(),
                     list.levels2()});
}

void lists(cudaops::benchmark::Registered registered) {
  cudaops::benchmark::timed_on_gpu(registered);
  registered->ArgNames({"tensors", "elements"});
  registered->Args({1, int64_t{1} << 29});
  registered->Args({1000, 524288})->Args({1000, 524287});
  registered->Args({1000, 4096})->Args({1000, 4095});
  registered->Args({1, 65536})->Args({32, 4096});
}

BENCHMARK(lion<float>)->Apply(lists);
BENCHMARK(lion<BFloat16>)->Apply(lists);
BENCHMARK(lion<Float16>)->Apply(lists);
BENCHMARK(lamb<float>)->Apply(lists);
BENCHMARK(lamb<BFloat16>)->Apply(lists);
BENCHMARK(lamb<Float16>)->Apply(lists);
BENCHMARK(adamw_8bit<float>)->Apply(lists);
BENCHMARK(adamw_8bit<BFloat16>)->Apply(lists);
BENCHMARK(adamw_8bit<Float16>)->Apply(lists);

}  // namespace

#endif

CUDAOPS_BENCHMARK_MAIN()
