// SPDX-License-Identifier: Apache-2.0
// What the bindings of ops on lists of tensors share: the checks. With thousands of tensors a call
// they are made of few and cheap questions; only a refusal takes the time for a sentence.
#pragma once

#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/stableivalue_conversions.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "torch_binding.h"

namespace cudaops_kernels {

// A tensor of a list argument. Like torch::stable::Tensor, but without a count of its users on the
// heap: with thousands of tensors a call that shows.
class ListedTensor {
 public:
  explicit ListedTensor(AtenTensorHandle handle) : handle_(handle) {}
  ListedTensor(ListedTensor&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
  ListedTensor& operator=(ListedTensor&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~ListedTensor() {
    // Deleting an object can't fail, and a destructor could not say so.
    if (handle_ != nullptr) (void)aoti_torch_delete_tensor_object(handle_);
  }

  // For all that isn't asked of every tensor.
  Tensor tensor() const {
    AtenTensorHandle result = nullptr;
    TORCH_ERROR_CODE_CHECK(aoti_torch_new_tensor_handle(handle_, &result));
    return Tensor(result);
  }

  void* data() const {
    void* result = nullptr;
    TORCH_ERROR_CODE_CHECK(torch_get_mutable_data_ptr(handle_, &result));
    return result;
  }
  int64_t numel() const {
    int64_t result = 0;
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_numel(handle_, &result));
    return result;
  }
  int64_t dim() const {
    int64_t result = 0;
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_dim(handle_, &result));
    return result;
  }
  const int64_t* sizes() const {
    int64_t* result = nullptr;
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_sizes(handle_, &result));
    return result;
  }
  const int64_t* strides() const {
    int64_t* result = nullptr;
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_strides(handle_, &result));
    return result;
  }
  bool is_contiguous() const {
    bool result = false;
    TORCH_ERROR_CODE_CHECK(aoti_torch_is_contiguous(handle_, &result));
    return result;
  }
  AtenTensorHandle get() const { return handle_; }

 private:
  AtenTensorHandle handle_;
};

}  // namespace cudaops_kernels

// How TORCH_BOX gets one out of an argument.
HIDDEN_NAMESPACE_BEGIN(torch, stable, detail)

template <>
struct ToImpl<cudaops_kernels::ListedTensor> {
  static cudaops_kernels::ListedTensor call(StableIValue value, uint64_t, bool) {
    return cudaops_kernels::ListedTensor(torch::stable::detail::to<AtenTensorHandle>(value));
  }
};

HIDDEN_NAMESPACE_END(torch, stable, detail)

namespace cudaops_kernels {

using TensorList = std::vector<ListedTensor>;

inline std::string element_text(const char* list, size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

// torch's own numbers, which are quicker to get than torch::headeronly::ScalarType and a device.
struct Kind {
  int32_t dtype = 0, device_type = 0, device_index = 0, layout = 0;

  template <typename AnyTensor>
  explicit Kind(const AnyTensor& tensor) {
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(tensor.get(), &dtype));
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(tensor.get(), &device_type));
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_index(tensor.get(), &device_index));
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_layout(tensor.get(), &layout));
  }
  // Of another layout there are no strides and no pointer to elements.
  bool is_strided() const { return layout == aoti_torch_layout_strided(); }
  bool same_device(const Kind& other) const {
    return device_type == other.device_type && device_index == other.device_index;
  }
};

inline bool same_shape(const ListedTensor& a, const ListedTensor& b) {
  const int64_t dim = a.dim();
  return b.dim() == dim && std::equal(a.sizes(), a.sizes() + dim, b.sizes());
}

// Whether the elements fill a piece of memory, in any order of the dimensions.
inline bool is_dense(const ListedTensor& tensor) {
  if (tensor.is_contiguous()) return true;
  const int64_t *const sizes = tensor.sizes(), *const strides = tensor.strides();
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (sizes[dim] != 1) dims.emplace_back(strides[dim], sizes[dim]);
  }
  std::sort(dims.begin(), dims.end());
  int64_t expected = 1;
  for (const auto& [stride, size] : dims) {
    if (stride != expected) return false;
    expected *= size;
  }
  return true;
}

// Whether element by element two tensors of one shape lie in the same order; one is dense.
inline bool same_order(const ListedTensor& a, const ListedTensor& b) {
  if (a.is_contiguous() && b.is_contiguous()) return true;
  const int64_t* const sizes = a.sizes();
  for (int64_t dim = 0; dim < a.dim(); ++dim) {
    if (sizes[dim] != 1 && a.strides()[dim] != b.strides()[dim]) return false;
  }
  return true;
}

inline void check_length(const char* op, const char* name, const TensorList& list,
                         const char* main_name, const TensorList& main) {
  if (list.size() == main.size()) return;
  refuse(op, "wanted " + std::to_string(main.size()) + " tensors in " + name + ", as in " +
                 main_name + ", found " + std::to_string(list.size()) + ".");
}

