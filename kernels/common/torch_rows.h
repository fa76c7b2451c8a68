// SPDX-License-Identifier: Apache-2.0
// What the bindings of row ops share: tensors as rows of their last dimension.
#pragma once

#include <optional>
#include <vector>

#include "rows.h"
#include "torch_binding.h"

namespace cudaops_kernels {

// A tensor as rows. Where its strides don't give rows at one distance, `tensor` is a contiguous
// copy.
struct TensorRows {
  Tensor tensor;
  int64_t num_rows;
  int64_t width;
  int64_t stride;

  ConstRows read() const { return {tensor.const_data_ptr(), stride}; }
  Rows write() const { return {tensor.mutable_data_ptr(), stride}; }
};

// The distance between rows; -1 where there is no single one or a row's elements lie apart.
inline int64_t row_stride(const Tensor& tensor) {
  const int64_t last = tensor.dim() - 1;
  if (tensor.size(last) > 1 && tensor.stride(last) != 1) return -1;
  int64_t stride = tensor.size(last), rows_within = 1;
  bool found = false;
  for (int64_t dim = last - 1; dim >= 0; --dim) {
    if (tensor.size(dim) == 1) continue;
    if (!found) {
      stride = tensor.stride(dim);
      found = true;
    } else if (tensor.stride(dim) != stride * rows_within) {
      return -1;
    }
    rows_within *= tensor.size(dim);
  }
  return stride;
}

inline TensorRows rows_of(const char* op, const char* name, const Tensor& tensor) {
  if (tensor.dim() == 0) {
    refuse(op, std::string("wanted at least one dimension for ") + name + ", found none.");
  }
  const int64_t width = tensor.size(tensor.dim() - 1);
  int64_t num_rows = 1;
  for (int64_t dim = 0; dim + 1 < tensor.dim(); ++dim) num_rows *= tensor.size(dim);
  const int64_t stride = num_rows == 0 ? width : row_stride(tensor);
  if (stride >= 0) return {tensor, num_rows, width, stride};
  return {contiguous_copy(op, name, tensor), num_rows, width, width};
}

// What an op has changed in place, where rows_of() had to copy it.
inline void write_back(Tensor& tensor, const Tensor& changed) {
  if (tensor.get() != changed.get()) torch::stable::copy_(tensor, changed);
}

inline Tensor empty_of_shape(const Tensor& like) { return make_empty(like, like.sizes()); }

// For a gradient that there may be no need of; without one a tensor of no elements, as torch's
// schemas have no optional results.
inline Tensor empty_like_or_none(const std::optional<Tensor>& tensor, const Tensor& like) {
  return tensor.has_value() ? empty_of_shape(*tensor) : make_empty(like, {0});
}

// Statistics of rows: float32, the last dimension 1.
inline Tensor empty_per_row(const Tensor& like) {
  std::vector<int64_t> shape;
  for (int64_t dim = 0; dim + 1 < like.dim(); ++dim) shape.push_back(like.size(dim));
  shape.push_back(1);
  return make_empty(like, {shape.data(), shape.size()}, torch::headeronly::ScalarType::Float);
}

// A float32 number a row, in any shape of so many elements.
inline Tensor per_row(const char* op, const char* name, const Tensor& tensor, const char* rows_name,
                      const Tensor& rows, int64_t num_rows) {
  check_device(op, rows_name, rows, name, tensor);
  if (tensor.scalar_type() != torch::headeronly::ScalarType::Float) {
    refuse(op, std::string("wanted float32 (Float) for ") + name + ", found " +
                   torch::headeronly::toString(tensor.scalar_type()) + ".");
  }
  if (tensor.numel() != num_rows) {
    refuse(op, std::string("wanted one element for each of the ") + std::to_string(num_rows) +
                   " rows of " + rows_name + " for " + name + ", found shape " +
                   shape_text(tensor) + ".");
  }
  return as_contiguous(op, name, tensor);
}

// One element a column: of the rows' type or float32, contiguous.
struct Columns {
  std::optional<Tensor> tensor;
  DType dtype;

  const void* data() const { return tensor.has_value() ? tensor->const_data_ptr() : nullptr; }
};

inline Columns columns_of(const char* op, const char* name, const std::optional<Tensor>& tensor,
                          const char* rows_name, const Tensor& rows, int64_t width) {
  const DType rows_dtype = checked_dtype(op, rows_name, rows);
  if (!tensor.has_value()) return {std::nullopt, rows_dtype};
  check_device(op, rows_name, rows, name, *tensor);
  if (tensor->scalar_type() != rows.scalar_type() &&
      tensor->scalar_type() != torch::headeronly::ScalarType::Float) {
    refuse(op, std::string("wanted ") + rows_name + "'s dtype or float32 (Float) for " + name +
                   ", found " + torch::headeronly::toString(tensor->scalar_type()) + ".");
  }
  if (tensor->dim() != 1 || tensor->size(0) != width) {
    refuse(op, std::string("wanted shape [") + std::to_string(width) + "] for " + name +
                   ", found " + shape_text(*tensor) + ".");
  }
  return {as_contiguous(op, name, *tensor), checked_dtype(op, name, *tensor)};
}

}  // namespace cudaops_kernels
