// SPDX-License-Identifier: Apache-2.0
#include "rms_norm_quantize/rms_norm_quantize.h"

#include "common/row/tuning_sm90.h"
#include "fused_quantize_test.h"

namespace {

using namespace cudaops_kernels;
using namespace op_test;

template <typename T>
struct Problem {
  BlockGrid grid;
  QuantizedType type;
  bool has_residual;
  std::vector<T> input, residual;
  std::vector<float> weight;

  Problem(int64_t rows, int64_t width, int64_t group, QuantizedType quantized, bool with_residual)
      : grid{1, rows, width, 1, group},
        type(quantized),
        has_residual(with_residual),
        input(Random(1).normal<T>(rows * width)),
        residual(Random(2).normal<T>(rows * width)),
        weight(Random(3).normal<float>(width)) {}

  // run(RmsNormQuantize)
  template <template <typename> class Buffer, typename Run>
  QuantizedResult run(const RowLayout& layout, std::vector<T>* residual_sum, const Run& run) const {
    const int64_t stride = grid.width + layout.gap, n = grid.num_rows * grid.width;
    const Buffer<T> rows(spread(input, grid.width, stride), layout.offset);
    const Buffer<T> more(spread(residual, grid.width, stride), layout.offset);
    const Buffer<float> scale_of_columns(weight);
    Buffer<T> sum(n);
    Buffer<uint8_t> output(n, layout.offset_out);
    Buffer<float> scale(grid.num_blocks());
    RmsNormQuantize call{};
    call.norm.num_rows = grid.num_rows;
    call.norm.width = grid.width;
    call.norm.dtype = kDType<T>;
    call.norm.weight_dtype = DType::kFloat32;
    call.norm.input = {rows.data(), stride};
    if (has_residual) {
      call.norm.residual = {more.data(), stride};
      call.norm.residual_out = {sum.data(), grid.width};
    }
    call.norm.weight = scale_of_columns.data();
    call.norm.eps = 1e-5f;
    call.grid = grid;
    call.type = type;
    call.output = {output.data(), grid.width};
    call.scale = scale.data();
    call.strides = dense(grid);
    run(call);
    EXPECT_TRUE(output.guards_intact() && scale.guards_intact() && sum.guards_intact());
    if (has_residual) *residual_sum = sum.to_host();
    return {output.to_host(), scale.to_host()};
  }
};

template <typename T>
class RmsNormQuantizeCpu : public ::testing::Test {};
TYPED_TEST_SUITE(RmsNormQuantizeCpu, Types, TypeNames);

TYPED_TEST(RmsNormQuantizeCpu, IsRightForAllWidths) {
  using T = TypeParam;
  for (const RowShape& shape : row_shapes("rms_norm_quantize")) {
    const int64_t rows = shape.num_rows, width = shape.width;
    for (const QuantizedType type : types()) {
      for (const int64_t group : {width, int64_t{128}}) {
        SCOPED_TRACE(::testing::Message() << "width " << width << ", group " << group);
        const Problem<T> problem(rows, width, group, type, width % 2 == 0);
        std::vector<T> sum, normed;
        const QuantizedResult result =
            problem.template run<HostBuffer>({0, 0, 0}, &sum, [&](const RmsNormQuantize& call) {
              HostBuffer<T> workspace(rows * width);
              rms_norm_quantize_cpu(call, workspace.data(), scattered_for);
              EXPECT_TRUE(workspace.guards_intact());
              normed = workspace.to_host();
            });
        const std::vector<T>& x = problem.has_residual ? sum : problem.input;
        std::vector<double> rstd;
        for (int64_t row = 0; row < rows; ++row) {
          double squares = 0;
          for (int64_t c = row * width; c < (row + 1) * width; ++c) {
            squares += exact(x[static_cast<size_t>(c)]) * exact(x[static_cast<size_t>(c)]);
          }
          rstd.push_back(1 / std::sqrt(squares / static_cast<double>(width) + 1e-5));
        }
        EXPECT_TRUE(close(normed, [&](int64_t i) {
          return exact(x[static_cast<size_t>(i)]) * rstd[static_cast<size_t>(i / width)] *
                 problem.weight[static_cast<size_t>(i % width)];
        }));
        EXPECT_TRUE(quantized_well(problem.grid, type, normed, result.output, result.scale));
      }
    }
  }
}

#if defined(CUDAOPS_KERNELS_WITH_CUDA)

// What rms_norm and quantize make of the same rows, one after the other.
template <typename T>
void in_two_steps(const RmsNormQuantize& call) {
  DeviceBuffer<T> normed(call.norm.num_rows * call.norm.width);
  RmsNorm norm = call.norm;
  norm.output = {normed.data(), norm.width};
  launch_rms_norm(norm, nullptr);
  quantize_rows(call, normed);
}

template <typename T>
class RmsNormQuantizeGpu : public ::testing::Test {
 protected:
  static bool are_packed(const RowLayout& layout, int64_t width, bool has_residual) {
    using namespace cudaops_kernels::detail;
    const RowOp op{has_residual ? 2 : 1, true, static_cast<int>(sizeof(T)), true};
    const bool have_warp = width >= kMinWarpWidth && width < kMinGoodWarpWidth;
    return layout.offset == 0 && layout.gap == 0 && width >= kMinPackedWidth && !have_warp &&
           packs_quantized_rows(op, width);
  }
  static void check(int64_t rows, int64_t width, int64_t group, const RowLayout& layout) {
    for (const QuantizedType type : types()) {
      for (const bool has_residual : {false, true}) {
        if (is_left_out()) continue;
        SCOPED_TRACE(::testing::Message() << rows << " rows of " << width << ", group " << group
                                          << ", " << layout << ", residual " << has_residual);
        const Problem<T> problem(rows, width, group, type, has_residual);
        std::vector<T> sum, wanted_sum;
        const QuantizedResult wanted =
            problem.template run<DeviceBuffer>(layout, &wanted_sum, in_two_steps<T>);
        const QuantizedResult found =
            problem.template run<DeviceBuffer>(layout, &sum, [](const RmsNormQuantize& call) {
              DeviceBuffer<char> workspace(rms_norm_quantize_workspace_bytes(call));
              launch_rms_norm_quantize(call, workspace.data(), nullptr);
              EXPECT_TRUE(workspace.guards_intact());
            });
        EXPECT_TRUE(same_bits(sum, wanted_sum));
        // Short rows that aren't whole vectors rms_norm takes as packed ones; of both together,
        // some with one scale a row.
        const bool are_alike = width > 256 || width % (16 / int64_t{sizeof(T)}) == 0 ||
                               (group == width && are_packed(layout, width, has_residual));
        if (layout.offset_out % 8 == 0 && are_alike) {
          EXPECT_TRUE(same_bits(found.scale, wanted.scale));
          EXPECT_TRUE(same_bits(found.output, wanted.output));
          continue;
        }
        // The row is added up in another order.
        for (size_t i = 0; i < found.scale.size(); ++i) {
          const double limit = 0.01 * wanted.scale[i];
          EXPECT_LE(std::fabs(found.scale[i] - wanted.scale[i]), limit) << i;
        }
        for (size_t i = 0; i < found.output.size(); ++i) {
          const double a = stored(found.output[i], type), b = stored(wanted.output[i], type);
          EXPECT_LE(std::fabs(a - b), 1.01 * std::max(step_at(a, type), step_at(b, type))) << i;
        }
      }
    }
  }
};
TYPED_TEST_SUITE(RmsNormQuantizeGpu, Types, TypeNames);

TYPED_TEST(RmsNormQuantizeGpu, IsNormAndQuantizeForAllWidths) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for_quantized_widths("rms_norm_quantize", this->check);
}