inline std::string dtype_text(const Tensor& tensor) {
  return torch::headeronly::toString(tensor.scalar_type());
}

[[noreturn]] inline void refuse_layout(const char* op, const std::string& name) {
  refuse(op, "wanted a dense tensor for " + name + ", found a sparse one.");
}

// The tensors that the others of their place are measured by: one device, one dtype, each dense.
inline void check_main_list(const char* op, const char* name, const TensorList& list) {
  const Kind first(list[0]);
  for (size_t i = 0; i < list.size(); ++i) {
    const Kind kind(list[i]);
    if (!kind.is_strided()) refuse_layout(op, element_text(name, i));
    if (kind.same_device(first) && kind.dtype == first.dtype && is_dense(list[i])) continue;
    const Tensor main = list[0].tensor(), tensor = list[i].tensor();
    const std::string place =
        " for " + element_text(name, i) + ", as " + element_text(name, 0) + " has, found ";
    if (!kind.same_device(first)) {
      refuse(op, "wanted device " + device_text(main) + place + device_text(tensor) + ".");
    }
    if (kind.dtype != first.dtype) {
      refuse(op, "wanted dtype " + dtype_text(main) + place + dtype_text(tensor) + ".");
    }
    refuse(op, "wanted " + element_text(name, i) + " without gaps, found shape " +
                   shape_text(tensor) + " with strides " + strides_text(tensor) + ".");
  }
}

// A tensor that goes with main[i]: its device, shape and order. dtype: wanted, as torch counts.
inline void check_element(const char* op, const char* name, size_t i, const ListedTensor& listed,
                          const char* main_name, const ListedTensor& listed_main,
                          const Kind& main_kind, int32_t dtype) {
  const Kind kind(listed);
  if (!kind.is_strided()) refuse_layout(op, element_text(name, i));
  if (kind.same_device(main_kind) && kind.dtype == dtype && same_shape(listed, listed_main) &&
      same_order(listed, listed_main)) {
    return;
  }
  const Tensor tensor = listed.tensor(), main = listed_main.tensor();
  const std::string subject = " for " + element_text(name, i);
  const std::string place = subject + ", as " + element_text(main_name, i) + " has, found ";
  if (!kind.same_device(main_kind)) {
    refuse(op, "wanted device " + device_text(main) + place + device_text(tensor) + ".");
  }
  if (kind.dtype != dtype && dtype == main_kind.dtype) {
    refuse(op, "wanted dtype " + dtype_text(main) + place + dtype_text(tensor) + ".");
  }
  if (kind.dtype != dtype) {
    refuse(op, "wanted float32 (Float)" + subject + ", found " + dtype_text(tensor) + ".");
  }
  if (!same_shape(listed, listed_main)) {
    refuse(op, "wanted shape " + shape_text(main) + place + shape_text(tensor) + ".");
  }
  refuse(op, "wanted strides " + strides_text(main) + place + strides_text(tensor) + ".");
}

// One float32 number where the others are.
inline void check_number(const char* op, const std::string& name, const Tensor& tensor,
                         const char* main_name, const Tensor& main) {
  const Kind kind(tensor);
  if (!kind.is_strided()) refuse_layout(op, name);
  if (!kind.same_device(Kind(main))) {
    refuse(op, "wanted device " + device_text(main) + " for " + name + ", as " +
                   element_text(main_name, 0) + " has, found " + device_text(tensor) + ".");
  }
  if (kind.dtype != aoti_torch_dtype_float32() || tensor.numel() != 1) {
    refuse(op, "wanted one float32 (Float) number for " + name + ", found " + dtype_text(tensor) +
                   " of shape " + shape_text(tensor) + ".");
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
    sort();
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
    uintptr_t begin = 0, end = 0;
    const char* list = nullptr;
    size_t index = 0;
  };

  // By begin, digit by digit: a few times as fast for thousands as a sort that compares.
  void sort() {
    constexpr int kDigitBits = 11;
    uintptr_t differing = 0;
    for (const Range& range : ranges_) differing |= range.begin ^ ranges_[0].begin;
    std::vector<Range> sorted(ranges_.size());
    for (int shift = 0; shift < 64 && differing >> shift != 0; shift += kDigitBits) {
      const auto digit = [&](const Range& range) {
        return (range.begin >> shift) & ((uintptr_t{1} << kDigitBits) - 1);
      };
      std::vector<uint32_t> places((size_t{1} << kDigitBits) + 1);
      for (const Range& range : ranges_) ++places[digit(range) + 1];
      for (size_t i = 1; i < places.size(); ++i) places[i] += places[i - 1];
      for (const Range& range : ranges_) sorted[places[digit(range)]++] = range;
      ranges_.swap(sorted);
    }
  }

  std::vector<Range> ranges_;
};

}  // namespace cudaops_kernels
