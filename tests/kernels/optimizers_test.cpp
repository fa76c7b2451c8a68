// SPDX-License-Identifier: Apache-2.0
#include "optimizers/optimizers.h"

#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "op_test.h"

namespace {

using namespace cudaops::testing;
using namespace cudaops_kernels;
using namespace op_test;

constexpr double kBeta1 = 0.9, kBeta2 = 0.99, kLr = 3e-3, kDecay = 0.1, kEps = 1e-6;
constexpr float kClip = 0.7f;

// Levels of 8-bit states: closer near 0, the ends exact.
const std::vector<float>& levels(bool is_signed) {
  const auto make = [](bool with_sign) {
    std::vector<float> result;
    for (int i = 0; i < kLevels; ++i) {
      const double place = i / (kLevels - 1.0);
      const double centred = with_sign ? 2 * place - 1 : place;
      result.push_back(static_cast<float>(centred * std::fabs(centred)));
    }
    return result;
  };
  static const std::vector<float> of_signed = make(true), of_others = make(false);
  return is_signed ? of_signed : of_others;
}

// One tensor's arrays before a step. Moments are exp_avg and exp_avg_sq, or, with 8 bits, places
// among the levels and scales.
template <typename T>
struct Problem {
  std::vector<T> param, grad;
  std::vector<float> moments[2], absmax[2];
  std::vector<uint8_t> places[2];
  float correction1, correction2;
  bool has_8_bits;

  Problem(int64_t num_elements, uint64_t stream, bool has_8_bit_states)
      : param(Random(stream).normal<T>(num_elements)),
        grad(Random(stream + 1).normal<T>(num_elements)),
        has_8_bits(has_8_bit_states) {
    const double step = static_cast<double>(1 + stream % 5 * 100);
    correction1 = static_cast<float>(1 / (1 - std::pow(kBeta1, step)));
    correction2 = static_cast<float>(1 / std::sqrt(1 - std::pow(kBeta2, step)));
    // exp_avg_sq isn't near 0: a step that is large beside its param would keep its rounding errors
    // there.
    moments[0] = Random(stream + 2).normal<float>(num_elements);
    moments[1] = Random(stream + 3).uniform<float>(num_elements, 0.1, 2);
    // A sum that cancels has a sign that hangs on its rounding.
    for (size_t i = 0; i < param.size(); ++i) {
      if (std::fabs(mixed(i)) < 1e-4) moments[0][i] += 1;
    }
    if (!has_8_bits) return;
    const int64_t num_blocks = (num_elements + kStateBlock - 1) / kStateBlock;
    for (int i = 0; i < 2; ++i) {
      absmax[i] = Random(stream + 4).uniform<float>(num_blocks, 0.1, 2);
      // Not the lowest levels of exp_avg_sq, either.
      for (const float number : Random(stream + 5).uniform<float>(num_elements, 80, 255)) {
        places[i].push_back(static_cast<uint8_t>(number));
      }
      moments[i].clear();
    }
  }

  int64_t size() const { return static_cast<int64_t>(param.size()); }
  double mixed(size_t i) const { return kBeta1 * moments[0][i] + (1 - kBeta1) * exact(grad[i]); }
  double moment(int which, size_t i) const {
    if (!has_8_bits) return moments[which][i];
    const float level = levels(which == 0)[places[which][i]];
    return static_cast<double>(level) * absmax[which][i / kStateBlock];
  }
};

// What a step makes of a tensor, in double.
struct Wanted {
  std::vector<double> param, moments[2];
};

// Of an optimizer: its call, its list, and its formula.
struct LionOptimizer {
  using Call = Lion;
  using Listed = LionTensor;
  static constexpr bool kTwoMoments = false;

