// SPDX-License-Identifier: Apache-2.0
#include "adamw/adamw.h"

#include <cmath>
#include <functional>
#include <memory>

#include "op_test.h"

namespace {

using namespace cudaops::testing;
using namespace cudaops_kernels;
using namespace op_test;

AdamW call_for(DType dtype, bool has_master) {
  AdamW call{};
  call.dtype = dtype;
  call.has_master = has_master;
  call.lr = 3e-3;
  call.beta1 = 0.9;
  call.beta2 = 0.999;
  call.weight_decay = 0.01;
  call.eps = 1e-8;
  return call;
}

// Numbers that a call reads through pointers; 0 where there is none.
struct Scalars {
  float lr = 0, grad_scale = 0, found_inf = 0, clip_factor = 0;
};

// One tensor's arrays before a step, and after it in double.
template <typename T>
struct Problem {
  std::vector<T> param, grad;
  std::vector<float> exp_avg, exp_avg_sq, master;
  float step;

  Problem(int64_t num_elements, uint64_t stream, bool has_master)
      : param(Random(stream).normal<T>(num_elements)),
        grad(Random(stream + 1).normal<T>(num_elements)),
        exp_avg(Random(stream + 2).normal<float>(num_elements)),
        // Not near 0: a step that is large beside its param would keep its rounding errors there.
        exp_avg_sq(Random(stream + 3).uniform<float>(num_elements, 0.1, 2)),
        step(static_cast<float>(1 + stream % 5 * 100)) {
    if (!has_master) return;
    for (const T& value : param) master.push_back(static_cast<float>(exact(value)) * 1.001f);
  }

  int64_t size() const { return static_cast<int64_t>(param.size()); }

  struct Wanted {
    double param, grad, exp_avg, exp_avg_sq;
  };

  Wanted wanted(const AdamW& call, const Scalars& scalars, int64_t index) const {
    const size_t i = static_cast<size_t>(index);
    Wanted w{master.empty() ? exact(param[i]) : master[i], exact(grad[i]), exp_avg[i],
             exp_avg_sq[i]};
    if (scalars.found_inf != 0) return w;
    const double lr = scalars.lr != 0 ? scalars.lr : call.lr;
    if (scalars.grad_scale != 0) w.grad /= scalars.grad_scale;
    double g = w.grad;
    if (scalars.clip_factor != 0) g *= scalars.clip_factor;
    if (call.maximize) g = -g;
    w.param -= lr * call.weight_decay * w.param;
    w.exp_avg = call.beta1 * w.exp_avg + (1 - call.beta1) * g;
    w.exp_avg_sq = call.beta2 * w.exp_avg_sq + (1 - call.beta2) * g * g;
    const double correction1 = 1 - std::pow(call.beta1, static_cast<double>(step));
    const double correction2 = 1 - std::pow(call.beta2, static_cast<double>(step));
    w.param -= lr / correction1 * w.exp_avg /
               (std::sqrt(w.exp_avg_sq) / std::sqrt(correction2) + call.eps);
    return w;
  }
};

// Problems in buffers of the host or the device, `offset` elements from an aligned address; each
// kind of array of a tensor gets another offset where `ragged`.
template <typename T, template <typename> class Buffer>
struct Arrays {
  struct Tensor {
    Buffer<T> param, grad;
    Buffer<float> exp_avg, exp_avg_sq, master, step;
  };
  const std::vector<Problem<T>>& problems;
  std::vector<std::unique_ptr<Tensor>> buffers;
  std::vector<AdamWTensor> list;

  Arrays(const std::vector<Problem<T>>& all, int64_t offset, bool ragged) : problems(all) {
    int64_t at = offset;
    const auto next = [&] { return ragged ? at++ % 9 : at; };
    for (const Problem<T>& problem : all) {
      buffers.emplace_back(new Tensor{
          Buffer<T>(problem.param, next()), Buffer<T>(problem.grad, next()),
          Buffer<float>(problem.exp_avg, next()), Buffer<float>(problem.exp_avg_sq, next()),
          Buffer<float>(problem.master, next()),
          Buffer<float>(std::vector<float>{problem.step}, next())});
      Tensor& tensor = *buffers.back();
      list.push_back({tensor.param.data(), tensor.grad.data(), tensor.exp_avg.data(),
                      tensor.exp_avg_sq.data(),
                      // As of torch's empty tensors.
                      problem.master.empty() ? nullptr : tensor.master.data(), tensor.step.data(),
                      problem.size()});
    }
  }

