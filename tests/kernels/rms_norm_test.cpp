// SPDX-License-Identifier: Apache-2.0
#include "rms_norm/rms_norm.h"

#include <cmath>
#include <utility>

#include "row_test.h"

namespace {

using namespace cudaops::testing;
using namespace cudaops_kernels;
using namespace op_test;

constexpr float kEps = 1e-5f;

// A call's arrays on the host, and the references in double.
template <typename T>
struct Problem {
  int64_t num_rows, width;
  bool has_residual;
  float offset;
  std::vector<T> input, residual, grad_output, grad_residual_out;
  std::vector<float> weight;

  Problem(int64_t rows, int64_t columns, bool with_residual)
      : num_rows(rows),
        width(columns),
        has_residual(with_residual),
        offset(with_residual ? 1.0f : 0.0f),
        input(Random(1).normal<T>(rows * columns)),
        residual(Random(2).normal<T>(rows * columns)),
        grad_output(Random(3).normal<T>(rows * columns)),
        grad_residual_out(Random(4).normal<T>(rows * columns)),
        weight(Random(5).normal<float>(columns)) {}

  double x(int64_t i) const {
    const size_t at = static_cast<size_t>(i);
    if (!has_residual) return exact(input[at]);
    return exact(rounded<T>(exact(input[at]) + exact(residual[at])));
  }
  double scale(int64_t column) const { return exact(weight[static_cast<size_t>(column)]) + offset; }
  std::vector<double> rstd() const {
    std::vector<double> result;
    for (int64_t row = 0; row < num_rows; ++row) {
      double squares = 0;
      for (int64_t c = 0; c < width; ++c) squares += x(row * width + c) * x(row * width + c);
      result.push_back(1 / std::sqrt(squares / static_cast<double>(width) + kEps));
    }
    return result;
  }

  RmsNorm call(Rows output, Rows residual_out, float* rstd_out, ConstRows input_rows,
               ConstRows residual_rows, const void* weight_data) const {
    RmsNorm result{};
    result.num_rows = num_rows;
    result.width = width;
    result.dtype = kDType<T>;
    result.weight_dtype = DType::kFloat32;
    result.input = input_rows;
    if (has_residual) {
      result.residual = residual_rows;
      result.residual_out = residual_out;
    }
    result.weight = weight_data;
    result.output = output;
    result.rstd = rstd_out;
    result.eps = kEps;
    result.weight_offset = offset;
    return result;
  }

  void check(const std::vector<T>& output, const std::vector<T>& residual_out,
             const std::vector<float>& rstd_out) const {
    const std::vector<double> wanted = rstd();
    EXPECT_TRUE(close(rstd_out, [&](int64_t row) { return wanted[static_cast<size_t>(row)]; }));
    EXPECT_TRUE(close(output, [&](int64_t i) {
      return x(i) * wanted[static_cast<size_t>(i / width)] * scale(i % width);
    }));
    if (has_residual) EXPECT_TRUE(close(residual_out, [&](int64_t i) { return x(i); }));
  }

  RmsNormBackward backward(Rows grad_x, void* grad_weight, ConstRows grad, ConstRows grad_residual,
                           ConstRows x_rows, const float* rstd_data,
                           const void* weight_data) const {
    RmsNormBackward result{};
    result.num_rows = num_rows;
    result.width = width;
    result.dtype = kDType<T>;
    result.weight_dtype = DType::kFloat32;
    result.grad_output = grad;
    if (has_residual) result.grad_residual_out = grad_residual;
    result.x = x_rows;
    result.weight = weight_data;
    result.rstd = rstd_data;
    result.grad_x = grad_x;
    result.grad_weight = grad_weight;
    result.weight_offset = offset;
    return result;
  }

