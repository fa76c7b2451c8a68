// SPDX-License-Identifier: Apache-2.0
// Lists that own nothing.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "check.h"

namespace c10 {
inline namespace cudaops_fast_1 {

template <class T>
class ArrayRef {
 public:
  using iterator = const T*;
  using const_iterator = const T*;
  using size_type = size_t;
  using value_type = T;
  constexpr ArrayRef() : data_(nullptr), size_(0) {}
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end)
      : data_(begin), size_(static_cast<size_t>(end - begin)) {}
  template <class C,
            class = std::enable_if_t<std::is_same<
                std::remove_const_t<std::remove_pointer_t<decltype(std::declval<C>().data())>>,
                T>::value>>
  ArrayRef(const C& container) : data_(container.data()), size_(container.size()) {}
  ArrayRef(const std::vector<T>& from) : data_(from.data()), size_(from.size()) {
    static_assert(!std::is_same<T, bool>::value,
                  "ArrayRef<bool> cannot be constructed from a std::vector<bool> bitfield.");
  }
  template <size_t N>
  constexpr ArrayRef(const std::array<T, N>& from) : data_(from.data()), size_(N) {}
  template <size_t N>
  constexpr ArrayRef(const T (&from)[N]) : data_(from), size_(N) {}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
  constexpr ArrayRef(const std::initializer_list<T>& from)
      : data_(from.begin() == from.end() ? static_cast<T*>(nullptr) : from.begin()),
        size_(from.size()) {}
#pragma GCC diagnostic pop

  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T* cbegin() const { return data_; }
  constexpr const T* cend() const { return data_ + size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  const T& front() const;
  const T& back() const;
  constexpr bool equals(ArrayRef other) const {
    if (size_ != other.size_) return false;
    for (size_t i = 0; i < size_; ++i) {
      if (!(data_[i] == other.data_[i])) return false;
    }
    return true;
  }
  ArrayRef<T> slice(size_t n, size_t m) const;
  ArrayRef<T> slice(size_t n) const;
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  const T& at(size_t i) const;
  std::vector<T> vec() const { return std::vector<T>(data_, data_ + size_); }

 private:
  const T* data_;
  size_t size_;
};
template <class T>
bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  return a.equals(b);
}
template <class T>
bool operator!=(ArrayRef<T> a, ArrayRef<T> b) {
  return !a.equals(b);
}
template <class T>
bool operator==(const std::vector<T>& a, ArrayRef<T> b) {
  return ArrayRef<T>(a).equals(b);
}
template <class T>
bool operator!=(const std::vector<T>& a, ArrayRef<T> b) {
  return !ArrayRef<T>(a).equals(b);
}
template <class T>
bool operator==(ArrayRef<T> a, const std::vector<T>& b) {
  return a.equals(ArrayRef<T>(b));
}
template <class T>
bool operator!=(ArrayRef<T> a, const std::vector<T>& b) {
  return !a.equals(ArrayRef<T>(b));
}
using IntArrayRef = ArrayRef<int64_t>;
using string_view = std::string_view;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;

// As c10's: from a list, from one number, or none.
template <class T>
class OptionalArrayRef {
 public:
  constexpr OptionalArrayRef() = default;
  constexpr OptionalArrayRef(std::nullopt_t) {}
  constexpr OptionalArrayRef(const T& one) : list_(one) {}
  template <class U = ArrayRef<T>,
            class = std::enable_if_t<!std::is_same<std::decay_t<U>, OptionalArrayRef>::value &&
                                     !std::is_same<std::decay_t<U>, std::in_place_t>::value &&
                                     std::is_constructible<ArrayRef<T>, U&&>::value &&
                                     std::is_convertible<U&&, ArrayRef<T>>::value &&
                                     !std::is_convertible<U&&, T>::value>>
  constexpr OptionalArrayRef(U&& value) : list_(std::forward<U>(value)) {}
  constexpr OptionalArrayRef(const std::initializer_list<T>& list) : list_(ArrayRef<T>(list)) {}
  OptionalArrayRef(const std::optional<ArrayRef<T>>& list) : list_(list) {}
  constexpr bool has_value() const { return list_.has_value(); }
  constexpr explicit operator bool() const { return list_.has_value(); }
  constexpr const ArrayRef<T>& value() const { return list_.value(); }
  constexpr const ArrayRef<T>& operator*() const { return *list_; }
  constexpr const ArrayRef<T>* operator->() const { return &*list_; }

 private:
  std::optional<ArrayRef<T>> list_;
};
using OptionalIntArrayRef = OptionalArrayRef<int64_t>;

template <class T>
const T& ArrayRef<T>::front() const {
  TORCH_CHECK(!empty(), "ArrayRef: attempted to access front() of empty list");
  return data_[0];
}
template <class T>
const T& ArrayRef<T>::back() const {
  TORCH_CHECK(!empty(), "ArrayRef: attempted to access back() of empty list");
  return data_[size_ - 1];
}
template <class T>
ArrayRef<T> ArrayRef<T>::slice(size_t n, size_t m) const {
  TORCH_CHECK(n + m <= size(), "ArrayRef: invalid slice, N = ", n, "; M = ", m,
              "; size = ", size());
  return ArrayRef<T>(data_ + n, m);
}
template <class T>
ArrayRef<T> ArrayRef<T>::slice(size_t n) const {
  TORCH_CHECK(n <= size(), "ArrayRef: invalid slice, N = ", n, "; size = ", size());
  return slice(n, size() - n);
}
template <class T>
const T& ArrayRef<T>::at(size_t i) const {
  TORCH_CHECK(i < size_, "ArrayRef: invalid index Index = ", i, "; Length = ", size_);
  return data_[i];
}

template <class C, class R, class T>
std::basic_ostream<C, R>& operator<<(std::basic_ostream<C, R>& stream, ArrayRef<T> list) {
  stream << "[";
  for (size_t i = 0; i < list.size(); ++i) {
    if (i) stream << ", ";
    stream << list[i];
  }
  return stream << "]";
}

}  // namespace cudaops_fast_1
}  // namespace c10
