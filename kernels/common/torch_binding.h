// SPDX-License-Identifier: Apache-2.0
// What the bindings of several ops share: arguments are checked here, once, in sentences that name
// the op, what was found and what was wanted. Written against torch's stable ABI of 2.10.
#pragma once

#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>

#include "dtype.h"
#include "parallel_for.h"

namespace cudaops_kernels {

using torch::stable::Tensor;
using OptionalTensor = std::optional<Tensor>;

// Not STD_TORCH_CHECK: it puts function, file and line before the sentence.
[[noreturn]] inline void refuse(const char* op, const std::string& sentence) {
  throw std::runtime_error(std::string(op) + ": " + sentence);
}

inline std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

// A number that a kernel takes as float32.
inline float checked_number(const char* op, const char* name, double value, bool is_right,
                            const char* wanted) {
  if (!is_right) {
    refuse(op, std::string("wanted ") + wanted + " for " + name + ", found " + number_text(value) +
                   ".");
  }
  return static_cast<float>(value);
}

inline float checked_finite(const char* op, const char* name, double value) {
  return checked_number(op, name, value, std::isfinite(static_cast<float>(value)),
                        "a finite float32 number");
}

inline float checked_from_zero(const char* op, const char* name, double value) {
  return checked_number(op, name, value, value >= 0 && std::isfinite(static_cast<float>(value)),
                        "a finite float32 number from 0 on");
}

inline DType checked_dtype(const char* op, const char* name, torch::headeronly::ScalarType type) {
  using torch::headeronly::ScalarType;
  switch (type) {
    case ScalarType::Float:
      return DType::kFloat32;
    case ScalarType::Half:
      return DType::kFloat16;
    case ScalarType::BFloat16:
      return DType::kBFloat16;
    default:
      refuse(op, std::string("wanted float32 (Float), float16 (Half) or bfloat16 (BFloat16) for ") +
                     name + ", found " + torch::headeronly::toString(type) + ".");
  }
}

// None becomes a tensor that isn't one.
inline void check_is_tensor(const char* op, const char* name, const Tensor& tensor) {
  if (!tensor.defined()) {
    refuse(op, std::string("wanted a tensor for ") + name + ", found None.");
  }
}

inline DType checked_dtype(const char* op, const char* name, const Tensor& tensor) {
  check_is_tensor(op, name, tensor);
  return checked_dtype(op, name, tensor.scalar_type());
}

inline std::string shape_text(const Tensor& tensor) {
  std::string text = "[";
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (dim > 0) text += ", ";
    text += std::to_string(tensor.size(dim));
  }
  return text + "]";
}

inline std::string strides_text(const Tensor& tensor) {
  std::string text = "[";
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (dim > 0) text += ", ";
    text += std::to_string(tensor.stride(dim));
  }
  return text + "]";
}

inline std::string device_text(const Tensor& tensor) {
  if (tensor.is_cpu()) return "cpu";
  if (tensor.is_cuda()) return "cuda:" + std::to_string(tensor.get_device_index());
  return "another kind of device";
}

inline void check_device(const char* op, const char* name_a, const Tensor& a, const char* name_b,
                         const Tensor& b) {
  check_is_tensor(op, name_a, a);
  check_is_tensor(op, name_b, b);
  const std::string device_a = device_text(a), device_b = device_text(b);
  if (device_a != device_b) {
    refuse(op, std::string("wanted one device for ") + name_a + " and " + name_b + ", found " +
                   device_a + " and " + device_b + ".");
  }
}

// a and b: one shape (nothing is broadcast), one dtype, one device.
inline void check_same(const char* op, const char* name_a, const Tensor& a, const char* name_b,
                       const Tensor& b) {
  check_device(op, name_a, a, name_b, b);
  const std::string wanted = std::string(" for ") + name_a + " and " + name_b + ", found ";
  if (a.scalar_type() != b.scalar_type()) {
    refuse(op, "wanted one dtype" + wanted + torch::headeronly::toString(a.scalar_type()) +
                   " and " + torch::headeronly::toString(b.scalar_type()) + ".");
  }
  const std::string shape_a = shape_text(a), shape_b = shape_text(b);
  if (shape_a != shape_b) {
    refuse(op, "wanted one shape" + wanted + shape_a + " and " + shape_b + ".");
  }
}

// The launchers take contiguous memory. A tensor of other strides is copied, as most of torch's own
// ops do; its result is contiguous.
inline Tensor as_contiguous(const Tensor& tensor) {
  return tensor.is_contiguous() ? tensor : torch::stable::contiguous(tensor);
}

// torch's own threads.
inline void torch_threads(int64_t begin, int64_t end, int64_t grain_size, ParallelBody body,
                          void* context) {
  if (torch_parallel_for(begin, end, grain_size, body, context) != TORCH_SUCCESS) {
    throw std::runtime_error("torch's parallel_for failed.");
  }
}

}  // namespace cudaops_kernels
