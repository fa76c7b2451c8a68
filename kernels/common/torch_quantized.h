// SPDX-License-Identifier: Apache-2.0
// What the bindings of quantised ops share: types, blocks, scales.
#pragma once

#include <cmath>

#include "quantized.h"
#include "torch_rows.h"

namespace cudaops_kernels {

using torch::headeronly::ScalarType;

inline QuantizedType quantized_type(const char* op, const char* name, ScalarType type) {
  if (type == ScalarType::Char) return QuantizedType::kInt8;
  if (type == ScalarType::Float8_e4m3fn) return QuantizedType::kFloat8;
  refuse(op, std::string("wanted int8 (Char) or float8_e4m3fn (Float8_e4m3fn) for ") + name +
                 ", found " + torch::headeronly::toString(type) + ".");
}

inline std::string list_text(const std::vector<int64_t>& values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(values[i]);
  }
  return text + "]";
}

// A tensor's blocks, and the shape that a number for each of them has.
struct Blocks {
  BlockGrid grid;
  std::vector<int64_t> shape;
};

// block_size: an entry for each of the last two dimensions, or for the only one; -1 is all of it.
inline Blocks blocks_of(const char* op, const Tensor& tensor,
                        const std::vector<int64_t>& block_size) {
  const int64_t num_dims = tensor.dim();
  const int64_t num_entries = num_dims < 2 ? num_dims : 2;
  if (static_cast<int64_t>(block_size.size()) != num_entries) {
    refuse(op, "wanted " + std::to_string(num_entries) +
                   " entries for block_size, one for each of input's last dimensions, found " +
                   list_text(block_size) + ".");
  }
  for (const int64_t entry : block_size) {
    if (entry == -1 || entry > 0) continue;
    refuse(op, "wanted numbers above 0, or -1 for a whole dimension, for block_size, found " +
                   list_text(block_size) + ".");
  }
  const auto block = [&](int64_t entry, int64_t size) {
    if (entry == -1 || entry > size) return size > 0 ? size : 1;
    return entry;
  };
  Blocks blocks{{1, 1, tensor.size(num_dims - 1), 1, 1}, {}};
  blocks.grid.block_columns = block(block_size[num_entries - 1], blocks.grid.width);
  if (num_dims > 1) {
    blocks.grid.num_rows = tensor.size(num_dims - 2);
    blocks.grid.block_rows = block(block_size[0], blocks.grid.num_rows);
  }
  for (int64_t dim = 0; dim + 2 < num_dims; ++dim) {
    blocks.grid.num_matrices *= tensor.size(dim);
    blocks.shape.push_back(tensor.size(dim));
  }
  if (num_dims > 1) blocks.shape.push_back(blocks.grid.rows_of_blocks());
  blocks.shape.push_back(blocks.grid.columns_of_blocks());
  return blocks;
}

// Groups of a row; -1: whole rows.
inline Blocks groups_of(const char* op, const Tensor& tensor, int64_t group_size) {
  if (group_size != -1 && group_size <= 0) {
    refuse(op, "wanted a number above 0, or -1 for whole rows, for group_size, found " +
                   std::to_string(group_size) + ".");
  }
  return tensor.dim() < 2 ? blocks_of(op, tensor, {group_size})
                          : blocks_of(op, tensor, {1, group_size});
}

// A number a block.
struct BlockNumbers {
  Tensor tensor;
  BlockStrides strides;
};

// column_major: those of a column of blocks stand side by side.
inline BlockNumbers empty_block_numbers(const Tensor& like, const Blocks& blocks, ScalarType type,
                                        bool column_major) {
  const int64_t rows = blocks.grid.rows_of_blocks(), columns = blocks.grid.columns_of_blocks();
  std::vector<int64_t> shape = blocks.shape;
  const bool is_transposed = column_major && shape.size() > 1;
  if (is_transposed) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  const Tensor numbers = make_empty(like, {shape.data(), shape.size()}, type);
  if (!is_transposed) return {numbers, {rows * columns, columns, 1}};
  return {torch::stable::transpose(numbers, -1, -2), {rows * columns, 1, rows}};
}

