// SPDX-License-Identifier: Apache-2.0
// What the bindings of ops on lists of tensors share: the checks. With thousands of tensors a call
// they are made of few and cheap questions; only a refusal takes the time for a sentence.
#pragma once

#include <torch/csrc/inductor/aoti_torch/c/shim.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "torch_binding.h"

namespace cudaops_kernels {

using TensorList = std::vector<Tensor>;

inline std::string element_text(const char* list, size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

inline std::string strides_text(const Tensor& tensor) {
  std::string text = "[";
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (dim > 0) text += ", ";
    text += std::to_string(tensor.stride(dim));
  }
  return text + "]";
}

// torch's own numbers, which are quicker to get than torch::headeronly::ScalarType and a device.
struct Kind {
  int32_t dtype = 0, device_type = 0, device_index = 0;

  explicit Kind(const Tensor& tensor) {
    (void)aoti_torch_get_dtype(tensor.get(), &dtype);
    (void)aoti_torch_get_device_type(tensor.get(), &device_type);
    (void)aoti_torch_get_device_index(tensor.get(), &device_index);
  }
  bool same_device(const Kind& other) const {
    return device_type == other.device_type && device_index == other.device_index;
  }
};

inline bool same_numbers(const int64_t* a, const int64_t* b, int64_t count) {
  return std::equal(a, a + count, b);
}

inline bool same_shape(const Tensor& a, const Tensor& b) {
  const auto sizes_a = a.sizes(), sizes_b = b.sizes();
  return sizes_a.size() == sizes_b.size() &&
         same_numbers(sizes_a.data(), sizes_b.data(), static_cast<int64_t>(sizes_a.size()));
}

// Whether the elements fill a piece of memory, in any order of the dimensions.
inline bool is_dense(const Tensor& tensor) {
  if (tensor.is_contiguous()) return true;
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (tensor.size(dim) != 1) dims.emplace_back(tensor.stride(dim), tensor.size(dim));
  }
  std::sort(dims.begin(), dims.end());
  int64_t expected = 1;
  for (const auto& [stride, size] : dims) {
    if (stride != expected) return false;
    expected *= size;
  }
  return true;
}

// Whether element by element two tensors of one shape lie in the same order; both dense.
inline bool same_order(const Tensor& a, const Tensor& b) {
  if (a.is_contiguous() && b.is_contiguous()) return true;
  for (int64_t dim = 0; dim < a.dim(); ++dim) {
    if (a.size(dim) != 1 && a.stride(dim) != b.stride(dim)) return false;
  }
  return true;
}

inline void check_length(const char* op, const char* name, const TensorList& list,
                         const char* main_name, const TensorList& main) {
  if (list.size() == main.size()) return;
  refuse(op, "wanted " + std::to_string(main.size()) + " tensors in " + name + ", as in " +
                 main_name + ", found " + std::to_string(list.size()) + ".");
}

// The tensors that the others of their place are measured by: one device, one dtype, each dense.
inline void check_main_list(const char* op, const char* name, const TensorList& list) {
  const Kind first(list[0]);
  for (size_t i = 0; i < list.size(); ++i) {
    const Kind kind(list[i]);
    if (!kind.same_device(first)) {
      refuse(op, "wanted device " + device_text(list[0]) + " for " + element_text(name, i) +
                     ", as " + element_text(name, 0) + " has, found " + device_text(list[i]) + ".");
    }
    if (kind.dtype != first.dtype) {
      refuse(op, std::string("wanted dtype ") + torch::headeronly::toString(list[0].scalar_type()) +
                     " for " + element_text(name, i) + ", as " + element_text(name, 0) +
                     " has, found " + torch::headeronly::toString(list[i].scalar_type()) + ".");
    }
    if (!is_dense(list[i])) {
      refuse(op, "wanted " + element_text(name, i) + " without gaps, found shape " +
                     shape_text(list[i]) + " with strides " + strides_text(list[i]) + ".");
    }
  }
}

// A tensor that goes with main[i]: its device, shape and order. dtype: wanted, as torch counts.
inline void check_element(const char* op, const char* name, size_t i, const Tensor& tensor,
                          const char* main_name, const Tensor& main, const Kind& main_kind,
                          int32_t dtype) {
  const Kind kind(tensor);
  if (!kind.same_device(main_kind)) {
    refuse(op, "wanted device " + device_text(main) + " for " + element_text(name, i) + ", as " +
                   element_text(main_name, i) + " has, found " + device_text(tensor) + ".");
  }
  if (kind.dtype != dtype) {
    const std::string wanted =
        dtype == main_kind.dtype
            ? std::string("dtype ") + torch::headeronly::toString(main.scalar_type()) + " for " +
                  element_text(name, i) + ", as " + element_text(main_name, i) + " has"
            : "float32 (Float) for " + element_text(name, i);
    refuse(op, "wanted " + wanted + ", found " + torch::headeronly::toString(tensor.scalar_type()) +
                   ".");
  }
  if (!same_shape(tensor, main)) {
    refuse(op, "wanted shape " + shape_text(main) + " for " + element_text(name, i) + ", as " +
                   element_text(main_name, i) + " has, found " + shape_text(tensor) + ".");
  }
  if (!same_order(tensor, main)) {
    refuse(op, "wanted strides " + strides_text(main) + " for " + element_text(name, i) + ", as " +
                   element_text(main_name, i) + " has, found " + strides_text(tensor) + ".");
  }
}

// One float32 number where the others are.
inline void check_number(const char* op, const std::string& name, const Tensor& tensor,
                         const char* main_name, const Tensor& main) {
  const Kind kind(tensor);
  if (!kind.same_device(Kind(main))) {
    refuse(op, "wanted device " + device_text(main) + " for " + name + ", as " +
                   element_text(main_name, 0) + " has, found " + device_text(tensor) + ".");
  }
  if (kind.dtype != aoti_torch_dtype_float32() || tensor.numel() != 1) {
    refuse(op, "wanted one float32 (Float) number for " + name + ", found " +
                   torch::headeronly::toString(tensor.scalar_type()) + " of shape " +
                   shape_text(tensor) + ".");
  }
}

inline const float* number_pointer(const char* op, const char* name,
                                   const std::optional<Tensor>& tensor, const char* main_name,
                                   const Tensor& main) {
  if (!tensor.has_value()) return nullptr;
  check_number(op, name, *tensor, main_name, main);
  return static_cast<const float*>(tensor->const_data_ptr());
}

// The memory of many arrays, to see that no two of them overlap.
class MemoryRanges {
 public:
  explicit MemoryRanges(size_t count) { ranges_.reserve(count); }

  void add(const void* data, int64_t bytes, const char* list, size_t index) {
    if (bytes == 0) return;
    const uintptr_t begin = reinterpret_cast<uintptr_t>(data);
    ranges_.push_back({begin, begin + static_cast<uintptr_t>(bytes), list, index});
  }

  void check(const char* op) {
    const auto before = [](const Range& a, const Range& b) { return a.begin < b.begin; };
    std::sort(ranges_.begin(), ranges_.end(), before);
    for (size_t i = 1; i < ranges_.size(); ++i) {
      const Range &a = ranges_[i - 1], &b = ranges_[i];
      if (b.begin >= a.end) continue;
      refuse(op, "wanted tensors that don't share memory, found that " +
                     element_text(a.list, a.index) + " and " + element_text(b.list, b.index) +
                     " do.");
    }
  }

 private:
  struct Range {
    uintptr_t begin, end;
    const char* list;
    size_t index;
  };
  std::vector<Range> ranges_;
};

}  // namespace cudaops_kernels