  static Call call(DType dtype, bool maximize, const float*, const float*, const float*) {
    return {dtype, kLr, kBeta1, kBeta2, kDecay, maximize};
  }
  template <typename Arrays>
  static Listed listed(Arrays& a, int64_t size, float, float, bool) {
    return {a.param.data(), a.grad.data(), a.moments[0]->data(), size};
  }
  template <typename T>
  static Wanted wanted(const Problem<T>& problem, double sign) {
    Wanted w;
    for (size_t i = 0; i < problem.param.size(); ++i) {
      const double g = sign * exact(problem.grad[i]), m = problem.moment(0, i);
      const double mixed = kBeta1 * m + (1 - kBeta1) * g;
      const double direction = mixed > 0 ? 1 : mixed < 0 ? -1 : 0;
      w.param.push_back(exact(problem.param[i]) * (1 - kLr * kDecay) - kLr * direction);
      w.moments[0].push_back(kBeta2 * m + (1 - kBeta2) * g);
    }
    return w;
  }
  static constexpr auto* kCpu = &lion_cpu;
  static constexpr auto* kLaunch = &launch_lion;
  static constexpr auto* kWorkspaceBytes = &lion_workspace_bytes;
};

// The moments, and the update without the rate.
template <typename T>
void moments_and_update(const Problem<T>& problem, double factor, Wanted* w,
                        std::vector<double>* update) {
  for (size_t i = 0; i < problem.param.size(); ++i) {
    const double g = factor * exact(problem.grad[i]);
    w->moments[0].push_back(kBeta1 * problem.moment(0, i) + (1 - kBeta1) * g);
    w->moments[1].push_back(kBeta2 * problem.moment(1, i) + (1 - kBeta2) * g * g);
    update->push_back(w->moments[0].back() * problem.correction1 /
                      (std::sqrt(w->moments[1].back()) * problem.correction2 + kEps));
  }
}

struct LambOptimizer {
  using Call = Lamb;
  using Listed = LambTensor;
  static constexpr bool kTwoMoments = true;

  static Call call(DType dtype, bool maximize, const float* clip, const float*, const float*) {
    return {dtype, kLr, kBeta1, kBeta2, kDecay, kEps, maximize, clip};
  }
  template <typename Arrays>
  static Listed listed(Arrays& a, int64_t size, float correction1, float correction2, bool) {
    return {a.param.data(), a.grad.data(), a.moments[0]->data(), a.moments[1]->data(),
            size,           correction1,   correction2};
  }
  template <typename T>
  static Wanted wanted(const Problem<T>& problem, double sign) {
    Wanted w;
    std::vector<double> update;
    moments_and_update(problem, sign * kClip, &w, &update);
    double of_param = 0, of_update = 0;
    for (size_t i = 0; i < update.size(); ++i) {
      const double param = exact(problem.param[i]);
      update[i] += kDecay * param;
      of_param += param * param;
      of_update += update[i] * update[i];
    }
    const double ratio = of_param > 0 && of_update > 0 ? std::sqrt(of_param / of_update) : 1;
    for (size_t i = 0; i < update.size(); ++i) {
      w.param.push_back(exact(problem.param[i]) - kLr * ratio * update[i]);
    }
    return w;
  }
  static constexpr auto* kCpu = &lamb_cpu;
  static constexpr auto* kLaunch = &launch_lamb;
  static constexpr auto* kWorkspaceBytes = &lamb_workspace_bytes;
};

struct AdamW8bitOptimizer {
  using Call = AdamW8bit;
  using Listed = AdamW8bitTensor;
  static constexpr bool kTwoMoments = true;

