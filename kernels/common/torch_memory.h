// SPDX-License-Identifier: Apache-2.0
// What the bindings of ops that work in place ask of memory: each element that is written has its
// own. torch's own ops see less (a stride of 0, two dense tensors).
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "torch_binding.h"

namespace cudaops_kernels {

namespace detail {

// By stride in elements, the largest first: how far two tensors' indices reach there.
struct Reach {
  int64_t a = 0;
  int64_t b = 0;
};
using Reaches = std::map<int64_t, Reach, std::greater<>>;

// False where two dimensions have one stride: they overlap from the second element on.
inline bool add_reaches(const Tensor& tensor, int64_t Reach::*which, Reaches* reaches) {
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (tensor.size(dim) == 1) continue;
    int64_t& reach = (*reaches)[tensor.stride(dim)].*which;
    if (reach != 0) return false;
    reach = tensor.size(dim) - 1;
  }
  return true;
}

// Whether every stride is longer than all that lies within: an element has one index.
inline bool have_one_index(const Reaches& reaches) {
  int64_t within = 0;
  for (auto it = reaches.rbegin(); it != reaches.rend(); ++it) {
    if (it->first <= within) return false;
    within += it->first * std::max(it->second.a, it->second.b);
  }
  return true;
}

// Whether an element of a is `distance` elements behind one of b.
inline bool meet(int64_t distance, Reaches::const_iterator it, Reaches::const_iterator end) {
  if (it == end) return distance == 0;
  const int64_t stride = it->first;
  int64_t index = distance / stride;
  if (distance % stride < 0) --index;
  const auto next = std::next(it);
  // What is left lies within a stride on either side.
  for (const int64_t candidate : {index, index + 1}) {
    if (candidate < -it->second.b || candidate > it->second.a) continue;
    if (meet(distance - candidate * stride, next, end)) return true;
  }
  return false;
}

}  // namespace detail

// An argument that is written: no two of its elements are one.
inline void check_writable(const char* op, const char* name, const Tensor& tensor) {
  if (tensor.numel() == 0) return;
  detail::Reaches reaches;
  if (detail::add_reaches(tensor, &detail::Reach::a, &reaches) && detail::have_one_index(reaches)) {
    return;
  }
  refuse(op, std::string("wanted elements that lie apart for ") + name + ", found shape " +
                 shape_text(tensor) + " with strides " + strides_text(tensor) + ".");
}

// Two arguments of which one is written, elements that lie apart each. Of one dtype; of two, and
// where strides say nothing, only what starts at one place is refused.
inline void check_apart(const char* op, const char* name_a, const Tensor& a, const char* name_b,
                        const Tensor& b) {
  if (a.numel() == 0 || b.numel() == 0) return;
  const char* const data_a = static_cast<const char*>(a.const_data_ptr());
  const char* const data_b = static_cast<const char*>(b.const_data_ptr());
  bool share = data_a == data_b;
  const int64_t bytes = data_b - data_a, size = static_cast<int64_t>(a.element_size());
  if (!share && a.scalar_type() == b.scalar_type() && bytes % size == 0) {
    detail::Reaches reaches;
    share = detail::add_reaches(a, &detail::Reach::a, &reaches) &&
            detail::add_reaches(b, &detail::Reach::b, &reaches) &&
            detail::have_one_index(reaches) &&
            detail::meet(bytes / size, reaches.begin(), reaches.end());
  }
  if (!share) return;
  refuse(op, std::string("wanted memory of their own for ") + name_a + " and " + name_b +
                 ", found that they share some.");
}

}  // namespace cudaops_kernels
