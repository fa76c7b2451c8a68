// SPDX-License-Identifier: Apache-2.0
#include "quantize/quantize.h"

#include "quantized_test.h"

namespace {

using namespace cudaops_kernels;
using namespace op_test;

// What a call asks for besides its blocks.
struct Options {
  QuantizedType type = QuantizedType::kInt8;
  bool is_asymmetric = false;
  bool is_random = false;
  bool power_of_two = false;
  bool has_scale = false;
};

std::vector<Options> all_options() {
  std::vector<Options> options;
  for (const QuantizedType type : types()) {
    options.push_back({type});
    options.push_back({type, false, true});
    options.push_back({type, false, false, true});
    options.push_back({type, false, false, false, true});
    if (type == QuantizedType::kInt8) options.push_back({type, true});
    if (type == QuantizedType::kInt8) options.push_back({type, true, true});
  }
  return options;
}

// Rows `stride` apart; `offset` elements behind a multiple of 256 bytes.
struct Layout {
  int64_t gap, offset, offset_out;
};

struct Result {
  std::vector<uint8_t> output;
  std::vector<float> scale;
  std::vector<int32_t> zero_point;
};

// run(Quantize); Buffer is HostBuffer or DeviceBuffer.
template <typename T, template <typename> class Buffer, typename Run>
Result quantized(const BlockGrid& grid, const Options& options, const std::vector<T>& rows,
                 const Layout& layout, const Run& run) {
  const int64_t stride = grid.width + layout.gap, num_blocks = grid.num_blocks();
  const Buffer<T> input(spread(rows, grid.width, stride), layout.offset);
  Buffer<uint8_t> output(grid.total_rows() * grid.width, layout.offset_out);
  std::vector<float> given(static_cast<size_t>(num_blocks));
  for (size_t i = 0; i < given.size(); ++i) given[i] = 0.01f * static_cast<float>(i % 7 + 1);
  Buffer<float> scale(num_blocks);
  const Buffer<float> given_scale(given);
  Buffer<int32_t> zero_point(num_blocks);
  Quantize call{};
  call.grid = grid;
  call.dtype = kDType<T>;
  call.type = options.type;
  call.input = {input.data(), stride};
  call.output = {output.data(), grid.width};
  call.scale = options.has_scale ? const_cast<float*>(given_scale.data()) : scale.data();
  if (options.is_asymmetric) call.zero_point = zero_point.data();
  call.strides = dense(grid);
  call.rule.power_of_two = options.power_of_two;
  call.has_scale = options.has_scale;
  call.is_random = options.is_random;
  call.seed = 0x123456789abcdefu;
  run(call);
  EXPECT_TRUE(output.guards_intact() && scale.guards_intact() && zero_point.guards_intact());
  EXPECT_TRUE(same_bits(given_scale.to_host(), given));
  return {output.to_host(), options.has_scale ? given : scale.to_host(),
          options.is_asymmetric ? zero_point.to_host() : std::vector<int32_t>()};
}

template <typename T>
std::vector<T> rows_of(const BlockGrid& grid) {
  std::vector<T> rows = Random(1).normal<T>(grid.total_rows() * grid.width);
  // Zeros where a block starts, in some.
  for (int64_t i = 0; i < static_cast<int64_t>(rows.size()); ++i) {
    if (i / 300 % 5 == 4) rows[static_cast<size_t>(i)] = rounded<T>(0);
  }
  return rows;
}

const auto on_cpu = [](const Quantize& call) { quantize_cpu(call, scattered_for); };

std::vector<BlockGrid> grids() {
  std::vector<BlockGrid> result = grids_of("quantize");
  for (const int64_t width : shapes_of("quantize").widths) {
    result.push_back({1, 3, width, 1, width});
    result.push_back({1, 3, width, 1, 128});
    result.push_back({3, 1, width, 1, 64});
    result.push_back({2, 3, width, 3, width});
    result.push_back({2, 5, width, 2, 24});
  }
  result.push_back({1, 300, 400, 128, 128});
  result.push_back({2, 130, 264, 128, 128});
  result.push_back({1, 40, 257, 16, 32});
  result.push_back({1, 40, 256, 16, 32});
  result.push_back({1, 257, 33, 257, 1});
  result.push_back({1, 257, 1024, 257, 1024});
  result.push_back({1031, 1, 16, 1, 16});
  result.push_back({1, 1031, 100, 1, 100});
  return result;
}

std::string text_of(const BlockGrid& grid) {
  return std::to_string(grid.num_matrices) + " matrices of " + std::to_string(grid.num_rows) +
         " × " + std::to_string(grid.width) + " in blocks of " + std::to_string(grid.block_rows) +
         " × " + std::to_string(grid.block_columns);
}

template <typename T>
class QuantizeCpu : public ::testing::Test {};
TYPED_TEST_SUITE(QuantizeCpu, Types, TypeNames);

TYPED_TEST(QuantizeCpu, IsRightForAllBlocks) {
  using T = TypeParam;
  for (const BlockGrid& grid : grids()) {
    SCOPED_TRACE(text_of(grid));
    const std::vector<T> rows = rows_of<T>(grid);
    for (const QuantizedType type : types()) {
      const Result result = quantized<T, HostBuffer>(grid, {type}, rows, {0, 0, 0}, on_cpu);
      EXPECT_TRUE(quantized_well(grid, type, rows, result.output, result.scale));
    }
  }
}

// Asymmetric: the range's ends come back within half a step and the zero point's rounding.
TYPED_TEST(QuantizeCpu, IsRightWithZeroPoints) {
  using T = TypeParam;
  for (const BlockGrid& grid : grids()) {
    SCOPED_TRACE(text_of(grid));
    std::vector<T> rows = rows_of<T>(grid);
    for (T& x : rows) x = rounded<T>(exact(x) + 1.5);
    const Result result =
        quantized<T, HostBuffer>(grid, {QuantizedType::kInt8, true}, rows, {0, 0, 0}, on_cpu);
    for (int64_t i = 0; i < static_cast<int64_t>(rows.size()); ++i) {
      const size_t at = static_cast<size_t>(i);
      const size_t block = block_of(grid, i / grid.width, i % grid.width);
      const double back =
          (stored(result.output[at], QuantizedType::kInt8) - result.zero_point[block]) *
          result.scale[block];
      ASSERT_LE(std::fabs(back - exact(rows[at])), 1.0001 * result.scale[block]) << i;
    }
  }
}

TEST(QuantizeCpuFloats, RoundsAllFloat8Neighbours) {
  for (int byte = 0; byte < 256; ++byte) {
    const uint8_t bits = static_cast<uint8_t>(byte);
    const double value = stored(bits, QuantizedType::kFloat8);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(float8_to_float(bits)));
      continue;
    }
    EXPECT_EQ(float8_to_float(bits), static_cast<float>(value));
    EXPECT_EQ(nearest_float8(static_cast<float>(value)), bits);
    for (const float towards : {-500.0f, 500.0f}) {
      float x = static_cast<float>(value);
      for (int step = 0; step < 3; ++step) x = std::nextafterf(x, towards);
      EXPECT_EQ(nearest_float8(x) & 0x7f, bits & 0x7f);
    }
    const double next = stored(static_cast<uint8_t>(bits + 1), QuantizedType::kFloat8);
    if ((bits & 0x7f) < 0x7e) {
      const float middle = static_cast<float>((value + next) / 2);
      EXPECT_EQ(nearest_float8(middle) & 1, 0) << "tie between " << value << " and " << next;
    }
  }
}

