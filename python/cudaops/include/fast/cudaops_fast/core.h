// SPDX-License-Identifier: Apache-2.0
// Types of torch's C++ API that hold no tensor.
#pragma once

#include <cstring>
#include <string>
#include <tuple>

#include "array_ref.h"
#include "options.h"
#include "scalar.h"

namespace c10 {
inline namespace cudaops_fast_1 {

// irange(), as a range of integers.
template <class T>
struct IntegerRange {
  struct iterator {
    T value;
    T operator*() const { return value; }
    iterator& operator++() {
      ++value;
      return *this;
    }
    bool operator!=(const iterator& other) const { return value != other.value; }
    bool operator==(const iterator& other) const { return value == other.value; }
  };
  T from, to;
  iterator begin() const { return {from}; }
  iterator end() const { return {to}; }
};
template <class A, class B>
IntegerRange<B> irange(A begin, B end) {
  return {static_cast<B>(begin), static_cast<B>(begin) < end ? end : static_cast<B>(begin)};
}
template <class T>
IntegerRange<T> irange(T end) {
  return {T(), end > T() ? end : T()};
}

}  // namespace cudaops_fast_1
}  // namespace c10
