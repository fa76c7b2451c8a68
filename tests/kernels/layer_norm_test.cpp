// SPDX-License-Identifier: Apache-2.0
#include "layer_norm/layer_norm.h"

#include <cmath>
#include <utility>

#include "row_test.h"

namespace {

using namespace cudaops::testing;
using namespace cudaops_kernels;
using namespace op_test;

constexpr float kEps = 1e-5f;

// A call's arrays on the host, and the references in double. Inputs have a mean that is large
// against their deviation, where a variance in one pass fails.
template <typename T>
struct Problem {
  int64_t num_rows, width;
  std::vector<T> input, grad_output;
  std::vector<float> weight, bias;
  std::vector<double> mean, rstd;

  Problem(int64_t rows, int64_t columns)
      : num_rows(rows),
        width(columns),
        grad_output(Random(3).normal<T>(rows * columns)),
        weight(Random(5).normal<float>(columns)),
        bias(Random(6).normal<float>(columns)) {
    Random random(1);
    for (int64_t i = 0; i < rows * columns; ++i) {
      input.push_back(rounded<T>(3 + random.normal()));
    }
    const double count = static_cast<double>(width);
    for (int64_t row = 0; row < num_rows; ++row) {
      double sum = 0, squares = 0;
      for (int64_t c = 0; c < width; ++c) sum += at(input, row, c);
      mean.push_back(sum / count);
      for (int64_t c = 0; c < width; ++c) {
        squares += std::pow(at(input, row, c) - mean.back(), 2);
      }
      rstd.push_back(1 / std::sqrt(squares / count + kEps));
    }
  }

  double at(const std::vector<T>& values, int64_t row, int64_t column) const {
    return exact(values[static_cast<size_t>(row * width + column)]);
  }
  double x(int64_t row, int64_t column) const {
    const size_t r = static_cast<size_t>(row);
    return (at(input, row, column) - mean[r]) * rstd[r];
  }
  double h(int64_t row, int64_t column) const {
    return at(grad_output, row, column) * exact(weight[static_cast<size_t>(column)]);
  }

  LayerNorm call(ConstRows rows, Rows output, const float* weights, const float* biases,
                 float* mean_out, float* rstd_out) const {
    return {num_rows, width,  kDType<T>, DType::kFloat32, rows, weights,
            biases,   output, mean_out,  rstd_out,        kEps};
  }

  LayerNormBackward backward(ConstRows grads, ConstRows rows, Rows grad_input, const float* weights,
                             const float* means, const float* rstds, float* grad_weight,
                             float* grad_bias) const {
    return {num_rows, width, kDType<T>, DType::kFloat32, grads,       rows,
            weights,  means, rstds,     grad_input,      grad_weight, grad_bias};
  }

  void check(const std::vector<T>& output, const std::vector<float>& mean_out,
             const std::vector<float>& rstd_out) const {
    EXPECT_TRUE(close(mean_out, mean));
    Tolerance tolerance = DtypeOf<T>::kTolerance;
    tolerance.atol = 1e-4;  // three times the deviation cancels in input - mean
    tolerance.ulps = 1e9;
    // One element has no deviation: what is left of it is rounding.
    if (width > 1) {
      EXPECT_TRUE(close(rstd_out, [&](int64_t row) { return rstd[static_cast<size_t>(row)]; }, {},
                        {2e-5, 0, 1e9}));
      EXPECT_TRUE(close(
          output,
          [&](int64_t i) {
            const size_t column = static_cast<size_t>(i % width);
            return x(i / width, i % width) * exact(weight[column]) + exact(bias[column]);
          },
          {}, tolerance));
    }
  }