TEST(QuantizeCpuFloats, PhiloxGivesItsPublishedNumbers) {
  const Philox random = philox(0, 0);
  EXPECT_EQ(random.words[0], 0x6627e8d5u);
  EXPECT_EQ(random.words[1], 0xe169c58du);
  EXPECT_EQ(random.words[2], 0xbc57ac4cu);
  EXPECT_EQ(random.words[3], 0x9b00dbd8u);
}

#if defined(CUDAOPS_KERNELS_WITH_CUDA)

const auto on_gpu = [](const Quantize& call) { launch_quantize(call, nullptr); };

template <typename T>
class QuantizeGpu : public ::testing::Test {
 protected:
  // The CPU's bits, whatever the layout.
  static void check(const BlockGrid& grid, const Layout& layout) {
    check(grid, layout, rows_of<T>(grid));
  }
  static void check(const BlockGrid& grid, const Layout& layout, const std::vector<T>& rows) {
    SCOPED_TRACE(::testing::Message() << text_of(grid) << ", gap " << layout.gap << ", offsets "
                                      << layout.offset << ", " << layout.offset_out);
    for (const Options& options : all_options()) {
      if (is_left_out()) continue;
      SCOPED_TRACE(::testing::Message()
                   << "float8 " << (options.type == QuantizedType::kFloat8) << ", asymmetric "
                   << options.is_asymmetric << ", random " << options.is_random << ", 2^n "
                   << options.power_of_two << ", given " << options.has_scale);
      const Result wanted = quantized<T, HostBuffer>(grid, options, rows, {0, 0, 0}, on_cpu);
      const Result found = quantized<T, DeviceBuffer>(grid, options, rows, layout, on_gpu);
      EXPECT_TRUE(same_bits(found.scale, wanted.scale));
      EXPECT_TRUE(same_bits(found.zero_point, wanted.zero_point));
      EXPECT_TRUE(same_bits(found.output, wanted.output));
    }
  }
};
TYPED_TEST_SUITE(QuantizeGpu, Types, TypeNames);