// Of any strides; one number for one block in any shape. A tensor whose matrices don't lie at one
// distance is copied.
inline BlockNumbers block_numbers_of(const char* op, const char* name, const Tensor& tensor,
                                     ScalarType type, const char* input_name, const Tensor& input,
                                     const Blocks& blocks) {
  check_device(op, input_name, input, name, tensor);
  if (tensor.scalar_type() != type) {
    refuse(op, std::string("wanted ") + torch::headeronly::toString(type) + " for " + name +
                   ", found " + torch::headeronly::toString(tensor.scalar_type()) + ".");
  }
  if (tensor.numel() == 1 && blocks.grid.num_blocks() == 1) return {tensor, {0, 0, 0}};
  if (shape_text(tensor) != list_text(blocks.shape)) {
    refuse(op, "wanted shape " + list_text(blocks.shape) + " for " + name +
                   ", a number a block, found " + shape_text(tensor) + ".");
  }
  const int64_t last = tensor.dim() - 1;
  BlockNumbers numbers{tensor, {0, last > 0 ? tensor.stride(last - 1) : 0, tensor.stride(last)}};
  int64_t matrices_within = 1;
  for (int64_t dim = last - 2; dim >= 0; --dim) {
    if (tensor.size(dim) == 1) continue;
    if (matrices_within == 1) {
      numbers.strides.matrix = tensor.stride(dim);
    } else if (tensor.stride(dim) != numbers.strides.matrix * matrices_within) {
      const int64_t rows = blocks.grid.rows_of_blocks(), columns = blocks.grid.columns_of_blocks();
      return {contiguous_copy(op, name, tensor), {rows * columns, columns, 1}};
    }
    matrices_within *= tensor.size(dim);
  }
  return numbers;
}

inline void check_positive(const char* op, const char* name, float value) {
  if (value > 0 && std::isnormal(value)) return;
  refuse(op, std::string("wanted positive finite numbers, no subnormal ones, for ") + name +
                 ", found " + number_text(value) + ".");
}

// How scales are computed. What a GPU's memory holds is not looked at.
struct ScaleOptions {
  std::optional<Tensor> bound;
  bool power_of_two;
  std::optional<Tensor> given;

  ScaleRule rule() const {
    const auto data = [](const std::optional<Tensor>& tensor) {
      return tensor.has_value() ? static_cast<const float*>(tensor->const_data_ptr()) : nullptr;
    };
    return {data(bound), power_of_two, data(given)};
  }
};

// One float32 number on input's device.
inline void check_number(const char* op, const char* name, const Tensor& number,
                         const char* input_name, const Tensor& input) {
  check_device(op, input_name, input, name, number);
  if (number.scalar_type() != ScalarType::Float || number.numel() != 1) {
    refuse(op, std::string("wanted one float32 (Float) number for ") + name + ", found " +
                   torch::headeronly::toString(number.scalar_type()) + " of shape " +
                   shape_text(number) + ".");
  }
}

inline ScaleOptions scale_options(const char* op, const char* input_name, const Tensor& input,
                                  const std::optional<Tensor>& bound, bool power_of_two) {
  if (bound.has_value()) {
    check_number(op, "scale_ub", *bound, input_name, input);
    if (bound->is_cpu()) {
      check_positive(op, "scale_ub", *static_cast<const float*>(bound->const_data_ptr()));
    }
  }
  return {bound, power_of_two, std::nullopt};
}

// Where one scale for all may be given, beside which nothing else says what scales are.
inline ScaleOptions scale_options(const char* op, const char* input_name, const Tensor& input,
                                  const std::optional<Tensor>& bound, bool power_of_two,
                                  int64_t group_size, bool column_major,
                                  const std::optional<Tensor>& given) {
  ScaleOptions options = scale_options(op, input_name, input, bound, power_of_two);
  if (!given.has_value()) return options;
  const auto without_use = [op](const char* wanted, const std::string& found) {
    refuse(op, std::string("wanted ") + wanted + " with a given scale, found " + found + ".");
  };
  if (group_size != -1) without_use("group_size=-1", std::to_string(group_size));
  if (bound.has_value()) without_use("scale_ub=None", "a tensor");
  if (power_of_two) without_use("ue8m0=False", "True");
  if (column_major) without_use("scales_column_major=False", "True");
  check_number(op, "scale", *given, input_name, input);
  if (given->is_cpu()) {
    const float value = *static_cast<const float*>(given->const_data_ptr());
    if (!(value >= 0x1p-126f && value <= 0x1p126f)) {
      refuse(op,
             "wanted a number from 2^-126 to 2^126 for scale, found " + number_text(value) + ".");
    }
  }
  options.given = given;
  return options;
}

// What an op returns: one that is given is no output.
inline Tensor scale_output(const Tensor& input, const ScaleOptions& options, const Tensor& scale) {
  return options.given.has_value() ? make_empty(input, {0}, ScalarType::Float) : scale;
}

}  // namespace cudaops_kernels