  void check_backward(const std::vector<T>& grad_input, const std::vector<float>& grad_weight,
                      const std::vector<float>& grad_bias) const {
    std::vector<double> mean_h, mean_product;
    for (int64_t row = 0; row < num_rows; ++row) {
      double sum = 0, products = 0;
      for (int64_t c = 0; c < width; ++c) {
        sum += h(row, c);
        products += h(row, c) * x(row, c);
      }
      mean_h.push_back(sum / static_cast<double>(width));
      mean_product.push_back(products / static_cast<double>(width));
    }
    Tolerance tolerance = DtypeOf<T>::kTolerance;
    tolerance.atol = 1e-4;
    tolerance.ulps = 1e9;
    EXPECT_TRUE(close(
        grad_input,
        [&](int64_t i) {
          const int64_t row = i / width, column = i % width;
          const size_t r = static_cast<size_t>(row);
          return rstd[r] * (h(row, column) - mean_h[r] - x(row, column) * mean_product[r]);
        },
        {}, tolerance));
    const auto column_sum = [&](auto term) {
      return [&, term](int64_t column) {
        double sum = 0;
        for (int64_t row = 0; row < num_rows; ++row) sum += term(row, column);
        return sum;
      };
    };
    Tolerance sums = sum_tolerance(num_rows);
    sums.atol += 1e-5 * static_cast<double>(num_rows);
    EXPECT_TRUE(close(grad_weight, column_sum([&](int64_t r, int64_t c) {
                        return at(grad_output, r, c) * x(r, c);
                      }),
                      {}, sums));
    EXPECT_TRUE(close(grad_bias,
                      column_sum([&](int64_t r, int64_t c) { return at(grad_output, r, c); }), {},
                      sum_tolerance(num_rows)));
  }

  std::vector<float> rounded_of(const std::vector<double>& values) const {
    return std::vector<float>(values.begin(), values.end());
  }
};

template <typename T>
class LayerNormCpu : public ::testing::Test {};
TYPED_TEST_SUITE(LayerNormCpu, Types, TypeNames);

TYPED_TEST(LayerNormCpu, IsRightForAllWidths) {
  using T = TypeParam;
  for (const auto [rows, width] : row_shapes("layer_norm")) {
    SCOPED_TRACE(::testing::Message() << rows << " rows of " << width);
    const Problem<T> problem(rows, width);
    HostBuffer<T> output(rows * width), grad_input(rows * width);
    HostBuffer<float> mean(rows), rstd(rows), grad_weight(width), grad_bias(width);
    layer_norm_cpu(
        problem.call({problem.input.data(), width}, {output.data(), width}, problem.weight.data(),
                     problem.bias.data(), mean.data(), rstd.data()),
        scattered_for);
    problem.check(output.to_host(), mean.to_host(), rstd.to_host());
    const auto means = problem.rounded_of(problem.mean), rstds = problem.rounded_of(problem.rstd);
    layer_norm_backward_cpu(
        problem.backward({problem.grad_output.data(), width}, {problem.input.data(), width},
                         {grad_input.data(), width}, problem.weight.data(), means.data(),
                         rstds.data(), grad_weight.data(), grad_bias.data()),
        scattered_for);
    if (width > 1) {
      problem.check_backward(grad_input.to_host(), grad_weight.to_host(), grad_bias.to_host());
    }
    EXPECT_TRUE(output.guards_intact() && grad_input.guards_intact());
    EXPECT_TRUE(grad_weight.guards_intact() && grad_bias.guards_intact());
  }
}

#if defined(CUDAOPS_KERNELS_WITH_CUDA)

template <typename T>
class LayerNormGpu : public ::testing::Test {
 protected:
  // Rows `gap` elements apart that start `offset` elements behind a multiple of 256 bytes; outputs
  // lie elsewhere.
  static void check(int64_t num_rows, int64_t width, int64_t gap, int64_t offset,
                    int64_t offset_out) {
    SCOPED_TRACE(::testing::Message() << num_rows << " rows of " << width << ", gap " << gap
                                      << ", offsets " << offset << ", " << offset_out);
    const Problem<T> problem(num_rows, width);
    const int64_t stride = width + gap;
    const DeviceBuffer<T> input(spread(problem.input, width, stride), offset);
    const DeviceBuffer<T> grad_output(spread(problem.grad_output, width, stride), offset);
    const DeviceBuffer<float> weight(problem.weight), bias(problem.bias);
    DeviceBuffer<T> output(num_rows * width, offset_out), grad_input(num_rows * width, offset_out);
    DeviceBuffer<float> mean(num_rows), rstd(num_rows), grad_weight(width), grad_bias(width);
    launch_layer_norm(problem.call({input.data(), stride}, {output.data(), width}, weight.data(),
                                   bias.data(), mean.data(), rstd.data()),
                      nullptr);
    problem.check(output.to_host(), mean.to_host(), rstd.to_host());
    const DeviceBuffer<float> means(problem.rounded_of(problem.mean));
    const DeviceBuffer<float> rstds(problem.rounded_of(problem.rstd));
    const LayerNormBackward backward = problem.backward(
        {grad_output.data(), stride}, {input.data(), stride}, {grad_input.data(), width},
        weight.data(), means.data(), rstds.data(), grad_weight.data(), grad_bias.data());
    DeviceBuffer<char> workspace(layer_norm_backward_workspace_bytes(backward));
    // What a call leaves in the workspace makes no difference to the next one.
    LayerNormBackward other = backward;
    std::swap(other.grad_output, other.input);
    other.grad_weight = other.grad_bias = nullptr;
    launch_layer_norm_backward(other, workspace.data(), nullptr);
    launch_layer_norm_backward(backward, workspace.data(), nullptr);
    if (width > 1) {
      problem.check_backward(grad_input.to_host(), grad_weight.to_host(), grad_bias.to_host());
    }
    EXPECT_TRUE(output.guards_intact() && grad_input.guards_intact() && mean.guards_intact());
    EXPECT_TRUE(grad_weight.guards_intact() && grad_bias.guards_intact());
    EXPECT_TRUE(rstd.guards_intact() && workspace.guards_intact());
  }
};
TYPED_TEST_SUITE(LayerNormGpu, Types, TypeNames);

TYPED_TEST(LayerNormGpu, IsRightForAllWidths) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const auto [rows, width] : row_shapes("layer_norm")) this->check(rows, width, 0, 0, 0);
  for (const int64_t width : {16384, 32768, 40000, 100001, 262144}) this->check(2, width, 0, 0, 0);
}