  static Call call(DType dtype, bool maximize, const float*, const float* levels1,
                   const float* levels2) {
    return {dtype, kLr, kBeta1, kBeta2, kDecay, kEps, maximize, levels1, levels2};
  }
  template <typename Arrays>
  static Listed listed(Arrays& a, int64_t size, float correction1, float correction2,
                       bool has_8_bits) {
    const auto state = [&](int i) -> void* {
      return has_8_bits ? static_cast<void*>(a.places[i]->data()) : a.moments[i]->data();
    };
    const auto absmax = [&](int i) { return has_8_bits ? a.absmax[i]->data() : nullptr; };
    return {a.param.data(), a.grad.data(), state(0),    absmax(0),  state(1),
            absmax(1),      size,          correction1, correction2};
  }
  template <typename T>
  static Wanted wanted(const Problem<T>& problem, double sign) {
    Wanted w;
    std::vector<double> update;
    moments_and_update(problem, sign, &w, &update);
    for (size_t i = 0; i < update.size(); ++i) {
      w.param.push_back(exact(problem.param[i]) * (1 - kLr * kDecay) - kLr * update[i]);
    }
    return w;
  }
  static constexpr auto* kCpu = &adamw_8bit_cpu;
  static constexpr auto* kLaunch = &launch_adamw_8bit;
  static constexpr auto* kWorkspaceBytes = &adamw_8bit_workspace_bytes;
};

// States of 8 bits: a scale is the largest magnitude of its block, and no level is nearer to a
// number than the one that was taken, but for the rounding of the number.
::testing::AssertionResult are_states(const std::vector<uint8_t>& places,
                                      const std::vector<float>& absmax, bool is_signed,
                                      const std::vector<double>& wanted) {
  std::vector<double> largest(absmax.size(), 0.0);
  for (size_t i = 0; i < wanted.size(); ++i) {
    double& scale = largest[i / kStateBlock];
    scale = std::max(scale, std::fabs(wanted[i]));
  }
  const ::testing::AssertionResult scales = close(absmax, largest);
  if (!scales) return scales;
  const std::vector<float>& all = levels(is_signed);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const double scale = largest[i / kStateBlock];
    const double number = scale > 0 ? wanted[i] / scale : 0;
    double nearest = 2;
    for (const float level : all) nearest = std::min(nearest, std::fabs(level - number));
    const double taken = std::fabs(all[places[i]] - number);
    if (taken <= nearest + 5e-6) continue;
    return ::testing::AssertionFailure()
           << "place " << static_cast<int>(places[i]) << " at index " << i << " for " << number
           << ": a level is nearer by " << taken - nearest << "\n  " << seed_text();
  }
  return ::testing::AssertionSuccess();
}

// Problems in buffers of the host or the device, `offset` elements from an aligned address; each
// array of a tensor gets another offset where `ragged`.
template <typename Optimizer, typename T, template <typename> class Buffer>
struct Arrays {
  struct Tensor {
    Buffer<T> param, grad;
    std::unique_ptr<Buffer<float>> moments[2], absmax[2];
    std::unique_ptr<Buffer<uint8_t>> places[2];
  };
  const std::vector<Problem<T>>& problems;
  std::vector<std::unique_ptr<Tensor>> buffers;
  std::vector<typename Optimizer::Listed> list;

  Arrays(const std::vector<Problem<T>>& all, int64_t offset, bool ragged) : problems(all) {
    int64_t at = offset;
    const auto next = [&] { return ragged ? at++ % 9 : at; };
    for (const Problem<T>& problem : all) {
      buffers.emplace_back(new Tensor{
          Buffer<T>(problem.param, next()), Buffer<T>(problem.grad, next()), {}, {}, {}});
      Tensor& tensor = *buffers.back();
      for (int i = 0; i < 2; ++i) {
        tensor.moments[i].reset(new Buffer<float>(problem.moments[i], next()));
        tensor.absmax[i].reset(new Buffer<float>(problem.absmax[i], next()));
        tensor.places[i].reset(new Buffer<uint8_t>(problem.places[i], next()));
      }
      list.push_back(Optimizer::listed(tensor, problem.size(), problem.correction1,
                                       problem.correction2, problem.has_8_bits));
    }
  }

  int64_t size() const { return static_cast<int64_t>(list.size()); }