  // x is `input` here: backward does not add.
  void check_backward(const std::vector<T>& grad_x, const std::vector<float>& grad_weight,
                      const std::vector<float>& rstd_data) const {
    std::vector<double> means, sums(static_cast<size_t>(width));
    for (int64_t row = 0; row < num_rows; ++row) {
      double products = 0;
      const double r = rstd_data[static_cast<size_t>(row)];
      for (int64_t c = 0; c < width; ++c) {
        const size_t i = static_cast<size_t>(row * width + c);
        products += exact(grad_output[i]) * scale(c) * exact(input[i]);
        sums[static_cast<size_t>(c)] += exact(grad_output[i]) * exact(input[i]) * r;
      }
      means.push_back(products / static_cast<double>(width));
    }
    Tolerance tolerance = DtypeOf<T>::kTolerance;
    tolerance.atol = 1e-5;  // a mean is taken off: what cancels keeps its rounding errors
    EXPECT_TRUE(close(
        grad_x,
        [&](int64_t i) {
          const size_t at = static_cast<size_t>(i), row = static_cast<size_t>(i / width);
          const double r = rstd_data[row];
          return r * (exact(grad_output[at]) * scale(i % width) -
                      exact(input[at]) * r * r * means[row]) +
                 (has_residual ? exact(grad_residual_out[at]) : 0);
        },
        {}, tolerance));
    EXPECT_TRUE(close(
        grad_weight, [&](int64_t c) { return sums[static_cast<size_t>(c)]; }, {},
        sum_tolerance(num_rows)));
  }
};

template <typename T>
class RmsNormCpu : public ::testing::Test {};
TYPED_TEST_SUITE(RmsNormCpu, Types, TypeNames);

TYPED_TEST(RmsNormCpu, IsRightForAllWidths) {
  using T = TypeParam;
  for (const auto [rows, width] : row_shapes("rms_norm")) {
    for (const bool has_residual : {false, true}) {
      SCOPED_TRACE(::testing::Message() << "width " << width << ", residual " << has_residual);
      const Problem<T> problem(rows, width, has_residual);
      HostBuffer<T> output(rows * width), residual_out(rows * width);
      HostBuffer<float> rstd(rows);
      rms_norm_cpu(problem.call({output.data(), width}, {residual_out.data(), width}, rstd.data(),
                                {problem.input.data(), width}, {problem.residual.data(), width},
                                problem.weight.data()),
                   scattered_for);
      problem.check(output.to_host(), residual_out.to_host(), rstd.to_host());
      HostBuffer<T> grad_x(rows * width);
      HostBuffer<float> grad_weight(width);
      rms_norm_backward_cpu(
          problem.backward({grad_x.data(), width}, grad_weight.data(),
                           {problem.grad_output.data(), width},
                           {problem.grad_residual_out.data(), width}, {problem.input.data(), width},
                           rstd.data(), problem.weight.data()),
          scattered_for);
      problem.check_backward(grad_x.to_host(), grad_weight.to_host(), rstd.to_host());
      EXPECT_TRUE(output.guards_intact() && grad_x.guards_intact() && grad_weight.guards_intact());
    }
  }
}

#if defined(CUDAOPS_KERNELS_WITH_CUDA)

template <typename T>
class RmsNormGpu : public ::testing::Test {
 protected:
  // Rows `stride` elements apart that start `offset` elements behind a multiple of 256 bytes;
  // outputs lie elsewhere.
  static void check(int64_t num_rows, int64_t width, int64_t gap, int64_t offset,
                    int64_t offset_out, bool has_residual) {
    SCOPED_TRACE(::testing::Message()
                 << num_rows << " rows of " << width << ", gap " << gap << ", offsets " << offset
                 << ", " << offset_out << ", residual " << has_residual);
    const Problem<T> problem(num_rows, width, has_residual);
    const int64_t stride = width + gap;
    const DeviceBuffer<T> input(spread(problem.input, width, stride), offset);
    const DeviceBuffer<T> residual(spread(problem.residual, width, stride), offset);
    const DeviceBuffer<float> weight(problem.weight);
    DeviceBuffer<T> output(num_rows * width, offset_out),
        residual_out(num_rows * width, offset_out);
    DeviceBuffer<float> rstd(num_rows);
    launch_rms_norm(problem.call({output.data(), width}, {residual_out.data(), width}, rstd.data(),
                                 {input.data(), stride}, {residual.data(), stride}, weight.data()),
                    nullptr);
    problem.check(output.to_host(), residual_out.to_host(), rstd.to_host());

    const DeviceBuffer<T> grad_output(spread(problem.grad_output, width, stride), offset);
    const DeviceBuffer<T> grad_residual_out(spread(problem.grad_residual_out, width, stride),
                                            offset);
    DeviceBuffer<T> grad_x(num_rows * width, offset_out);
    DeviceBuffer<float> grad_weight(width);
    const RmsNormBackward backward = problem.backward(
        {grad_x.data(), width}, grad_weight.data(), {grad_output.data(), stride},
        {grad_residual_out.data(), stride}, {input.data(), stride}, rstd.data(), weight.data());
    DeviceBuffer<char> workspace(rms_norm_backward_workspace_bytes(backward));
    // What a call leaves in the workspace makes no difference to the next one.
    RmsNormBackward other = backward;
    std::swap(other.grad_output, other.x);
    other.grad_weight = nullptr;
    launch_rms_norm_backward(other, workspace.data(), nullptr);
    launch_rms_norm_backward(backward, workspace.data(), nullptr);
    problem.check_backward(grad_x.to_host(), grad_weight.to_host(), rstd.to_host());
    EXPECT_TRUE(output.guards_intact() && residual_out.guards_intact() && rstd.guards_intact());
    EXPECT_TRUE(grad_x.guards_intact() && grad_weight.guards_intact());
    EXPECT_TRUE(workspace.guards_intact());
  }
};
TYPED_TEST_SUITE(RmsNormGpu, Types, TypeNames);

TYPED_TEST(RmsNormGpu, IsRightForAllWidths) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const auto [rows, width] : row_shapes("rms_norm"))
    this->check(rows, width, 0, 0, 0, width % 2 == 0);
  for (const int64_t width : {16384, 32768, 40000, 100001, 262144}) {
    this->check(2, width, 0, 0, 0, false);
    this->check(2, width, 0, 0, 0, true);
  }
}