  int64_t size() const { return static_cast<int64_t>(list.size()); }

  void check(const AdamW& call, const Scalars& scalars) const {
    for (size_t k = 0; k < problems.size(); ++k) {
      SCOPED_TRACE(::testing::Message() << "tensor " << k << " of " << problems[k].size());
      const Problem<T>& problem = problems[k];
      const Tensor& tensor = *buffers[k];
      const auto wanted = [&](int64_t i) { return problem.wanted(call, scalars, i); };
      // A weighted mean of two numbers that cancel keeps their rounding errors.
      Tolerance mean = DtypeOf<float>::kTolerance;
      mean.atol = 2e-6;
      ASSERT_TRUE(close(
          tensor.exp_avg.to_host(), [&](int64_t i) { return wanted(i).exp_avg; }, {}, mean));
      ASSERT_TRUE(
          close(tensor.exp_avg_sq.to_host(), [&](int64_t i) { return wanted(i).exp_avg_sq; }));
      ASSERT_TRUE(close(tensor.grad.to_host(), [&](int64_t i) { return wanted(i).grad; }));
      const std::vector<float> master = tensor.master.to_host();
      if (!problem.master.empty()) {
        ASSERT_TRUE(close(master, [&](int64_t i) { return wanted(i).param; }));
        if (scalars.found_inf != 0) {
          ASSERT_TRUE(same_bits(tensor.param.to_host(), problem.param));
        } else {
          std::vector<T> param;
          for (const float value : master) param.push_back(rounded<T>(value));
          ASSERT_TRUE(same_bits(tensor.param.to_host(), param));
        }
      } else {
        ASSERT_TRUE(close(tensor.param.to_host(), [&](int64_t i) { return wanted(i).param; }));
      }
      ASSERT_TRUE(tensor.param.guards_intact() && tensor.grad.guards_intact());
      ASSERT_TRUE(tensor.exp_avg.guards_intact() && tensor.exp_avg_sq.guards_intact());
      ASSERT_TRUE(tensor.master.guards_intact() && tensor.step.guards_intact());
    }
  }
};

template <typename T>
std::vector<Problem<T>> problems(const std::vector<int64_t>& sizes, bool has_master) {
  std::vector<Problem<T>> result;
  uint64_t stream = 1;
  for (const int64_t size : sizes) result.emplace_back(size, stream += 7, has_master);
  return result;
}

const std::vector<int64_t> kSizes = sizes_of("adamw");

template <typename T>
bool takes_master() {
  return sizeof(T) == 2;
}

template <typename T>
class AdamWCpu : public ::testing::Test {
 protected:
  static void check(CpuLevel level, bool has_master, bool maximize, Scalars scalars) {
    SCOPED_TRACE(::testing::Message() << "level " << static_cast<int>(level) << ", master "
                                      << has_master << ", found_inf " << scalars.found_inf);
    const std::vector<Problem<T>> all = problems<T>(kSizes, has_master);
    Arrays<T, HostBuffer> arrays(all, 1, true);
    AdamW call = call_for(kDType<T>, has_master);
    call.maximize = maximize;
    if (scalars.lr != 0) call.lr_pointer = &scalars.lr;
    if (scalars.grad_scale != 0) call.grad_scale = &scalars.grad_scale;
    if (scalars.clip_factor != 0) call.clip_factor = &scalars.clip_factor;
    call.found_inf = &scalars.found_inf;
    adamw_cpu_with(level, call, arrays.list.data(), arrays.size(), scattered_for);
    arrays.check(call, scalars);
  }
};
TYPED_TEST_SUITE(AdamWCpu, Types, TypeNames);

TYPED_TEST(AdamWCpu, IsRightWithAllInstructions) {
  for (int level = 0; level <= static_cast<int>(best_cpu_level()); ++level) {
    for (const bool has_master : {false, true}) {
      if (has_master && !takes_master<TypeParam>()) continue;
      const CpuLevel instructions = static_cast<CpuLevel>(level);
      this->check(instructions, has_master, false, {});
      this->check(instructions, has_master, true, {1e-2f, 3.0f, 0, 0.7f});
      this->check(instructions, has_master, false, {0, 2.0f, 1, 0});
    }
  }
}

TEST(AdamWCpu, TakesListsOfAnyLength) {
  for (const int64_t count : {0, 1, 2, 33, 1000}) {
    std::vector<int64_t> sizes;
    for (int64_t i = 0; i < count; ++i) sizes.push_back(i * 37 % 300);
    const std::vector<Problem<float>> all = problems<float>(sizes, false);
    Arrays<float, HostBuffer> arrays(all, 0, false);
    const AdamW call = call_for(DType::kFloat32, false);
    adamw_cpu(call, arrays.list.data(), arrays.size(), scattered_for);
    arrays.check(call, {});
  }
}

#if defined(CUDAOPS_KERNELS_WITH_CUDA)

template <typename T>
class AdamWGpu : public ::testing::Test {
 protected:
  // Once from the list and once from a table on the device.
  static void check(const std::vector<int64_t>& sizes, bool has_master, int64_t offset, bool ragged,
                    bool maximize = false, const Scalars& scalars = {}) {
    SCOPED_TRACE(::testing::Message() << sizes.size() << " tensors, offset " << offset
                                      << ", ragged " << ragged << ", master " << has_master);
    const std::vector<Problem<T>> all = problems<T>(sizes, has_master);
    const DeviceBuffer<float> numbers(
        std::vector<float>{scalars.lr, scalars.grad_scale, scalars.found_inf, scalars.clip_factor});
    AdamW call = call_for(kDType<T>, has_master);
    call.maximize = maximize;
    if (scalars.lr != 0) call.lr_pointer = numbers.data();
    if (scalars.grad_scale != 0) call.grad_scale = numbers.data() + 1;
    call.found_inf = numbers.data() + 2;
    if (scalars.clip_factor != 0) call.clip_factor = numbers.data() + 3;
    {
      Arrays<T, DeviceBuffer> arrays(all, offset, ragged);
      DeviceBuffer<uint64_t> workspace(adamw_workspace_bytes(arrays.size()) / 8);
      launch_adamw(call, arrays.list.data(), arrays.size(), workspace.data(), nullptr);
      arrays.check(call, scalars);
      EXPECT_TRUE(workspace.guards_intact());
    }
    Arrays<T, DeviceBuffer> arrays(all, offset, ragged);
    DeviceBuffer<uint64_t> memory(adamw_table_bytes(arrays.size()) / 8);
    const AdamWTable table =
        write_adamw_table(kDType<T>, arrays.list.data(), arrays.size(), memory.data(), nullptr);
    launch_adamw(call, table, nullptr);
    arrays.check(call, scalars);
    EXPECT_TRUE(memory.guards_intact());
    launch_advance_steps(table, call.found_inf, nullptr);
    for (size_t k = 0; k < all.size(); ++k) {
      const float wanted = all[k].step + (scalars.found_inf == 0 ? 1 : 0);
      EXPECT_EQ(arrays.buffers[k]->step.to_host()[0], wanted);
    }
  }

