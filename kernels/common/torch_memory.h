// SPDX-License-Identifier: Apache-2.0
// What the bindings of ops that work in place ask of memory: each element that is written has its
// own. torch's own ops see less (a stride of 0, two dense tensors).
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "torch_binding.h"

namespace cudaops_kernels {

namespace detail {

// A tensor's memory in bytes: runs without gaps, one for each index of the other dimensions, the
// shortest stride first. What is read may be expanded: a stride of 0 reaches nothing new.
struct Runs {
  struct Dim {
    int64_t stride, size;
  };
  const char* data;
  int64_t length;  // of a run
  std::vector<Dim> dims;

  explicit Runs(const Tensor& tensor)
      : data(static_cast<const char*>(tensor.const_data_ptr())),
        length(static_cast<int64_t>(tensor.element_size())) {
    const int64_t size_of_element = length;
    for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
      if (tensor.size(dim) == 1 || tensor.stride(dim) == 0) continue;
      dims.push_back({tensor.stride(dim) * size_of_element, tensor.size(dim)});
    }
    std::sort(dims.begin(), dims.end(),
              [](const Dim& a, const Dim& b) { return a.stride < b.stride; });
    size_t merged = 0;
    while (merged < dims.size() && dims[merged].stride == length) length *= dims[merged++].size;
    dims.erase(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(merged));
  }

  const char* end() const {
    const char* result = data + length;
    for (const Dim& dim : dims) result += dim.stride * (dim.size - 1);
    return result;
  }

  // All of them, behind those that `list` has.
  void list(std::vector<std::pair<const char*, int64_t>>* runs) const {
    const size_t first = runs->size();
    runs->emplace_back(data, length);
    for (const Dim& dim : dims) {
      const size_t count = runs->size();
      for (int64_t index = 1; index < dim.size; ++index) {
        for (size_t i = first; i < count; ++i) {
          runs->emplace_back((*runs)[i].first + index * dim.stride, length);
        }
      }
    }
  }
};

// By stride in bytes, the largest first: how far two tensors' indices reach there.
struct Reach {
  int64_t a = 0;
  int64_t b = 0;
};
using Reaches = std::map<int64_t, Reach, std::greater<>>;

// False where two dimensions have one stride: they overlap from the second element on.
inline bool add_reaches(const Runs& runs, int64_t Reach::*which, Reaches* reaches) {
  const auto add = [&](int64_t stride, int64_t size) {
    int64_t& reach = (*reaches)[stride].*which;
    if (reach != 0) return false;
    reach = size - 1;
    return true;
  };
  for (const Runs::Dim& dim : runs.dims) {
    if (!add(dim.stride, dim.size)) return false;
  }
  return add(1, runs.length);
}

// Whether every stride is longer than all that lies within: a byte has one index.
inline bool have_one_index(const Reaches& reaches) {
  int64_t within = 0;
  for (auto it = reaches.rbegin(); it != reaches.rend(); ++it) {
    if (it->first <= within) return false;
    within += it->first * std::max(it->second.a, it->second.b);
  }
  return true;
}

// Whether a byte of a is `distance` bytes behind one of b.
inline bool meet(int64_t distance, Reaches::const_iterator it, Reaches::const_iterator end) {
  if (it == end) return distance == 0;
  const int64_t stride = it->first;
  int64_t index = distance / stride;
  if (distance % stride < 0) --index;
  const auto next = std::next(it);
  if (next == end) return index >= -it->second.b && index <= it->second.a;
  // What is left lies within a stride on either side.
  for (const int64_t candidate : {index, index + 1}) {
    if (candidate < -it->second.b || candidate > it->second.a) continue;
    if (meet(distance - candidate * stride, next, end)) return true;
  }
  return false;
}

// For strides that don't say it: run by run.
inline bool meet_somewhere(const Runs& a, const Runs& b) {
  std::vector<std::pair<const char*, int64_t>> of_a, of_b;
  a.list(&of_a);
  b.list(&of_b);
  std::sort(of_a.begin(), of_a.end());
  std::sort(of_b.begin(), of_b.end());
  // All runs of a tensor are of one length: those that begin first end first.
  for (size_t i = 0, k = 0; i < of_a.size() && k < of_b.size();) {
    if (of_a[i].first + a.length <= of_b[k].first) {
      ++i;
    } else if (of_b[k].first + b.length <= of_a[i].first) {
      ++k;
    } else {
      return true;
    }
  }
  return false;
}

inline bool share_memory(const Tensor& tensor_a, const Tensor& tensor_b) {
  if (tensor_a.numel() == 0 || tensor_b.numel() == 0) return false;
  const Runs a(tensor_a), b(tensor_b);
  if (a.end() <= b.data || b.end() <= a.data) return false;
  Reaches reaches;
  if (add_reaches(a, &Reach::a, &reaches) && add_reaches(b, &Reach::b, &reaches) &&
      have_one_index(reaches)) {
    return meet(b.data - a.data, reaches.begin(), reaches.end());
  }
  return meet_somewhere(a, b);
}

}  // namespace detail

// An argument that is written: no two of its elements are one.
inline void check_writable(const char* op, const char* name, const Tensor& tensor) {
  if (tensor.numel() == 0) return;
  bool is_expanded = false;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    is_expanded = is_expanded || (tensor.size(dim) > 1 && tensor.stride(dim) == 0);
  }
  detail::Reaches reaches;
  if (!is_expanded && detail::add_reaches(detail::Runs(tensor), &detail::Reach::a, &reaches) &&
      detail::have_one_index(reaches)) {
    return;
  }
  refuse(op, std::string("wanted elements that lie apart for ") + name + ", found shape " +
                 shape_text(tensor) + " with strides " + strides_text(tensor) + ".");
}

// Two arguments of which one is written, of any dtypes and strides.
inline void check_apart(const char* op, const char* name_a, const Tensor& a, const char* name_b,
                        const Tensor& b) {
  if (!detail::share_memory(a, b)) return;
  refuse(op, std::string("wanted memory of their own for ") + name_a + " and " + name_b +
                 ", found that they share some.");
}

}  // namespace cudaops_kernels
