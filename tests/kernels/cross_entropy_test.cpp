// SPDX-License-Identifier: Apache-2.0
#include "cross_entropy/cross_entropy.h"

#include <cmath>

#include "row_test.h"

namespace {

using namespace cudaops::testing;
using namespace cudaops_kernels;
using namespace op_test;

constexpr int64_t kIgnored = -1;

struct Options {
  Reduction reduction = Reduction::kMean;
  float smoothing = 0, square_scale = 0, softcap = 0;
};

std::vector<Options> all_options() {
  return {{Reduction::kMean, 0, 0, 0},
          {Reduction::kSum, 0.1f, 0, 0},
          {Reduction::kNone, 0, 1e-2f, 0},
          {Reduction::kMean, 0.2f, 1e-3f, 5}};
}

// A call's arrays on the host, and the references in double. Each fifth row is ignored.
template <typename T>
struct Problem {
  int64_t num_rows, width;
  Options options;
  std::vector<T> logits;
  std::vector<int64_t> target;
  std::vector<float> grad_loss;
  std::vector<double> lse, row_loss;
  double num_counted = 0;

  Problem(int64_t rows, int64_t columns, const Options& with)
      : num_rows(rows), width(columns), options(with), logits(Random(1).normal<T>(rows * columns)) {
    for (T& x : logits) x = rounded<T>(6 * exact(x));
    for (int64_t row = 0; row < rows; ++row) {
      target.push_back(row % 5 == 3 ? kIgnored : (row * 7919 + columns / 2) % columns);
      grad_loss.push_back(1 + 0.25f * static_cast<float>(row % 7));
      num_counted += target.back() != kIgnored ? 1 : 0;
      double largest = -INFINITY, sum = 0, total = 0;
      for (int64_t c = 0; c < columns; ++c) largest = std::fmax(largest, z(row, c));
      for (int64_t c = 0; c < columns; ++c) {
        sum += std::exp(z(row, c) - largest);
        total += z(row, c);
      }
      const bool counts = target.back() != kIgnored;
      const double l = largest + std::log(sum), smoothing = options.smoothing;
      lse.push_back(counts ? l : 0);
      row_loss.push_back(counts ? l - (1 - smoothing) * z(row, target.back()) -
                                      smoothing * total / static_cast<double>(columns) +
                                      options.square_scale * l * l
                                : 0);
    }
  }

  double z(int64_t row, int64_t column) const {
    const double x = exact(logits[static_cast<size_t>(row * width + column)]);
    return options.softcap == 0 ? x : options.softcap * std::tanh(x / options.softcap);
  }
  double factor(int64_t row, bool with_grad_loss) const {
    const double g =
        grad_loss[options.reduction == Reduction::kNone ? static_cast<size_t>(row) : 0];
    return (with_grad_loss ? g : 1) / (options.reduction == Reduction::kMean ? num_counted : 1);
  }
  double gradient(int64_t row, int64_t column, bool with_grad_loss) const {
    const size_t at = static_cast<size_t>(row);
    if (target[at] == kIgnored) return 0;
    const double x = z(row, column), smoothing = options.smoothing;
    double grad = std::exp(x - lse[at]) * (1 + 2 * options.square_scale * lse[at]) -
                  smoothing / static_cast<double>(width);
    if (column == target[at]) grad -= 1 - smoothing;
    if (options.softcap != 0) grad *= 1 - std::pow(x / options.softcap, 2);
    return grad * factor(row, with_grad_loss);
  }

  CrossEntropyProblem problem(ConstRows rows, const void* target_data) const {
    CrossEntropyProblem result{};
    result.num_rows = num_rows;
    result.num_classes = width;
    result.dtype = kDType<T>;
    result.logits = rows;
    result.target = target_data;
    result.ignore_index = kIgnored;
    result.label_smoothing = options.smoothing;
    result.lse_square_scale = options.square_scale;
    result.softcap = options.softcap;
    result.reduction = options.reduction;
    return result;
  }

