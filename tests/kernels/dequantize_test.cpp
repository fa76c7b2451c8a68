// SPDX-License-Identifier: Apache-2.0
#include "dequantize/dequantize.h"

#include "quantized_test.h"

namespace {

using namespace cudaops_kernels;
using namespace op_test;

struct Problem {
  BlockGrid grid;
  QuantizedType type;
  bool has_zero_point;
  std::vector<uint8_t> input;
  std::vector<float> scale;
  std::vector<int32_t> zero_point;

  Problem(const BlockGrid& block_grid, QuantizedType quantized_type, bool with_zero_point)
      : grid(block_grid), type(quantized_type), has_zero_point(with_zero_point) {
    Random random(1);
    for (int64_t i = 0; i < grid.total_rows() * grid.width; ++i) {
      const uint8_t byte = static_cast<uint8_t>(random.bits());
      // NaN has no one pattern in the output.
      input.push_back(type == QuantizedType::kFloat8 && (byte & 0x7f) == 0x7f ? 0 : byte);
    }
    scale = Random(2).normal<float>(grid.num_blocks());
    for (int64_t i = 0; i < grid.num_blocks(); ++i) {
      zero_point.push_back(static_cast<int32_t>(random.bits() % 256) - 128);
    }
  }

  double wanted(int64_t i) const {
    const size_t block = block_of(grid, i / grid.width, i % grid.width);
    const double zero = has_zero_point ? zero_point[block] : 0;
    return (stored(input[static_cast<size_t>(i)], type) - zero) * scale[block];
  }

  // run(Dequantize); rows `gap` apart, `offset` bytes behind a multiple of 256.
  template <typename T, template <typename> class Buffer, typename Run>
  void check(int64_t gap, int64_t offset, int64_t offset_out, const Run& run) const {
    SCOPED_TRACE(::testing::Message()
                 << grid.total_rows() << " × " << grid.width << ", blocks " << grid.block_rows
                 << " × " << grid.block_columns << ", gap " << gap << ", offsets " << offset << ", "
                 << offset_out << ", zero point " << has_zero_point);
    const int64_t stride = grid.width + gap;
    const Buffer<uint8_t> rows(spread(input, grid.width, stride), offset);
    const Buffer<float> scales(scale);
    const Buffer<int32_t> zero_points(zero_point);
    Buffer<T> output(grid.total_rows() * grid.width, offset_out);
    Dequantize call{};
    call.grid = grid;
    call.dtype = kDType<T>;
    call.type = type;
    call.input = {rows.data(), stride};
    call.output = {output.data(), grid.width};
    call.scale = scales.data();
    if (has_zero_point) call.zero_point = zero_points.data();
    call.strides = dense(grid);
    run(call);
    // A product of 24 and 9 bits, in float32.
    const std::vector<T> found = output.to_host();
    for (size_t i = 0; i < found.size(); ++i) {
      const T expected = rounded<T>(rounded<float>(wanted(static_cast<int64_t>(i))));
      ASSERT_EQ(exact(found[i]), exact(expected)) << "element " << i << "; " << seed_text();
    }
    EXPECT_TRUE(output.guards_intact());
  }
};

std::vector<BlockGrid> grids() {
  std::vector<BlockGrid> result = grids_of("dequantize");
  for (const int64_t width : shapes_of("dequantize").widths) {
    result.push_back({1, 3, width, 1, width});
    result.push_back({1, 3, width, 1, 128});
    result.push_back({2, 3, width, 2, 24});
  }
  result.push_back({1, 300, 400, 128, 128});
  result.push_back({1, 257, 33, 257, 33});
  result.push_back({1, 2, 100001, 1, 128});
  return result;
}

template <typename T, template <typename> class Buffer, typename Run>
void check_grids(const Run& run) {
  for (const BlockGrid& grid : grids()) {
    Problem(grid, QuantizedType::kInt8, false).check<T, Buffer>(0, 0, 0, run);
    Problem(grid, QuantizedType::kInt8, true).check<T, Buffer>(0, 0, 0, run);
    Problem(grid, QuantizedType::kFloat8, false).check<T, Buffer>(0, 0, 0, run);
  }
}

// float16 has no room for all products; they become infinite, there and in the reference.
template <typename T>
class DequantizeCpu : public ::testing::Test {};
TYPED_TEST_SUITE(DequantizeCpu, Types, TypeNames);

TYPED_TEST(DequantizeCpu, IsExact) {
  check_grids<TypeParam, HostBuffer>(
      [](const Dequantize& call) { dequantize_cpu(call, scattered_for); });
}

#if defined(CUDAOPS_KERNELS_WITH_CUDA)

const auto on_gpu = [](const Dequantize& call) { launch_dequantize(call, nullptr); };

template <typename T>
class DequantizeGpu : public ::testing::Test {};
TYPED_TEST_SUITE(DequantizeGpu, Types, TypeNames);

TYPED_TEST(DequantizeGpu, IsExact) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  check_grids<TypeParam, DeviceBuffer>(on_gpu);
}