TYPED_TEST(RmsNormGpu, IsRightForManyRows) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t width : {1, 8, 100, 127, 129, 200, 1024, 2053}) {
    this->check(1031, width, 0, 0, 0, false);
    this->check(1031, width, 0, 0, 0, true);
  }
  // Backward of few whole rows in one launch, of more by one, two or four vectors a thread.
  for (const int64_t width : {264, 1032, 2880, 4096, 8192, 12288, 16384}) {
    this->check(1, width, 0, 0, 0, false);
    this->check(16, width, 0, 0, 0, false);
    this->check(40, width, 0, 0, 0, true);
  }
  // Backward by groups of blocks, each of which takes several rows; the last block of a group has
  // less than the others. 132000 and 70000: groups take more rows than there are stages and
  // exchange slots, by slices of 1024 vectors in float32. 263000: such slices in 16 bits (in
  // float32 two passes).
  this->check(140, 20000, 0, 0, 0, false);
  this->check(100, 132000, 0, 0, 0, false);
  this->check(100, 70000, 0, 0, 0, true);
  this->check(12, 263000, 0, 0, 0, true);
  // The same of rows that start anywhere: in one pass, and in several.
  this->check(500, 16385, 0, 1, 1, false);
  this->check(100, 50257, 0, 0, 0, true);
  this->check(60, 200001, 0, 0, 0, false);
  this->check(3, 200001, 0, 0, 0, true);
}

TYPED_TEST(RmsNormGpu, IsRightForAllAlignments) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t width : {5, 64, 1000, 4099, 16390}) {
    for (int64_t offset = 0; offset <= 8; ++offset) {
      this->check(5, width, 0, offset, offset, offset % 2 == 0);
      this->check(5, width, 3, offset, 0, false);
      this->check(5, width, 8, 0, offset, true);
    }
  }
}

#endif

}  // namespace
