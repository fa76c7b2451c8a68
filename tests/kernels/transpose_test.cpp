// SPDX-License-Identifier: Apache-2.0
#include "transpose/transpose.h"

#include "op_test.h"

namespace {

using namespace cudaops::testing;
using namespace cudaops_kernels;
using namespace op_test;

// Any bits: NaNs keep their payload, subnormals aren't flushed.
template <typename T>
std::vector<T> random_bits(int64_t count) {
  Random random;
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) {
    const uint64_t bits = random.bits();
    std::memcpy(&value, &bits, sizeof value);
  }
  return values;
}

struct Shape {
  int64_t batches, rows, columns;
};

// `gap` elements behind each row, `batch_gap` behind each matrix; the input starts `offset`
// elements behind a multiple of 256 bytes, the output `offset_out`.
struct Layout {
  int64_t gap = 0, batch_gap = 0, offset = 0, offset_out = 0;
};

// Buffer is HostBuffer or DeviceBuffer; run(Transpose).
template <typename T, template <typename> class Buffer, typename Run>
void check(const Shape& shape, const Layout& layout, const Run& run) {
  SCOPED_TRACE(::testing::Message()
               << shape.batches << " of " << shape.rows << " x " << shape.columns << ", gaps "
               << layout.gap << ", " << layout.batch_gap << ", offsets " << layout.offset << ", "
               << layout.offset_out);
  const int64_t row_stride = shape.columns + layout.gap;
  const int64_t batch_stride = shape.rows * row_stride + layout.batch_gap;
  const std::vector<T> memory = random_bits<T>(shape.batches * batch_stride);
  const int64_t size = shape.batches * shape.rows * shape.columns;
  std::vector<T> wanted;
  for (int64_t batch = 0; batch < shape.batches; ++batch) {
    for (int64_t column = 0; column < shape.columns; ++column) {
      for (int64_t row = 0; row < shape.rows; ++row) {
        wanted.push_back(
            memory[static_cast<size_t>(batch * batch_stride + row * row_stride + column)]);
      }
    }
  }
  const Buffer<T> input(memory, layout.offset);
  Buffer<T> output(size, layout.offset_out);
  run(Transpose{shape.batches, shape.rows, shape.columns, kDType<T>, input.data(), batch_stride,
                row_stride, output.data()});
  EXPECT_TRUE(same_bits(output.to_host(), wanted));
  EXPECT_TRUE(output.guards_intact());
}

// Around vectors and tiles, whole ones and not.
template <typename T, template <typename> class Buffer, typename Run>
void check_shapes(const Run& run) {
  const std::vector<int64_t>& counts = shapes_of("transpose").widths;
  for (const int64_t rows : counts) {
    for (const int64_t columns : counts) check<T, Buffer>({2, rows, columns}, {}, run);
  }
  for (const int64_t rows : {1, 5, 640, 1001}) {
    for (const int64_t columns : {1, 8, 513, 1024}) check<T, Buffer>({1, rows, columns}, {}, run);
  }
  for (const std::vector<int64_t>& shape : shapes_of("transpose").shapes) {
    const size_t last = shape.size() - 1;
    const std::vector<int64_t> batches(shape.begin(), shape.end() - 2);
    check<T, Buffer>({num_elements(batches), shape[last - 1], shape[last]}, {}, run);
  }
}

template <typename T, template <typename> class Buffer, typename Run>
void check_layouts(const Run& run) {
  for (const Shape& shape : {Shape{3, 72, 136}, Shape{2, 203, 331}, Shape{3, 9, 5}}) {
    for (int64_t offset = 0; offset <= 8; ++offset) {
      for (const int64_t gap : {0, 1, 2, 3, 4, 7, 8}) {
        check<T, Buffer>(shape, {gap, 0, offset, 0}, run);
        check<T, Buffer>(shape, {gap, 1, 0, offset}, run);
        check<T, Buffer>(shape, {gap, 8, offset, (3 * offset + gap) % 8}, run);
      }
    }
  }
}