  void check(bool maximize) const {
    for (size_t k = 0; k < problems.size(); ++k) {
      SCOPED_TRACE(::testing::Message() << "tensor " << k << " of " << problems[k].size());
      const Problem<T>& problem = problems[k];
      const Tensor& tensor = *buffers[k];
      const Wanted wanted = Optimizer::wanted(problem, maximize ? -1.0 : 1.0);
      // What cancels keeps the rounding errors of its terms.
      Tolerance sum = DtypeOf<float>::kTolerance, param = DtypeOf<T>::kTolerance;
      sum.atol = 2e-6;
      param.atol = std::max(param.atol, 2e-6);
      ASSERT_TRUE(close(tensor.param.to_host(), wanted.param, {}, param));
      ASSERT_TRUE(same_bits(tensor.grad.to_host(), problem.grad));
      for (int i = 0; i < 2; ++i) {
        const std::vector<float> moments = tensor.moments[i]->to_host();
        if (i == 1 && !Optimizer::kTwoMoments) {
          ASSERT_TRUE(same_bits(moments, problem.moments[i]));
        } else if (!problem.has_8_bits) {
          ASSERT_TRUE(close(moments, wanted.moments[i], {}, sum));
        } else {
          ASSERT_TRUE(are_states(tensor.places[i]->to_host(), tensor.absmax[i]->to_host(), i == 0,
                                 wanted.moments[i]));
        }
      }
      ASSERT_TRUE(guards_intact(tensor));
    }
  }

  static ::testing::AssertionResult guards_intact(const Tensor& tensor) {
    if (!tensor.param.guards_intact()) return tensor.param.guards_intact();
    if (!tensor.grad.guards_intact()) return tensor.grad.guards_intact();
    for (int i = 0; i < 2; ++i) {
      if (!tensor.moments[i]->guards_intact()) return tensor.moments[i]->guards_intact();
      if (!tensor.absmax[i]->guards_intact()) return tensor.absmax[i]->guards_intact();
      if (!tensor.places[i]->guards_intact()) return tensor.places[i]->guards_intact();
    }
    return ::testing::AssertionSuccess();
  }
};

template <typename Optimizer, typename T>
std::vector<Problem<T>> problems(const std::vector<int64_t>& sizes) {
  std::vector<Problem<T>> result;
  uint64_t stream = 1;
  for (const int64_t size : sizes) {
    // Among those of 8 bits are some that aren't.
    const bool has_8_bits =
        std::is_same<Optimizer, AdamW8bitOptimizer>::value && result.size() % 4 != 3;
    result.emplace_back(size, stream += 7, has_8_bits);
  }
  return result;
}

const std::vector<int64_t> kSizes = sizes_of("optimizers");

template <typename Optimizer, typename T>
void run_on_cpu(Arrays<Optimizer, T, HostBuffer>& arrays, bool maximize) {
  const typename Optimizer::Call call =
      Optimizer::call(kDType<T>, maximize, &kClip, levels(true).data(), levels(false).data());
  Optimizer::kCpu(call, arrays.list.data(), arrays.size(), scattered_for);
}

template <typename Optimizer, typename T>
struct Of {
  using OptimizerType = Optimizer;
  using Element = T;
};
using Cases = ::testing::Types<Of<LionOptimizer, float>, Of<LionOptimizer, Float16>,
                               Of<LionOptimizer, BFloat16>, Of<LambOptimizer, float>,
                               Of<LambOptimizer, Float16>, Of<LambOptimizer, BFloat16>,
                               Of<AdamW8bitOptimizer, float>, Of<AdamW8bitOptimizer, Float16>,
                               Of<AdamW8bitOptimizer, BFloat16>>;

struct CaseNames {
  template <typename Case>
  static std::string GetName(int) {
    using Optimizer = typename Case::OptimizerType;
    const char* const name = std::is_same<Optimizer, LionOptimizer>::value   ? "lion_"
                             : std::is_same<Optimizer, LambOptimizer>::value ? "lamb_"
                                                                             : "adamw_8bit_";
    return std::string(name) + DtypeOf<typename Case::Element>::kName;
  }
};