TYPED_TEST(DequantizeGpu, IsExactForAllAlignments) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t width : {5, 64, 1000, 4099}) {
    for (const int64_t block : {width, int64_t{128}, int64_t{24}}) {
      for (const QuantizedType type : types()) {
        const Problem problem({1, 7, width, 2, block}, type, type == QuantizedType::kInt8);
        for (const int64_t offset : {0, 1, 2, 4, 7, 8}) {
          problem.check<TypeParam, DeviceBuffer>(0, offset, offset, on_gpu);
          problem.check<TypeParam, DeviceBuffer>(0, offset, 0, on_gpu);
          problem.check<TypeParam, DeviceBuffer>(0, 0, offset, on_gpu);
          problem.check<TypeParam, DeviceBuffer>(3, offset, 0, on_gpu);
          problem.check<TypeParam, DeviceBuffer>(8, 0, offset, on_gpu);
        }
      }
    }
  }
}

// Vectors that end one row and begin the next: rows shorter than a block of threads, a last block
// of a row with one column, matrices that blocks of rows divide or not.
TYPED_TEST(DequantizeGpu, IsExactForManyOddRows) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const BlockGrid& grid :
       {BlockGrid{1, 1031, 127, 1, 127}, BlockGrid{1, 1031, 129, 1, 128},
        BlockGrid{1, 515, 9, 1, 9}, BlockGrid{1, 517, 513, 1, 8}, BlockGrid{1, 517, 513, 1, 12},
        BlockGrid{2, 130, 257, 65, 128}, BlockGrid{2, 131, 257, 65, 128},
        BlockGrid{3, 77, 1001, 77, 1001}, BlockGrid{1, 131, 4097, 1, 128},
        BlockGrid{1, 131, 4097, 1, 4097}}) {
    for (const QuantizedType type : types()) {
      const Problem problem(grid, type, type == QuantizedType::kInt8);
      for (const int64_t offset : {0, 3}) {
        problem.check<TypeParam, DeviceBuffer>(0, offset, offset, on_gpu);
        problem.check<TypeParam, DeviceBuffer>(0, 0, offset, on_gpu);
      }
    }
  }
}

TEST(DequantizeGpuLarge, IsExactBeyond32Bits) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  if (!large_arrays_wanted()) GTEST_SKIP() << "CUDAOPS_TEST_LARGE is not set";
  const int64_t width = 4097, num_rows = kLargeSize / width + 3, first = (num_rows - 1) * width;
  const Problem last({1, 1, width, 1, width}, QuantizedType::kInt8, false);
  DeviceBuffer<uint8_t> input(num_rows * width);
  DeviceBuffer<BFloat16> output(num_rows * width);
  const DeviceBuffer<float> scales(
      std::vector<float>(static_cast<size_t>(num_rows), last.scale[0]));
  CUDAOPS_GPU_CALL(Memcpy, input.data() + first, last.input.data(), last.input.size(),
                   CUDAOPS_GPU(MemcpyHostToDevice));
  Dequantize call{};
  call.grid = {1, num_rows, width, 1, width};
  call.dtype = DType::kBFloat16;
  call.type = QuantizedType::kInt8;
  call.input = {input.data(), width};
  call.output = {output.data(), width};
  call.scale = scales.data();
  call.strides = dense(call.grid);
  on_gpu(call);
  const std::vector<BFloat16> found = output.to_host(first, width);
  for (size_t i = 0; i < found.size(); ++i) {
    const BFloat16 expected =
        rounded<BFloat16>(rounded<float>(last.wanted(static_cast<int64_t>(i))));
    ASSERT_EQ(exact(found[i]), exact(expected)) << "element " << i << "; " << seed_text();
  }
  EXPECT_TRUE(output.guards_intact());
}

#endif

}  // namespace
