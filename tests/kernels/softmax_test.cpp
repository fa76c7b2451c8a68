// SPDX-License-Identifier: Apache-2.0
#include "softmax/softmax.h"

#include <cmath>

#include "row_test.h"

namespace {

using namespace cudaops::testing;
using namespace cudaops_kernels;
using namespace op_test;

enum class Mask { kNone, kAdded, kAddedFloat, kSeen };

// A call's arrays on the host, and the references in double. The mask has a row for each query.
template <typename T>
struct Problem {
  static constexpr float kScale = 0.7f;
  int64_t num_rows, width, num_queries;
  bool causal;
  Mask mask;
  std::vector<T> input, grad_output, added;
  std::vector<float> added_float;
  std::vector<unsigned char> seen;

  Problem(int64_t rows, int64_t columns, Mask kind, bool is_causal)
      : num_rows(rows),
        width(columns),
        num_queries(3),
        causal(is_causal),
        mask(kind),
        input(Random(1).normal<T>(rows * columns)),
        grad_output(Random(2).normal<T>(rows * columns)),
        added(Random(3).normal<T>(num_queries * columns)),
        added_float(Random(4).normal<float>(num_queries * columns)) {
    for (T& x : input) x = rounded<T>(8 * exact(x));
    for (const float x : added_float) seen.push_back(x > -0.5f ? 1 : 0);
  }

  bool is_hidden(int64_t row, int64_t column) const {
    const int64_t query = row % num_queries;
    if (causal && column > query + width - num_queries) return true;
    return mask == Mask::kSeen && seen[static_cast<size_t>(query * width + column)] == 0;
  }
  double score(int64_t row, int64_t column) const {
    const size_t at = static_cast<size_t>(row % num_queries * width + column);
    double score = double{kScale} * exact(input[static_cast<size_t>(row * width + column)]);
    if (mask == Mask::kAdded) score += exact(added[at]);
    if (mask == Mask::kAddedFloat) score += added_float[at];
    return is_hidden(row, column) ? -INFINITY : score;
  }
  std::vector<double> row(int64_t index) const {
    double largest = -INFINITY, sum = 0;
    for (int64_t c = 0; c < width; ++c) largest = std::fmax(largest, score(index, c));
    std::vector<double> result(static_cast<size_t>(width));
    if (largest == -INFINITY) return result;
    for (int64_t c = 0; c < width; ++c) {
      sum += result[static_cast<size_t>(c)] = std::exp(score(index, c) - largest);
    }
    for (double& value : result) value /= sum;
    return result;
  }

  Softmax call(ConstRows input_rows, const void* mask_data, Rows output) const {
    Softmax result{};
    result.num_rows = num_rows;
    result.width = width;
    result.dtype = kDType<T>;
    result.input = input_rows;
    result.output = output;
    result.scale = kScale;
    result.num_queries = causal ? num_queries : 0;
    if (mask == Mask::kNone) return result;
    result.mask.kind = mask == Mask::kSeen ? SoftmaxMask::Kind::kSeen : SoftmaxMask::Kind::kAdded;
    result.mask.dtype = mask == Mask::kAddedFloat ? DType::kFloat32 : kDType<T>;
    result.mask.data = mask_data;
    result.mask.num_dims = 2;
    result.mask.sizes[0] = num_queries;
    result.mask.strides[0] = width;
    result.mask.sizes[1] = num_rows;
    result.mask.strides[1] = 0;
    return result;
  }

  void check(const std::vector<T>& output) const {
    for (int64_t index = 0; index < num_rows; ++index) {
      const std::vector<double> wanted = row(index);
      const auto first = output.begin() + index * width;
      EXPECT_TRUE(close(std::vector<T>(first, first + width),
                        [&](int64_t i) { return wanted[static_cast<size_t>(i)]; }));
      for (int64_t c = 0; c < width; ++c) {
        if (is_hidden(index, c)) ASSERT_EQ(exact(first[c]), 0);
      }
    }
  }

  SoftmaxBackward backward(ConstRows grad, ConstRows output, Rows grad_input) const {
    SoftmaxBackward result{};
    result.num_rows = num_rows;
    result.width = width;
    result.dtype = kDType<T>;
    result.grad_output = grad;
    result.output = output;
    result.grad_input = grad_input;
    result.scale = kScale;
    result.num_queries = causal ? num_queries : 0;
    return result;
  }

