// SPDX-License-Identifier: Apache-2.0
// What the bindings of several ops share: arguments are checked here, once, in sentences that name
// the op, what was found and what was wanted. Written against torch's stable ABI of 2.10.
#pragma once

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>

#include "dtype.h"
#include "parallel_for.h"

namespace cudaops_kernels {

using torch::stable::Tensor;
using OptionalTensor = std::optional<Tensor>;

// An op with a kernel for autograd has a twin without one, "_" before its name: what that kernel
// calls, and what stands in compiled graphs. There is no other way below autograd that costs as
// little.
template <typename Library>
void define(Library& library, const std::string& schema) {
  library.def(schema.c_str());
  library.def(("_" + schema).c_str());
}

template <typename Library, typename Kernel>
void implement(Library& library, const std::string& name, Kernel kernel) {
  library.impl(name.c_str(), kernel);
  library.impl(("_" + name).c_str(), kernel);
}

// What an op refuses, for its fake kernel: "_check_" before its name, with a kernel for tensors
// without data alone, which is the op's own function (OnMeta). So torch.compile and meta tensors
// have the op's own sentences.
template <typename Library>
void define_check(Library& library, const std::string& schema) {
  library.def(("_check_" + schema).c_str());
}

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

inline bool on_one_device(const Tensor& a, const Tensor& b) {
  int32_t type_a = 0, type_b = 0, index_a = 0, index_b = 0;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(a.get(), &type_a));
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(b.get(), &type_b));
  if (type_a != type_b) return false;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_index(a.get(), &index_a));
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_index(b.get(), &index_b));
  return index_a == index_b;
}

inline bool of_one_shape(const Tensor& a, const Tensor& b) {
  const auto sizes_a = a.sizes(), sizes_b = b.sizes();
  return sizes_a.size() == sizes_b.size() &&
         std::equal(sizes_a.begin(), sizes_a.end(), sizes_b.begin());
}

inline void check_device(const char* op, const char* name_a, const Tensor& a, const char* name_b,
                         const Tensor& b) {
  check_is_tensor(op, name_a, a);
  check_is_tensor(op, name_b, b);
  if (!on_one_device(a, b)) {
    refuse(op, std::string("wanted one device for ") + name_a + " and " + name_b + ", found " +
                   device_text(a) + " and " + device_text(b) + ".");
  }
}

// Whether this variable of the environment is set, to something else than 0.
inline bool environment_has(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0' && std::string(value) != "0";
}

// A tensor's numbers, where an op can look at them before it runs: those of the CPU, and with
// CUDAOPS_CHECK=1 in the environment those of a device too, copied to the CPU, which waits for all
// work before. Else none, and kernels do what their headers say about numbers out of range.
inline OptionalTensor visible_numbers(const char* op, const char* name, const Tensor& tensor) {
  if (tensor.is_cpu()) return tensor;
  if (!tensor.is_cuda()) return std::nullopt;  // there are none
  if (!environment_has("CUDAOPS_CHECK")) return std::nullopt;
  try {
    return torch::stable::to(tensor, torch::stable::Device(torch::headeronly::DeviceType::CPU));
  } catch (const std::exception&) {
    refuse(op,
           std::string("wanted to look at ") + name +
               ", as CUDAOPS_CHECK is set, found that it can't be copied to the CPU now (a CUDA "
               "graph is captured, or work before has failed).");
  }
}

// a and b: one shape (nothing is broadcast), one dtype, one device.
inline void check_same(const char* op, const char* name_a, const Tensor& a, const char* name_b,
                       const Tensor& b) {
  check_device(op, name_a, a, name_b, b);
  const auto wanted = [&] { return std::string(" for ") + name_a + " and " + name_b + ", found "; };
  if (a.scalar_type() != b.scalar_type()) {
    refuse(op, "wanted one dtype" + wanted() + torch::headeronly::toString(a.scalar_type()) +
                   " and " + torch::headeronly::toString(b.scalar_type()) + ".");
  }
  if (!of_one_shape(a, b)) {
    refuse(op, "wanted one shape" + wanted() + shape_text(a) + " and " + shape_text(b) + ".");
  }
}

// A tensor's strides are none that an op reads: it is copied, as by most of torch's own ops. With
// CUDAOPS_VERBOSE=1 in the environment that is said.
inline void say_copy(const char* op, const char* name, const Tensor& tensor) {
  const bool has_data = tensor.is_cpu() || tensor.is_cuda();
  if (!has_data || !environment_has("CUDAOPS_VERBOSE")) return;
  std::fprintf(stderr, "%s: copies %s first, of shape %s with strides %s.\n", op, name,
               shape_text(tensor).c_str(), strides_text(tensor).c_str());
}
inline Tensor contiguous_copy(const char* op, const char* name, const Tensor& tensor) {
  say_copy(op, name, tensor);
  return torch::stable::contiguous(tensor);
}
// For launchers that take contiguous memory.
inline Tensor as_contiguous(const char* op, const char* name, const Tensor& tensor) {
  return tensor.is_contiguous() ? tensor : contiguous_copy(op, name, tensor);
}

// A tensor where `like` lies, of its dtype if none is given. torch::stable::new_empty goes through
// the dispatcher, which takes longer than the rest of a small call.
inline Tensor make_empty_strided(const Tensor& like, size_t num_dims, const int64_t* sizes,
                                 const int64_t* strides,
                                 std::optional<torch::headeronly::ScalarType> dtype) {
  int32_t type = 0, device_type = 0, device_index = 0;
  if (dtype.has_value()) {
    type = torch::stable::detail::to<int32_t>(torch::stable::detail::from(*dtype));
  } else {
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(like.get(), &type));
  }
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(like.get(), &device_type));
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_index(like.get(), &device_index));
  AtenTensorHandle result = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(static_cast<int64_t>(num_dims), sizes, strides,
                                                  type, device_type, device_index, &result));
  return Tensor(result);
}

// A contiguous one.
inline Tensor make_empty(const Tensor& like, torch::headeronly::IntHeaderOnlyArrayRef sizes,
                         std::optional<torch::headeronly::ScalarType> dtype = std::nullopt) {
  constexpr size_t kMostDims = 64;
  const size_t num_dims = sizes.size();
  if (num_dims > kMostDims) return torch::stable::new_empty(like, sizes, dtype);
  std::array<int64_t, kMostDims> strides;
  int64_t stride = 1;
  for (size_t dim = num_dims; dim-- > 0;) {
    strides[dim] = stride;
    stride *= std::max<int64_t>(sizes[dim], 1);
  }
  return make_empty_strided(like, num_dims, sizes.data(), strides.data(), dtype);
}

// torch's own threads.
inline void torch_threads(int64_t begin, int64_t end, int64_t grain_size, ParallelBody body,
                          void* context) {
  if (torch_parallel_for(begin, end, grain_size, body, context) != TORCH_SUCCESS) {
    throw std::runtime_error("torch's parallel_for failed.");
  }
}

}  // namespace cudaops_kernels