TYPED_TEST(LayerNormGpu, IsRightForManyRows) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t width : {16, 100, 127, 129, 200, 1024, 2053})
    this->check(1031, width, 0, 0, 0);
  // Backward of few whole rows in one launch, of more by one, two or four vectors a thread.
  for (const int64_t width : {264, 1032, 2880, 4096, 8192, 12288, 16384}) {
    this->check(1, width, 0, 0, 0);
    this->check(16, width, 0, 0, 0);
    this->check(40, width, 0, 0, 0);
  }
  // Backward by groups of blocks, each of which takes several rows; the last block of a group has
  // less than the others. 132000: groups take more rows than there are stages and exchange slots,
  // by slices of 1024 vectors in float32. 263000: such slices in 16 bits (in float32 two passes).
  for (const auto [rows, width] :
       {std::pair{140, 20000}, std::pair{100, 132000}, std::pair{12, 263000}}) {
    this->check(rows, width, 0, 0, 0);
  }
  // The same of rows that start anywhere: in one pass, and in several.
  this->check(500, 16385, 0, 1, 1);
  this->check(60, 200001, 0, 0, 0);
  this->check(3, 200001, 0, 0, 0);
}

TYPED_TEST(LayerNormGpu, IsRightForAllAlignments) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t width : {5, 64, 1000, 4099, 16390}) {
    for (int64_t offset = 0; offset <= 8; ++offset) {
      this->check(5, width, 0, offset, offset);
      this->check(5, width, 3, offset, 0);
      this->check(5, width, 8, 0, offset);
    }
  }
}

#endif

}  // namespace