  void check_backward(const std::vector<T>& grad_input, const std::vector<T>& output) const {
    std::vector<double> sums(static_cast<size_t>(num_rows));
    for (int64_t i = 0; i < num_rows * width; ++i) {
      const size_t at = static_cast<size_t>(i);
      sums[static_cast<size_t>(i / width)] += exact(grad_output[at]) * exact(output[at]);
    }
    EXPECT_TRUE(close(grad_input, [&](int64_t i) {
      const size_t at = static_cast<size_t>(i);
      return kScale * exact(output[at]) *
             (exact(grad_output[at]) - sums[static_cast<size_t>(i / width)]);
    }));
  }
};

const Mask kMasks[] = {Mask::kNone, Mask::kAdded, Mask::kAddedFloat, Mask::kSeen};

template <typename T>
class SoftmaxCpu : public ::testing::Test {};
TYPED_TEST_SUITE(SoftmaxCpu, Types, TypeNames);

TYPED_TEST(SoftmaxCpu, IsRightForAllWidths) {
  using T = TypeParam;
  for (const auto [rows, width] : row_shapes("softmax", 6)) {
    for (const Mask mask : kMasks) {
      const bool causal = width % 2 == 0;
      SCOPED_TRACE(::testing::Message()
                   << "width " << width << ", mask " << static_cast<int>(mask));
      const Problem<T> problem(rows, width, mask, causal);
      const void* data = nullptr;
      if (mask == Mask::kAdded) data = problem.added.data();
      if (mask == Mask::kAddedFloat) data = problem.added_float.data();
      if (mask == Mask::kSeen) data = problem.seen.data();
      HostBuffer<T> output(rows * width), grad_input(rows * width);
      softmax_cpu(problem.call({problem.input.data(), width}, data, {output.data(), width}),
                  scattered_for);
      problem.check(output.to_host());
      softmax_backward_cpu(problem.backward({problem.grad_output.data(), width},
                                            {output.data(), width}, {grad_input.data(), width}),
                           scattered_for);
      problem.check_backward(grad_input.to_host(), output.to_host());
      EXPECT_TRUE(output.guards_intact() && grad_input.guards_intact());
    }
  }
}

#if defined(CUDAOPS_KERNELS_WITH_CUDA)

template <typename T>
class SoftmaxGpu : public ::testing::Test {
 protected:
  // Rows `stride` elements apart that start `offset` elements behind a multiple of 256 bytes;
  // outputs lie elsewhere.
  static void check(int64_t num_rows, int64_t width, int64_t gap, int64_t offset,
                    int64_t offset_out, Mask mask, bool causal) {
    SCOPED_TRACE(::testing::Message() << num_rows << " rows of " << width << ", gap " << gap
                                      << ", offsets " << offset << ", " << offset_out << ", mask "
                                      << static_cast<int>(mask) << ", causal " << causal);
    const Problem<T> problem(num_rows, width, mask, causal);
    const int64_t stride = width + gap;
    const DeviceBuffer<T> input(spread(problem.input, width, stride), offset);
    const DeviceBuffer<T> grad_output(spread(problem.grad_output, width, stride), offset);
    const DeviceBuffer<T> added(problem.added, offset);
    const DeviceBuffer<float> added_float(problem.added_float, offset);
    const DeviceBuffer<unsigned char> seen(problem.seen, offset);
    const void* data = nullptr;
    if (mask == Mask::kAdded) data = added.data();
    if (mask == Mask::kAddedFloat) data = added_float.data();
    if (mask == Mask::kSeen) data = seen.data();
    DeviceBuffer<T> output(num_rows * width, offset_out), grad_input(num_rows * width, offset_out);
    launch_softmax(problem.call({input.data(), stride}, data, {output.data(), width}), nullptr);
    problem.check(output.to_host());
    launch_softmax_backward(problem.backward({grad_output.data(), stride}, {output.data(), width},
                                             {grad_input.data(), width}),
                            nullptr);
    problem.check_backward(grad_input.to_host(), output.to_host());
    EXPECT_TRUE(output.guards_intact() && grad_input.guards_intact());
  }
};
TYPED_TEST_SUITE(SoftmaxGpu, Types, TypeNames);

TYPED_TEST(SoftmaxGpu, IsRightForAllWidths) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const auto [rows, width] : row_shapes("softmax")) {
    for (const Mask mask : kMasks) this->check(rows, width, 0, 0, 0, mask, width % 2 == 0);
  }
  for (const int64_t width : {16384, 32768, 40000, 100001, 131072, 262144}) {
    for (const Mask mask : kMasks) this->check(2, width, 0, 0, 0, mask, false);
    this->check(3, width, 0, 0, 0, Mask::kNone, true);
  }
}

TYPED_TEST(SoftmaxGpu, IsRightForManyRows) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t width : {1, 8, 100, 127, 129, 200, 1024, 2053}) {
    this->check(1032, width, 0, 0, 0, Mask::kNone, false);
    this->check(1032, width, 0, 0, 0, Mask::kSeen, true);
  }
}

TYPED_TEST(SoftmaxGpu, IsRightForAllAlignments) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t width : {5, 64, 1000, 4099}) {
    for (int64_t offset = 0; offset <= 8; ++offset) {
      this->check(3, width, 0, offset, offset, kMasks[offset % 4], false);
      this->check(3, width, 3, offset, 0, Mask::kNone, true);
      this->check(3, width, 8, 0, offset, Mask::kAdded, false);
    }
  }
}

#endif

}  // namespace