template <typename Case>
class OptimizersCpu : public ::testing::Test {
 protected:
  using Optimizer = typename Case::OptimizerType;
  using T = typename Case::Element;

  static void check(const std::vector<int64_t>& sizes, int64_t offset, bool ragged, bool maximize) {
    const std::vector<Problem<T>> all = problems<Optimizer, T>(sizes);
    Arrays<Optimizer, T, HostBuffer> arrays(all, offset, ragged);
    run_on_cpu(arrays, maximize);
    arrays.check(maximize);
  }
};
TYPED_TEST_SUITE(OptimizersCpu, Cases, CaseNames);

TYPED_TEST(OptimizersCpu, AreRightForAllSizes) {
  this->check(kSizes, 0, false, false);
  this->check(kSizes, 1, true, true);
}

TYPED_TEST(OptimizersCpu, TakeListsOfAnyLength) {
  for (const int64_t count : {0, 1, 2, 33, 300}) {
    std::vector<int64_t> sizes;
    for (int64_t i = 0; i < count; ++i) sizes.push_back(i * 37 % 300);
    this->check(sizes, 0, false, false);
  }
}

// Elements that take another way than numbers do, in front of 300 like them: what is written to
// param and exp_avg.
template <template <typename> class Buffer, typename Run>
void check_lion_without_direction(const Run& run) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<Problem<float>> all = problems<LionOptimizer, float>({300});
  Problem<float>& problem = all[0];
  problem.grad[0] = problem.moments[0][0] = 0;
  problem.grad[1] = nan;
  Arrays<LionOptimizer, float, Buffer> arrays(all, 0, false);
  run(arrays);
  const std::vector<float> param = arrays.buffers[0]->param.to_host();
  const std::vector<float> exp_avg = arrays.buffers[0]->moments[0]->to_host();
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(param[i], problem.param[i] * (1 - kLr * kDecay), 1e-6);
  }
  EXPECT_EQ(exp_avg[0], 0);
  EXPECT_TRUE(std::isnan(exp_avg[1]));
}

// A tensor of zeros has no ratio; one whose update is 0 stays as it is.
template <template <typename> class Buffer, typename Run>
void check_lamb_of_zeros(const Run& run) {
  std::vector<Problem<float>> all = problems<LambOptimizer, float>({1500, 1500});
  all[0].param.assign(1500, 0.0f);
  all[1].param.assign(1500, 0.0f);
  all[1].grad.assign(1500, 0.0f);
  all[1].moments[0].assign(1500, 0.0f);
  Arrays<LambOptimizer, float, Buffer> arrays(all, 0, false);
  run(arrays);
  arrays.check(false);
  EXPECT_TRUE(same_bits(arrays.buffers[1]->param.to_host(), all[1].param));
}

// A block without a gradient so far has the scale 0.
template <template <typename> class Buffer, typename Run>
void check_8_bits_of_zeros(const Run& run) {
  std::vector<Problem<float>> all = problems<AdamW8bitOptimizer, float>({700});
  Problem<float>& problem = all[0];
  ASSERT_TRUE(problem.has_8_bits);
  for (size_t i = 0; i < 256; ++i) problem.grad[i] = 0;
  problem.absmax[0][0] = problem.absmax[1][0] = 0;
  Arrays<AdamW8bitOptimizer, float, Buffer> arrays(all, 0, false);
  run(arrays);
  arrays.check(false);
  EXPECT_EQ(arrays.buffers[0]->absmax[0]->to_host()[0], 0);
}

TEST(OptimizersCpu, LionHasNoDirectionForZeroAndNan) {
  check_lion_without_direction<HostBuffer>([](auto& arrays) { run_on_cpu(arrays, false); });
}

TEST(OptimizersCpu, LambTakesTensorsOfZeros) {
  check_lamb_of_zeros<HostBuffer>([](auto& arrays) { run_on_cpu(arrays, false); });
}