TYPED_TEST(QuantizeGpu, HasTheCpusBitsForAllBlocks) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const BlockGrid& grid : grids()) this->check(grid, {0, 0, 0});
}

TYPED_TEST(QuantizeGpu, HasTheCpusBitsForLongRows) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t width : {16384, 32768, 40000, 65536, 100001, 262144}) {
    this->check({1, 2, width, 1, width}, {0, 0, 0});
    this->check({1, 2, width, 1, 128}, {0, 0, 0});
  }
}

TYPED_TEST(QuantizeGpu, HasTheCpusBitsForAllAlignments) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t width : {5, 64, 1000, 4099}) {
    for (const BlockGrid& grid :
         {BlockGrid{1, 5, width, 1, width}, BlockGrid{1, 5, width, 1, 128},
          BlockGrid{1, 17, width, 16, 32}, BlockGrid{1, 5, width, 5, width}}) {
      for (const int64_t offset : {0, 1, 2, 4, 5, 8}) {
        this->check(grid, {0, offset, offset});
        this->check(grid, {3, offset, 0});
        this->check(grid, {8, 0, offset});
      }
    }
  }
}

// Groups that start and end anywhere in a vector: pieces of one row or of many in a warp.
TYPED_TEST(QuantizeGpu, HasTheCpusBitsForGroupsOfOddRows) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t width : {1, 3, 7, 9, 17, 127, 129, 255, 257, 1023, 2047, 2049, 4097}) {
    for (const int64_t group : {16, 32, 64, 128, 256}) {
      this->check({1, 37, width, 1, group}, {0, 0, 0});
      this->check({1, 5, width, 1, group}, {width % 2, 3, 3});
    }
    this->check({3, 7, width, 1, 128}, {1, 1, 0});
  }
}

// All powers of two that float8 has, and those below; NaN and infinities in some groups.
TYPED_TEST(QuantizeGpu, HasTheCpusBitsForAllMagnitudes) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  using T = TypeParam;
  for (const int64_t width : {4096, 4097, 127}) {
    const BlockGrid grid{1, 9, width, 1, 128};
    std::vector<T> rows = rows_of<T>(grid);
    for (int64_t i = 0; i < static_cast<int64_t>(rows.size()); ++i) {
      T& x = rows[static_cast<size_t>(i)];
      x = rounded<T>(std::ldexp(exact(x), -static_cast<int>(i % 23)));
      if (i % 1009 == 1000) x = rounded<T>(std::nan(""));
      if (i % 2003 == 2000) x = rounded<T>(i % 2 == 0 ? INFINITY : -INFINITY);
    }
    this->check(grid, {0, 0, 0}, rows);
    this->check(grid, {1, 1, 4}, rows);
  }
}

TYPED_TEST(QuantizeGpu, HasTheCpusBitsForTilesOfOddRows) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t width : {1, 7, 31, 127, 129, 257, 385}) {
    for (const int64_t rows : {16, 127, 128, 300}) {
      this->check({1, rows, width, 128, 128}, {0, 0, 0});
      this->check({2, rows, width, 16, 32}, {3, 1, 0});
      this->check({1, rows, width, 100, 64}, {0, 5, 5});
    }
    this->check({1, 600, width, 257, 16}, {0, 0, 0});
  }
}

TEST(QuantizeGpuLarge, CountsBeyond32Bits) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  if (!large_arrays_wanted()) GTEST_SKIP() << "CUDAOPS_TEST_LARGE is not set";
  for (const bool per_row : {true, false}) {
    const int64_t width = 4096, num_rows = kLargeSize / width + 1, n = num_rows * width;
    const BlockGrid grid{1, num_rows, width, per_row ? 1 : num_rows, width};
    DeviceBuffer<BFloat16> input(n);
    DeviceBuffer<uint8_t> output(n);
    CUDAOPS_GPU_CALL(Memset, input.data(), 0, static_cast<size_t>(n) * 2);
    const std::vector<BFloat16> one{rounded<BFloat16>(127)};
    CUDAOPS_GPU_CALL(Memcpy, input.data() + n - 1, one.data(), 2, CUDAOPS_GPU(MemcpyHostToDevice));
    DeviceBuffer<float> scale(grid.num_blocks());
    Quantize call{};
    call.grid = grid;
    call.dtype = DType::kBFloat16;
    call.input = {input.data(), width};
    call.output = {output.data(), width};
    call.scale = scale.data();
    call.strides = dense(grid);
    on_gpu(call);
    EXPECT_EQ(scale.to_host(grid.num_blocks() - 1, 1)[0], 1.0f);
    EXPECT_EQ(output.to_host(n - 2, 2), (std::vector<uint8_t>{0, 127}));
    EXPECT_TRUE(output.guards_intact());
  }
}

#endif

}  // namespace
