// SPDX-License-Identifier: Apache-2.0
// Exceptions and checks: thrown here, so that they are torch's and pybind11's own.
#pragma once

#include <ATen/TensorUtils.h>
#include <c10/util/Exception.h>
#include <torch/csrc/utils/pybind.h>

#include <string>
#include <vector>

#include "values.h"

namespace {

namespace py = pybind11;

[[noreturn]] void fail(Error kind, const char* function, const char* file, uint32_t line,
                       const char* condition, const char* text, size_t length) {
  const std::string message(text, length);
  const c10::SourceLocation where = {function, file, line};
  switch (kind) {
    case e_index:
      throw c10::IndexError(where, message);
    case e_value:
      throw c10::ValueError(where, message);
    case e_type:
      throw c10::TypeError(where, message);
    case e_not_implemented:
      throw c10::NotImplementedError(where, message);
    case e_assert:
      c10::detail::torchInternalAssertFail(function, file, line, condition, message);
    default:
      c10::detail::torchCheckFail(function, file, line, message);
  }
}

[[noreturn]] void fail_py(PyError kind, const char* text) {
  switch (kind) {
    case p_value:
      throw py::value_error(text);
    case p_index:
      throw py::index_error(text);
    case p_key:
      throw py::key_error(text);
    case p_type:
      throw py::type_error(text);
    case p_stop_iteration:
      throw py::stop_iteration(text);
    case p_attribute:
      throw py::attribute_error(text);
    case p_buffer:
      throw py::buffer_error(text);
    case p_import:
      throw py::import_error(text);
    default:
      throw py::cast_error(text);
  }
}

void check_tensors(Check what, const char* from, const CheckedTensor* tensors, int64_t count,
                   const int64_t* numbers, int64_t number_count) {
  std::vector<at::TensorArg> all;
  all.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    all.emplace_back(tensor(&tensors[i].tensor), tensors[i].name, tensors[i].position);
  const auto dtype = [&](int64_t i) { return static_cast<at::ScalarType>(numbers[i]); };
  switch (what) {
    case c_dim:
      return at::checkDim(from, all[0], numbers[0]);
    case c_dim_of_tensor:
      return at::checkDim(from, all[0].tensor, all[0].name, all[0].pos, numbers[0]);
    case c_dim_range:
      return at::checkDimRange(from, all[0], numbers[0], numbers[1]);
    case c_same_dim:
      return at::checkSameDim(from, all[0], all[1]);
    case c_contiguous:
      return at::checkContiguous(from, all[0]);
    case c_all_contiguous:
      return at::checkAllContiguous(from, all);
    case c_size:
      return at::checkSize(from, all[0],
                           at::IntArrayRef(numbers, static_cast<size_t>(number_count)));
    case c_size_of_dim:
      return at::checkSize(from, all[0], numbers[0], numbers[1]);
    case c_numel:
      return at::checkNumel(from, all[0], numbers[0]);
    case c_same_numel:
      return at::checkSameNumel(from, all[0], all[1]);
    case c_all_same_numel:
      return at::checkAllSameNumel(from, all);
    case c_scalar_type:
      return at::checkScalarType(from, all[0], dtype(0));
    case c_scalar_types: {
      std::vector<at::ScalarType> dtypes;
      for (int64_t i = 0; i < number_count; ++i) dtypes.push_back(dtype(i));
      return at::checkScalarTypes(from, all[0], dtypes);
    }
    case c_same_gpu:
      return at::checkSameGPU(from, all[0], all[1]);
    case c_all_same_gpu:
      return at::checkAllSameGPU(from, all);
    case c_same_type:
      return at::checkSameType(from, all[0], all[1]);
    case c_all_same_type:
      return at::checkAllSameType(from, all);
    case c_same_size:
      return at::checkSameSize(from, all[0], all[1]);
    case c_all_same_size:
      return at::checkAllSameSize(from, all);
    case c_defined:
      return at::checkDefined(from, all[0]);
    case c_all_defined:
      return at::checkAllDefined(from, all);
  }
}

}  // namespace