TEST(OptimizersCpu, AdamW8bitTakesBlocksOfZeros) {
  check_8_bits_of_zeros<HostBuffer>([](auto& arrays) { run_on_cpu(arrays, false); });
}

#if defined(CUDAOPS_KERNELS_WITH_CUDA)

// A step's numbers on the device, and its launch.
template <typename Optimizer, typename T>
class GpuStep {
 public:
  GpuStep(Arrays<Optimizer, T, DeviceBuffer>& arrays, bool maximize)
      : arrays_(arrays),
        clip_(std::vector<float>{kClip}),
        levels1_(levels(true)),
        levels2_(levels(false)),
        workspace_((Optimizer::kWorkspaceBytes(arrays.list.data(), arrays.size()) + 15) / 16 * 2),
        call_(
            Optimizer::call(kDType<T>, maximize, clip_.data(), levels1_.data(), levels2_.data())) {}

  void launch(cudaStream_t stream) {
    Optimizer::kLaunch(call_, arrays_.list.data(), arrays_.size(), workspace_.data(), stream);
  }
  void check_workspace() const { EXPECT_TRUE(workspace_.guards_intact()); }

 private:
  Arrays<Optimizer, T, DeviceBuffer>& arrays_;
  DeviceBuffer<float> clip_, levels1_, levels2_;
  DeviceBuffer<uint64_t> workspace_;
  typename Optimizer::Call call_;
};

template <typename Optimizer, typename T>
void run_on_gpu(Arrays<Optimizer, T, DeviceBuffer>& arrays, bool maximize) {
  GpuStep<Optimizer, T> step(arrays, maximize);
  step.launch(nullptr);
  step.check_workspace();
}

template <typename Case>
class OptimizersGpu : public ::testing::Test {
 protected:
  using Optimizer = typename Case::OptimizerType;
  using T = typename Case::Element;
  using OnDevice = Arrays<Optimizer, T, DeviceBuffer>;

  static void check(const std::vector<int64_t>& sizes, int64_t offset, bool ragged,
                    bool maximize = false) {
    SCOPED_TRACE(::testing::Message()
                 << sizes.size() << " tensors, offset " << offset << ", ragged " << ragged);
    const std::vector<Problem<T>> all = problems<Optimizer, T>(sizes);
    OnDevice arrays(all, offset, ragged);
    run_on_gpu(arrays, maximize);
    arrays.check(maximize);
  }

  static void expect_same(const OnDevice& a, const OnDevice& b) {
    for (size_t k = 0; k < a.buffers.size(); ++k) {
      SCOPED_TRACE(::testing::Message() << "tensor " << k);
      ASSERT_TRUE(same_bits(a.buffers[k]->param.to_host(), b.buffers[k]->param.to_host()));
      for (int i = 0; i < 2; ++i) {
        const auto &x = *a.buffers[k], &y = *b.buffers[k];
        ASSERT_TRUE(same_bits(x.moments[i]->to_host(), y.moments[i]->to_host()));
        ASSERT_TRUE(same_bits(x.absmax[i]->to_host(), y.absmax[i]->to_host()));
        ASSERT_TRUE(same_bits(x.places[i]->to_host(), y.places[i]->to_host()));
      }
    }
  }
};
TYPED_TEST_SUITE(OptimizersGpu, Cases, CaseNames);

TYPED_TEST(OptimizersGpu, AreRightForAllSizesAndAlignments) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (int64_t offset = 0; offset <= 8; ++offset) this->check(kSizes, offset, false);
  this->check(kSizes, 0, true, true);
  for (const int64_t size : kSizes) this->check({size}, 0, false);
}

TYPED_TEST(OptimizersGpu, TakeListsOfAnyLength) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  // Around a table in kernel arguments, a warp's search, and what a launch carries to a table.
  for (const int64_t count : {0, 2, 31, 32, 33, 64, 65, 500, 1025}) {
    std::vector<int64_t> sizes;
    for (int64_t i = 0; i < count; ++i) sizes.push_back(i % 11 == 3 ? 0 : i * 997 % 3000);
    this->check(sizes, 0, false);
  }
}