TYPED_TEST(RmsNormQuantizeGpu, IsNormAndQuantizeForAllAlignments) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for_quantized_alignments(this->check);
}

// NaN doesn't count: a row of it has the smallest scale, and its bytes are those of NaN.
TYPED_TEST(RmsNormQuantizeGpu, IsNormAndQuantizeForNaN) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  using T = TypeParam;
  for (const int64_t width : {127, 1024, 4097}) {
    for (const QuantizedType type : types()) {
      SCOPED_TRACE(width);
      Problem<T> problem(20, width, width, type, false);
      problem.input[static_cast<size_t>(3 * width + width / 2)] = rounded<T>(NAN);
      std::vector<T> sum;
      const QuantizedResult wanted =
          problem.template run<DeviceBuffer>({0, 0, 0}, &sum, in_two_steps<T>);
      const QuantizedResult found = problem.template run<DeviceBuffer>(
          {0, 0, 0}, &sum,
          [](const RmsNormQuantize& call) { launch_rms_norm_quantize(call, nullptr, nullptr); });
      EXPECT_EQ(found.scale[3], 0x1p-126f);
      EXPECT_TRUE(same_bits(found.scale, wanted.scale));
      EXPECT_TRUE(same_bits(found.output, wanted.output));
    }
  }
}

#endif

}  // namespace
