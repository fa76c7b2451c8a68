// SPDX-License-Identifier: Apache-2.0
#include "swiglu_quantize/swiglu_quantize.h"

#include "fused_quantize_test.h"

namespace {

using namespace cudaops_kernels;
using namespace op_test;

template <typename T>
struct Problem {
  BlockGrid grid;
  QuantizedType type;
  std::vector<T> gate, up;

  Problem(int64_t rows, int64_t width, int64_t group, QuantizedType quantized)
      : grid{1, rows, width, 1, group},
        type(quantized),
        gate(Random(1).normal<T>(rows * width)),
        up(Random(2).normal<T>(rows * width)) {}

  // run(SwigluQuantize)
  template <template <typename> class Buffer, typename Run>
  QuantizedResult run(const RowLayout& layout, const Run& run) const {
    const int64_t stride = grid.width + layout.gap, n = grid.num_rows * grid.width;
    const Buffer<T> gates(spread(gate, grid.width, stride), layout.offset);
    const Buffer<T> ups(spread(up, grid.width, stride), layout.offset);
    Buffer<uint8_t> output(n, layout.offset_out);
    Buffer<float> scale(grid.num_blocks());
    SwigluQuantize call{};
    call.unit = {grid.num_rows,          grid.width,           kDType<T>,
                 {gates.data(), stride}, {ups.data(), stride}, {}};
    call.grid = grid;
    call.type = type;
    call.output = {output.data(), grid.width};
    call.scale = scale.data();
    call.strides = dense(grid);
    run(call);
    EXPECT_TRUE(output.guards_intact() && scale.guards_intact());
    return {output.to_host(), scale.to_host()};
  }
};

template <typename T>
class SwigluQuantizeCpu : public ::testing::Test {};
TYPED_TEST_SUITE(SwigluQuantizeCpu, Types, TypeNames);

TYPED_TEST(SwigluQuantizeCpu, IsRightForAllWidths) {
  using T = TypeParam;
  for (const RowShape& shape : row_shapes("swiglu_quantize")) {
    const int64_t rows = shape.num_rows, width = shape.width;
    for (const QuantizedType type : types()) {
      for (const int64_t group : {width, int64_t{128}}) {
        SCOPED_TRACE(::testing::Message() << "width " << width << ", group " << group);
        const Problem<T> problem(rows, width, group, type);
        std::vector<T> product;
        const QuantizedResult result =
            problem.template run<HostBuffer>({0, 0, 0}, [&](const SwigluQuantize& call) {
              HostBuffer<T> workspace(rows * width);
              swiglu_quantize_cpu(call, workspace.data(), scattered_for);
              EXPECT_TRUE(workspace.guards_intact());
              product = workspace.to_host();
            });
        EXPECT_TRUE(close(product, [&](int64_t i) {
          const double x = exact(problem.gate[static_cast<size_t>(i)]);
          return x / (1 + std::exp(-x)) * exact(problem.up[static_cast<size_t>(i)]);
        }));
        EXPECT_TRUE(quantized_well(problem.grid, type, product, result.output, result.scale));
      }
    }
  }
}

#if defined(CUDAOPS_KERNELS_WITH_CUDA)

// What swiglu and quantize make of the same rows, one after the other.
template <typename T>
void in_two_steps(const SwigluQuantize& call) {
  DeviceBuffer<T> product(call.unit.num_rows * call.unit.width);
  GatedUnit unit = call.unit;
  unit.output = {product.data(), unit.width};
  launch_swiglu(unit, nullptr);
  quantize_rows(call, product);
}

template <typename T>
class SwigluQuantizeGpu : public ::testing::Test {
 protected:
  static void check(int64_t rows, int64_t width, int64_t group, const RowLayout& layout) {
    for (const QuantizedType type : types()) {
      if (is_left_out()) continue;
      SCOPED_TRACE(::testing::Message()
                   << rows << " rows of " << width << ", group " << group << ", gap " << layout.gap
                   << ", offsets " << layout.offset << ", " << layout.offset_out);
      const Problem<T> problem(rows, width, group, type);
      const QuantizedResult wanted = problem.template run<DeviceBuffer>(layout, in_two_steps<T>);
      const QuantizedResult found =
          problem.template run<DeviceBuffer>(layout, [](const SwigluQuantize& call) {
            DeviceBuffer<char> workspace(swiglu_quantize_workspace_bytes(call));
            launch_swiglu_quantize(call, workspace.data(), nullptr);
            EXPECT_TRUE(workspace.guards_intact());
          });
      EXPECT_TRUE(same_bits(found.scale, wanted.scale));
      EXPECT_TRUE(same_bits(found.output, wanted.output));
    }
  }
};
TYPED_TEST_SUITE(SwigluQuantizeGpu, Types, TypeNames);

TYPED_TEST(SwigluQuantizeGpu, IsSwigluAndQuantizeForAllWidths) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for_quantized_widths("swiglu_quantize", this->check);
}

TYPED_TEST(SwigluQuantizeGpu, IsSwigluAndQuantizeForAllAlignments) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for_quantized_alignments(this->check);
}

#endif

}  // namespace