TYPED_TEST(OptimizersGpu, AgreeWithTheCpu) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  using Optimizer = typename TestFixture::Optimizer;
  using T = typename TestFixture::T;
  const std::vector<Problem<T>> all = problems<Optimizer, T>(kSizes);
  Arrays<Optimizer, T, DeviceBuffer> device(all, 0, false);
  Arrays<Optimizer, T, HostBuffer> host(all, 0, false);
  run_on_gpu(device, false);
  run_on_cpu(host, false);
  for (size_t k = 0; k < all.size(); ++k) {
    const auto& a = *device.buffers[k];
    const auto& b = *host.buffers[k];
    const std::vector<T> param = b.param.to_host();
    ASSERT_TRUE(
        close(a.param.to_host(), [&](int64_t i) { return exact(param[static_cast<size_t>(i)]); }));
    for (int i = 0; i < 2; ++i) {
      const std::vector<uint8_t> places = a.places[i]->to_host(), wanted = b.places[i]->to_host();
      int64_t num_others = 0;
      for (size_t n = 0; n < places.size(); ++n) {
        ASSERT_LE(std::abs(places[n] - wanted[n]), 1) << "index " << n;
        num_others += places[n] != wanted[n];
      }
      ASSERT_LE(num_others, 1 + static_cast<int64_t>(places.size()) / 500);
    }
  }
}

TYPED_TEST(OptimizersGpu, ReplayedGraphIsTwoSteps) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  using Optimizer = typename TestFixture::Optimizer;
  using T = typename TestFixture::T;
  for (const int64_t count : {3, 40}) {
    SCOPED_TRACE(::testing::Message() << count << " tensors");
    std::vector<int64_t> sizes;
    for (int64_t i = 0; i < count; ++i) sizes.push_back(1 + i * 997 % 3000);
    const std::vector<Problem<T>> all = problems<Optimizer, T>(sizes);
    typename TestFixture::OnDevice direct(all, 0, false), captured(all, 0, false);
    for (int i = 0; i < 2; ++i) run_on_gpu(direct, false);
    GpuStep<Optimizer, T> step(captured, false);
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    CUDAOPS_GPU_CALL(StreamCreateWithFlags, &stream, CUDAOPS_GPU(StreamNonBlocking));
    CUDAOPS_GPU_CALL(StreamBeginCapture, stream, CUDAOPS_GPU(StreamCaptureModeRelaxed));
    step.launch(stream);
    CUDAOPS_GPU_CALL(StreamEndCapture, stream, &graph);
    CUDAOPS_GPU_CALL(GraphInstantiateWithFlags, &executable, graph, 0);
    for (int i = 0; i < 2; ++i) CUDAOPS_GPU_CALL(GraphLaunch, executable, stream);
    CUDAOPS_GPU_CALL(StreamSynchronize, stream);
    CUDAOPS_GPU_CALL(GraphExecDestroy, executable);
    CUDAOPS_GPU_CALL(GraphDestroy, graph);
    CUDAOPS_GPU_CALL(StreamDestroy, stream);
    step.check_workspace();
    this->expect_same(direct, captured);
  }
}

TEST(OptimizersGpu, LionHasNoDirectionForZeroAndNan) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  check_lion_without_direction<DeviceBuffer>([](auto& arrays) { run_on_gpu(arrays, false); });
}

TEST(OptimizersGpu, LambTakesTensorsOfZeros) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  check_lamb_of_zeros<DeviceBuffer>([](auto& arrays) { run_on_gpu(arrays, false); });
}

TEST(OptimizersGpu, AdamW8bitTakesBlocksOfZeros) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  check_8_bits_of_zeros<DeviceBuffer>([](auto& arrays) { run_on_gpu(arrays, false); });
}

#endif

}  // namespace