// Batches that are all one matrix.
template <typename T, template <typename> class Buffer, typename Run>
void check_expanded(const Run& run) {
  const std::vector<T> memory = random_bits<T>(9 * 17);
  const Buffer<T> input(memory);
  Buffer<T> output(3 * 9 * 17);
  run(Transpose{3, 9, 17, kDType<T>, input.data(), 0, 17, output.data()});
  const std::vector<T> found = output.to_host();
  std::vector<T> wanted;
  for (size_t i = 0; i < found.size(); ++i) {
    const size_t place = i % (9 * 17);
    wanted.push_back(memory[place % 9 * 17 + place / 9]);
  }
  EXPECT_TRUE(same_bits(found, wanted));
}

const auto on_cpu = [](const Transpose& call) { transpose_cpu(call, scattered_for); };

template <typename T>
class TransposeCpu : public ::testing::Test {};
TYPED_TEST_SUITE(TransposeCpu, Types, TypeNames);

TYPED_TEST(TransposeCpu, IsRightForAllShapes) { check_shapes<TypeParam, HostBuffer>(on_cpu); }
TYPED_TEST(TransposeCpu, IsRightForAllLayouts) { check_layouts<TypeParam, HostBuffer>(on_cpu); }
TYPED_TEST(TransposeCpu, TakesExpandedBatches) { check_expanded<TypeParam, HostBuffer>(on_cpu); }

#if defined(CUDAOPS_KERNELS_WITH_CUDA)

const auto on_gpu = [](const Transpose& call) { launch_transpose(call, nullptr); };

template <typename T>
class TransposeGpu : public ::testing::Test {};
TYPED_TEST_SUITE(TransposeGpu, Types, TypeNames);

TYPED_TEST(TransposeGpu, IsRightForAllShapes) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  check_shapes<TypeParam, DeviceBuffer>(on_gpu);
}
TYPED_TEST(TransposeGpu, IsRightForAllLayouts) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  check_layouts<TypeParam, DeviceBuffer>(on_gpu);
}
TYPED_TEST(TransposeGpu, TakesExpandedBatches) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  check_expanded<TypeParam, DeviceBuffer>(on_gpu);
}

// More matrices, tiles down and tiles across than one dimension of a grid takes in y or z.
TYPED_TEST(TransposeGpu, IsRightForManyTiles) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const Shape& shape : {Shape{70001, 3, 5}, Shape{70000, 8, 8}, Shape{1, 65536 * 64 + 3, 1},
                             Shape{1, 1, 65536 * 128 + 3}}) {
    check<TypeParam, DeviceBuffer>(shape, {}, on_gpu);
  }
}

TEST(TransposeGpuLarge, IsRightBeyond32Bits) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  if (!large_arrays_wanted()) GTEST_SKIP() << "CUDAOPS_TEST_LARGE is not set";
  // Whole vectors, and rows that start anywhere.
  for (const Shape& shape : {Shape{1, 262152, 8192}, Shape{1, 262177, 8191}}) {
    const int64_t size = shape.rows * shape.columns, last = shape.rows - 1;
    ASSERT_GT(size, kLargeSize);
    DeviceBuffer<BFloat16> input(size), output(size);
    const std::vector<BFloat16> last_row = random_bits<BFloat16>(shape.columns);
    CUDAOPS_GPU_CALL(Memcpy, input.data() + last * shape.columns, last_row.data(),
                     last_row.size() * sizeof(BFloat16), CUDAOPS_GPU(MemcpyHostToDevice));
    launch_transpose({1, shape.rows, shape.columns, DType::kBFloat16, input.data(), 0,
                      shape.columns, output.data()},
                     nullptr);
    for (const int64_t column : {int64_t{0}, shape.columns / 2, shape.columns - 1}) {
      EXPECT_TRUE(same_bits(output.to_host(column * shape.rows + last, 1),
                            {last_row[static_cast<size_t>(column)]}));
    }
    EXPECT_TRUE(output.guards_intact());
  }
}

#endif

}  // namespace