  static void check_both(const std::vector<int64_t>& sizes, int64_t offset, bool ragged) {
    check(sizes, false, offset, ragged);
    if (takes_master<T>()) check(sizes, true, offset, ragged);
  }
};
TYPED_TEST_SUITE(AdamWGpu, Types, TypeNames);

TYPED_TEST(AdamWGpu, IsRightForAllSizesAndAlignments) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (int64_t offset = 0; offset <= 8; ++offset) this->check_both(kSizes, offset, false);
  this->check_both(kSizes, 0, true);
  for (const int64_t size : kSizes) this->check_both({size}, 0, false);
}

TYPED_TEST(AdamWGpu, TakesListsOfAnyLength) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  // Around a table in kernel arguments, a warp's search, a cargo of 4 and of 32 KB.
  for (const int64_t count : {0, 2, 31, 32, 33, 64, 65, 500, 1000, 1025, 1100}) {
    std::vector<int64_t> sizes;
    for (int64_t i = 0; i < count; ++i) sizes.push_back(i % 11 == 3 ? 0 : i * 997 % 5000);
    this->check_both(sizes, 0, false);
  }
}

TYPED_TEST(AdamWGpu, ReadsItsNumbersOnTheDevice) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const bool has_master : {false, true}) {
    if (has_master && !takes_master<TypeParam>()) continue;
    for (const int64_t offset : {0, 1}) {
      this->check(kSizes, has_master, offset, false, true, {1e-2f, 3.0f, 0, 0.7f});
      this->check(kSizes, has_master, offset, false, false, {0, 2.0f, 1, 0});
      this->check(kSizes, has_master, offset, false, false, {0, 0, 2, 0});
    }
  }
}

#endif

}  // namespace
