// SPDX-License-Identifier: Apache-2.0
// What the tests of ops share that quantise what another op makes: rows, and shapes to try.
#pragma once

#include "quantize/quantize.h"
#include "quantized_test.h"

namespace op_test {

// Rows with stride width + gap; offsets in elements from a multiple of 256 bytes.
struct RowLayout {
  int64_t gap, offset, offset_out;
};

inline std::ostream& operator<<(std::ostream& out, const RowLayout& layout) {
  return out << "gap " << layout.gap << ", offsets " << layout.offset << ", " << layout.offset_out;
}

struct QuantizedResult {
  std::vector<uint8_t> output;
  std::vector<float> scale;
};

#if defined(CUDAOPS_KERNELS_WITH_CUDA)

// The second of the two steps: `rows` quantised as `call` would quantise what it makes.
template <typename T, typename Call>
void quantize_rows(const Call& call, const DeviceBuffer<T>& rows) {
  cudaops_kernels::Quantize quantize{};
  quantize.grid = call.grid;
  quantize.dtype = kDType<T>;
  quantize.type = call.type;
  quantize.input = {rows.data(), call.grid.width};
  quantize.output = call.output;
  quantize.scale = call.scale;
  quantize.strides = call.strides;
  launch_quantize(quantize, nullptr);
  EXPECT_TRUE(rows.guards_intact());  // waits
}

// check(rows, width, group, layout)
template <typename Check>
void for_quantized_widths(const char* op, const Check& check) {
  for (const auto [rows, width] : row_shapes(op)) {
    for (const int64_t group : {width, int64_t{16}, int64_t{64}, int64_t{128}, int64_t{24}}) {
      check(rows, width, group, RowLayout{0, 0, 0});
    }
  }
  for (const int64_t width : {16384, 40000, 65536, 100001, 262144}) {
    check(2, width, width, RowLayout{0, 0, 0});
    check(2, width, 128, RowLayout{0, 0, 0});
  }
  // Groups that start and end anywhere; up to what a block keeps of such rows, and beyond.
  for (const int64_t width : {129, 136, 257, 2049, 4097, 16381, 16382, 32761, 32762}) {
    check(7, width, 128, RowLayout{0, 0, 0});
    check(3, width, 32, RowLayout{1, 1, 3});
  }
  check(517, 257, 128, RowLayout{0, 0, 0});
  check(1031, 96, 32, RowLayout{0, 0, 0});
  check(1031, 100, 100, RowLayout{0, 0, 0});
}

template <typename Check>
void for_quantized_alignments(const Check& check) {
  for (const int64_t width : {5, 128, 1000, 1024, 4099}) {
    for (const int64_t group : {width, int64_t{128}}) {
      for (const int64_t offset : {0, 1, 2, 4, 7, 8}) {
        check(5, width, group, RowLayout{0, offset, offset});
        check(5, width, group, RowLayout{3, offset, 0});
        check(5, width, group, RowLayout{8, 0, offset});
      }
    }
  }
}

#endif

}  // namespace op_test