  void check(const std::vector<float>& rows_found, const std::vector<float>& lse_found,
             const std::vector<float>& loss_found) const {
    Tolerance tolerance = DtypeOf<float>::kTolerance;
    tolerance.atol = 1e-5;  // differences of numbers around 20
    EXPECT_TRUE(close(lse_found, [&](int64_t i) { return lse[static_cast<size_t>(i)]; }));
    EXPECT_TRUE(close(
        rows_found, [&](int64_t i) { return row_loss[static_cast<size_t>(i)]; }, {}, tolerance));
    if (options.reduction == Reduction::kNone) return;
    double sum = 0;
    for (const double loss : row_loss) sum += loss;
    if (options.reduction == Reduction::kMean) sum /= num_counted;
    tolerance.atol *= std::sqrt(static_cast<double>(num_rows));
    EXPECT_TRUE(close(
        loss_found, [&](int64_t) { return sum; }, {}, tolerance));
  }
  void check_gradient(const std::vector<T>& grad, bool with_grad_loss) const {
    Tolerance tolerance = DtypeOf<T>::kTolerance;
    tolerance.atol = std::fmax(tolerance.atol, 2e-5 * factor(0, with_grad_loss));
    EXPECT_TRUE(close(
        grad, [&](int64_t i) { return gradient(i / width, i % width, with_grad_loss); }, {},
        tolerance));
  }
};

template <typename T>
class CrossEntropyCpu : public ::testing::Test {};
TYPED_TEST_SUITE(CrossEntropyCpu, Types, TypeNames);

TYPED_TEST(CrossEntropyCpu, IsRightForAllWidths) {
  using T = TypeParam;
  for (const auto [rows, width] : row_shapes("cross_entropy", 6)) {
    for (const Options& options : all_options()) {
      SCOPED_TRACE(::testing::Message() << "width " << width << ", softcap " << options.softcap);
      const Problem<T> problem(rows, width, options);
      HostBuffer<T> grad(rows * width);
      HostBuffer<float> row_loss(rows), lse(rows), loss(1);
      CrossEntropy call{};
      call.problem = problem.problem({problem.logits.data(), width}, problem.target.data());
      call.row_loss = row_loss.data();
      call.lse = lse.data();
      call.loss = loss.data();
      call.grad_logits = {grad.data(), width};
      cross_entropy_cpu(call, scattered_for);
      problem.check(row_loss.to_host(), lse.to_host(), loss.to_host());
      problem.check_gradient(grad.to_host(), false);
      CrossEntropyBackward backward{};
      backward.problem = call.problem;
      backward.grad_loss = problem.grad_loss.data();
      backward.lse = lse.data();
      backward.grad_logits = {grad.data(), width};
      cross_entropy_backward_cpu(backward, scattered_for);
      problem.check_gradient(grad.to_host(), true);
      EXPECT_TRUE(grad.guards_intact() && row_loss.guards_intact() && lse.guards_intact());
    }
  }
}

#if defined(CUDAOPS_KERNELS_WITH_CUDA)

template <typename T>
class CrossEntropyGpu : public ::testing::Test {
 protected:
  // Rows `stride` elements apart that start `offset` elements behind a multiple of 256 bytes;
  // gradients lie elsewhere, or over the logits.
  static void check(int64_t num_rows, int64_t width, int64_t gap, int64_t offset,
                    int64_t offset_out, const Options& options) {
    SCOPED_TRACE(::testing::Message()
                 << num_rows << " rows of " << width << ", gap " << gap << ", offsets " << offset
                 << ", " << offset_out << ", softcap " << options.softcap);
    const Problem<T> problem(num_rows, width, options);
    const int64_t stride = width + gap;
    const DeviceBuffer<T> logits(spread(problem.logits, width, stride), offset);
    const DeviceBuffer<int64_t> target(problem.target);
    const DeviceBuffer<float> grad_loss(problem.grad_loss);
    DeviceBuffer<char> workspace(cross_entropy_workspace_bytes());
    DeviceBuffer<T> grad(num_rows * width, offset_out);
    DeviceBuffer<float> row_loss(num_rows), lse(num_rows), loss(1);
    CrossEntropy call{};
    call.problem = problem.problem({logits.data(), stride}, target.data());
    call.row_loss = row_loss.data();
    call.lse = lse.data();
    call.loss = loss.data();
    launch_cross_entropy(call, workspace.data(), nullptr);
    problem.check(row_loss.to_host(), lse.to_host(), loss.to_host());

    CrossEntropyBackward backward{};
    backward.problem = call.problem;
    backward.grad_loss = grad_loss.data();
    backward.lse = lse.data();
    backward.grad_logits = {grad.data(), width};
    launch_cross_entropy_backward(backward, workspace.data(), nullptr);
    problem.check_gradient(grad.to_host(), true);
    EXPECT_TRUE(grad.guards_intact());

    // Over a copy of the logits.
    DeviceBuffer<T> both(problem.logits, offset_out);
    call.problem.logits = {both.data(), width};
    call.grad_logits = {both.data(), width};
    launch_cross_entropy(call, workspace.data(), nullptr);
    problem.check(row_loss.to_host(), lse.to_host(), loss.to_host());
    problem.check_gradient(both.to_host(), false);
    EXPECT_TRUE(both.guards_intact() && row_loss.guards_intact() && lse.guards_intact());
    EXPECT_TRUE(loss.guards_intact() && workspace.guards_intact());

    // Times powers of two: the same bits but for the exponent.
    const std::vector<T> before = both.to_host();
    const DeviceBuffer<float> two(std::vector<float>(static_cast<size_t>(num_rows), 2.0f));
    CrossEntropyScale scale{};
    scale.num_rows = num_rows;
    scale.num_classes = width;
    scale.dtype = kDType<T>;
    scale.grad_logits = {both.data(), width};
    scale.grad_loss = two.data();
    scale.one_a_row = options.reduction == Reduction::kNone;
    launch_cross_entropy_scale(scale, nullptr);
    Tolerance tolerance = DtypeOf<T>::kTolerance;
    EXPECT_TRUE(close(
        both.to_host(), [&](int64_t i) { return 2 * exact(before[static_cast<size_t>(i)]); }, {},
        tolerance));
    EXPECT_TRUE(both.guards_intact());
  }
};
TYPED_TEST_SUITE(CrossEntropyGpu, Types, TypeNames);

TYPED_TEST(CrossEntropyGpu, IsRightForAllWidths) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const auto [rows, width] : row_shapes("cross_entropy")) {
    for (const Options& options : all_options()) this->check(rows, width, 0, 0, 0, options);
  }
  for (const int64_t width : {16384, 32768, 40000, 100001, 128256, 262144}) {
    for (const Options& options : all_options()) this->check(2, width, 0, 0, 0, options);
  }
}

TYPED_TEST(CrossEntropyGpu, IsRightForManyRows) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t width : {1, 8, 100, 1024}) {
    for (const Options& options : all_options()) this->check(1031, width, 0, 0, 0, options);
  }
  // In the registers of a block.
  for (const int64_t width : {2048, 4096, 16384}) this->check(70, width, 0, 0, 0, {});
  this->check(20011, 10, 0, 0, 0, {});
  this->check(200003, 5, 0, 0, 0, {});
}

TYPED_TEST(CrossEntropyGpu, IsRightForAllAlignments) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t width : {5, 64, 1000, 4099, 16390}) {
    for (int64_t offset = 0; offset <= 8; ++offset) {
      this->check(3, width, 0, offset, offset, all_options()[static_cast<size_t>(offset % 4)]);
      this->check(3, width, 3, offset, 0, {});
      this->check(3, width, 8, 0, offset, {});
    }
  }
}

#endif

}  // namespace
