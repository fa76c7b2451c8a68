// SPDX-License-Identifier: Apache-2.0
// The scales of blocks on devices: from a largest magnitude, and where they are stored.
#pragma once

#include "../long_divider.cuh"
#include "../quantized.cuh"

namespace cudaops_kernels {

// The lanes of the caller's own group.
__device__ __forceinline__ cudaops::LaneMask lanes_of_group(int num_lanes) {
  const int first = cudaops::lane_id() / num_lanes * num_lanes;
  return ((cudaops::LaneMask{1} << (num_lanes - 1) << 1) - 1) << first;
}

__device__ __forceinline__ float scale_for(float largest, QuantizedType type,
                                           const ScaleRule& rule) {
  return symmetric_scale(__float_as_uint(largest), type, rule);
}

// 1 / a scale that scale_for() gave: with neither it nor its reciprocal subnormal, what nvcc makes
// of a division needs no look at the operand.
__device__ __forceinline__ float reciprocal_of_scale(float scale) {
#if CUDAOPS_HIP || !CUDAOPS_DEVICE_CODE
  return 1.0f / scale;
#else
  float reciprocal;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(scale));
  return fmaf(fmaf(-scale, reciprocal, 1.0f), reciprocal, reciprocal);
#endif
}

// The index of an element's scale: row_at(row) + column_at(column).
struct ScalePlaces {
  BlockStrides strides;
  detail::LongDivider num_rows, block_rows, block_columns;
  bool rows_are_apart;  // by strides.row, all of them, each with scales of its own

  ScalePlaces(const BlockGrid& grid, const BlockStrides& scale_strides)
      : strides(scale_strides),
        num_rows(grid.num_rows),
        block_rows(grid.block_rows),
        block_columns(grid.block_columns) {
    if (grid.num_rows == 1) strides.row = strides.matrix;
    rows_are_apart = (grid.block_rows == 1 || grid.num_rows == 1) &&
                     (grid.num_matrices == 1 || strides.matrix == grid.num_rows * strides.row);
  }

  __device__ __forceinline__ int64_t row_at(int64_t row) const {
    if (rows_are_apart) return strides.row * row;
    const int64_t matrix = num_rows.quotient(row);
    const int64_t block_row = block_rows.quotient(row - matrix * num_rows.divisor());
    return strides.at(matrix, block_row, 0);
  }
  __device__ __forceinline__ int64_t column_at(int64_t column) const {
    return strides.column * block_columns.quotient(column);
  }
};

// The scale of one block, as a factor, and its zero point.
struct BlockScale {
  float factor;
  int32_t zero_point;

  template <typename Factor>
  __device__ __forceinline__ static BlockScale load(const float* scales, const int32_t* zero_points,
                                                    int64_t at, const Factor& factor_of) {
    return {factor_of(scales[at]), zero_points == nullptr ? 0 : zero_points[at]};
  }
};

// Elements begin … end - 1 of a vector from `column` on.
struct VectorPlace {
  int64_t column;
  int begin, end;
};

// Those of a vector's elements, which may be in several blocks of the row of blocks at row_at.
template <int kSize>
struct VectorScales {
  Floats<kSize> factor;
  int32_t zero_point[kSize];

  template <typename Factor>
  __device__ __forceinline__ VectorScales(const float* scales, const int32_t* zero_points,
                                          const ScalePlaces& places, int64_t row_at,
                                          const VectorPlace& place, const Factor& factor_of) {
    const int64_t column = place.column;
    const int begin = place.begin, end = place.end;
    const int64_t block_columns = places.block_columns.divisor();
    const int64_t first_block = places.block_columns.quotient(column + begin);
    const int64_t first_at = row_at + places.strides.column * first_block;
    const BlockScale first = BlockScale::load(scales, zero_points, first_at, factor_of);
    if (block_columns >= kSize) {
      // Two at most.
      const int64_t left = (first_block + 1) * block_columns - column;
      const int boundary = left < end ? static_cast<int>(left) : end;
      BlockScale second = first;
      if (boundary < end) {
        second = BlockScale::load(scales, zero_points, first_at + places.strides.column, factor_of);
      }
#pragma unroll
      for (int k = 0; k < kSize; ++k) {
        factor[k] = k < boundary ? first.factor : second.factor;
        zero_point[k] = k < boundary ? first.zero_point : second.zero_point;
      }
    } else {
#pragma unroll
      for (int k = 0; k < kSize; ++k) {
        const int64_t at = row_at + places.column_at(column + (k >= begin && k < end ? k : begin));
        const BlockScale own = BlockScale::load(scales, zero_points, at, factor_of);
        factor[k] = own.factor;
        zero_point[k] = own.zero_point;
      }
    }
  }
};

// Whether every vector is in one block of columns.
template <typename T>
bool vectors_are_in_blocks(const BlockGrid& grid, bool rows_start_with_vectors) {
  return grid.block_columns >= grid.width ||
         (rows_start_with_vectors && grid.block_columns % Vector<T>::kSize == 0);
}

// Of blocks of single rows.
inline bool is_scale_a_row(const BlockGrid& grid) { return grid.block_columns >= grid.width; }

// Vectors a group of `columns` elements, if that is a power of two from 2 to 32; else 0.
inline int lanes_of(DType dtype, int64_t columns) {
  const int64_t size = 16 / size_of(dtype), lanes = columns / size;
  const bool fits = columns % size == 0 && lanes >= 2 && lanes <= 32 && (lanes & (lanes - 1)) == 0;
  return fits ? static_cast<int>(lanes) : 0;
}

namespace detail {

// Of a power of two.
inline int log2_of(int n) {
  int log2 = 0;
  while ((1 << log2) < n) ++log2;
  return log2;
}

}  // namespace detail

// What is written in one pass.
struct QuantizedRows {
  QuantizedType type;
  Rows output;
  float* scale;
  ScalePlaces places;
  ScaleRule rule;
};

}  // namespace cudaops_kernels
