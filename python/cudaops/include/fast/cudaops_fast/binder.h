// SPDX-License-Identifier: Apache-2.0
// Functions for Python and for the dispatcher. Each is a closure over Values with a text that says
// its types, by codes that the bridge reads: t Tensor, b bool, d double, f float, i<n> u<n>
// integers of n bytes, s string, S Scalar, y ScalarType, D Device, A IntArrayRef, v void, ?X
// optional, [X vector, (X Y) tuple. The bridge converts as pybind11 does.
#pragma once

#include "tensor.h"

namespace cudaops_fast {

// Of a type: append() its code, get() it from an argument, set() a result.
template <class T, class = void>
struct Code;

template <>
struct Code<at::Tensor> {
  static void append(std::string& text) { text += 't'; }
  static at::Tensor get(Value& value) {
    // The argument's own count goes with it.
    if (value.kind != k_tensor) return at::Tensor();
    value.kind = k_none;
    return at::Tensor::steal(value.p);
  }
  static void set(Value& value, at::Tensor result) {
    value.kind = k_tensor;
    value.p = result.unsafe_release();
  }
};
template <>
struct Code<bool> {
  static void append(std::string& text) { text += 'b'; }
  static bool get(const Value& value) { return value.i != 0; }
  static void set(Value& value, bool result) { value = value_of(k_bool, result); }
};
// char is a text of one letter to Python: not known here.
template <class T>
struct Code<
    T, std::enable_if_t<std::is_integral<T>::value && !std::is_same<T, bool>::value &&
                        !std::is_same<T, char>::value && !std::is_same<T, wchar_t>::value &&
                        !std::is_same<T, char16_t>::value && !std::is_same<T, char32_t>::value>> {
  static void append(std::string& text) {
    text += std::is_signed<T>::value ? 'i' : 'u';
    text += static_cast<char>('0' + sizeof(T));
  }
  static T get(const Value& value) { return static_cast<T>(value.i); }
  static void set(Value& value, T result) {
    value = value_of(std::is_signed<T>::value ? k_int : k_uint, static_cast<int64_t>(result));
  }
};
template <class T>
struct Code<T, std::enable_if_t<std::is_floating_point<T>::value>> {
  static_assert(sizeof(T) <= 8, "long double isn't known to the fast headers");
  static void append(std::string& text) { text += std::is_same<T, float>::value ? 'f' : 'd'; }
  static T get(const Value& value) { return static_cast<T>(value.d); }
  static void set(Value& value, T result) { value = to_value(static_cast<double>(result)); }
};
template <>
struct Code<std::string> {
  static void append(std::string& text) { text += 's'; }
  static std::string get(const Value& value) {
    return std::string(static_cast<const char*>(value.p), static_cast<size_t>(value.n));
  }
  static void set(Value& value, const std::string& result) {
    void* copy = std::malloc(result.size() + 1);
    if (!copy) throw std::bad_alloc();
    std::memcpy(copy, result.c_str(), result.size() + 1);
    value = value_of(k_string, copy, result.size());
  }
};
template <>
struct Code<c10::Scalar> {
  static void append(std::string& text) { text += 'S'; }
  static c10::Scalar get(const Value& value) { return c10::Scalar(value); }
  static void set(Value& value, const c10::Scalar& result) { value = result.value(); }
};
template <>
struct Code<c10::ScalarType> {
  static void append(std::string& text) { text += 'y'; }
  static c10::ScalarType get(const Value& value) { return static_cast<c10::ScalarType>(value.i); }
  static void set(Value& value, c10::ScalarType result) { value = to_value(result); }
};
template <>
struct Code<c10::Device> {
  static void append(std::string& text) { text += 'D'; }
  static c10::Device get(const Value& value) {
    return c10::Device(static_cast<c10::DeviceType>(value.i),
                       static_cast<c10::DeviceIndex>(value.n));
  }
  static void set(Value& value, const c10::Device& result) { value = to_value(result); }
};
template <>
struct Code<c10::IntArrayRef> {
  static void append(std::string& text) { text += 'A'; }
  static c10::IntArrayRef get(const Value& value) {
    return c10::IntArrayRef(static_cast<const int64_t*>(value.p), static_cast<size_t>(value.n));
  }
  static void set(Value& value, c10::IntArrayRef result) {
    void* copy = std::malloc(result.size() * sizeof(int64_t) + 1);
    if (!copy) throw std::bad_alloc();
    if (result.size()) std::memcpy(copy, result.data(), result.size() * sizeof(int64_t));
    value = value_of(k_ints, copy, result.size());
  }
};
template <>
struct Code<void> {
  static void append(std::string& text) { text += 'v'; }
};
template <class T>
struct Code<std::optional<T>> {
  using Held = Code<std::remove_const_t<T>>;
  static void append(std::string& text) {
    text += '?';
    Held::append(text);
  }
  static std::optional<T> get(Value& value) {
    if (value.kind == k_none) return std::nullopt;
    return Held::get(value);
  }
  static void set(Value& value, std::optional<T> result) {
    if (result.has_value()) Held::set(value, std::move(*result));
  }
};
inline Value* new_list(Value& value, size_t count) {
  void* items = std::calloc(count ? count : 1, sizeof(Value));
  if (!items) throw std::bad_alloc();
  value = value_of(k_list, items, count);
  return static_cast<Value*>(items);
}
template <class T>
struct Code<std::vector<T>> {
  static void append(std::string& text) {
    text += '[';
    Code<T>::append(text);
  }
  static std::vector<T> get(Value& value) {
    std::vector<T> made;
    made.reserve(static_cast<size_t>(value.n));
    for (int64_t i = 0; i < value.n; ++i)
      made.push_back(Code<T>::get(static_cast<Value*>(value.p)[i]));
    return made;
  }
  static void set(Value& value, std::vector<T> result) {
    Value* items = new_list(value, result.size());
    for (size_t i = 0; i < result.size(); ++i) Code<T>::set(items[i], std::move(result[i]));
  }
};
template <class... T>
struct TupleCode {
  static void append(std::string& text) {
    text += '(';
    (Code<T>::append(text), ...);
    text += ')';
  }
};
template <class... T>
struct Code<std::tuple<T...>> : TupleCode<T...> {
  static std::tuple<T...> get(Value& value) {
    return get(static_cast<Value*>(value.p), std::index_sequence_for<T...>());
  }
  template <size_t... I>
  static std::tuple<T...> get(Value* items, std::index_sequence<I...>) {
    return std::tuple<T...>(Code<T>::get(items[I])...);
  }
  static void set(Value& value, std::tuple<T...> result) {
    set(new_list(value, sizeof...(T)), result, std::index_sequence_for<T...>());
  }
  template <size_t... I>
  static void set(Value* items, std::tuple<T...>& result, std::index_sequence<I...>) {
    (Code<T>::set(items[I], std::move(std::get<I>(result))), ...);
  }
};
template <class A, class B>
struct Code<std::pair<A, B>> : TupleCode<A, B> {
  static std::pair<A, B> get(Value& value) {
    Value* items = static_cast<Value*>(value.p);
    return {Code<A>::get(items[0]), Code<B>::get(items[1])};
  }
  static void set(Value& value, std::pair<A, B> result) {
    Value* items = new_list(value, 2);
    Code<A>::set(items[0], std::move(result.first));
    Code<B>::set(items[1], std::move(result.second));
  }
};

// py::value_error and its like, thrown by the text; they become pybind11's own when they leave it.
class PyException : public std::runtime_error {
 public:
  PyException(PyError kind, const std::string& text) : std::runtime_error(text), kind(kind) {}
  PyError kind;
};

// The types that torch has kernels for: an integer is an int64_t, a number a double.
template <class T>
struct OfSchema
    : std::bool_constant<!std::is_arithmetic<T>::value || std::is_same<T, bool>::value ||
                         std::is_same<T, double>::value ||
                         (std::is_integral<T>::value && std::is_signed<T>::value &&
                          sizeof(T) == 8)> {};
template <template <class...> class Holder, class... T>
struct OfSchema<Holder<T...>> : std::conjunction<OfSchema<T>...> {};
template <>
struct OfSchema<std::string> : std::true_type {};

template <class F, class R, class... A>
struct Bound {
  using of_schema = std::conjunction<OfSchema<std::decay_t<R>>, OfSchema<std::decay_t<A>>...>;
  template <size_t... I>
  static void run(F& function, Value* args, Value* result, std::index_sequence<I...>) {
    std::tuple<std::decay_t<A>...> held{Code<std::decay_t<A>>::get(args[I])...};
    if constexpr (std::is_void<R>::value) {
      function(std::forward<A>(std::get<I>(held))...);
    } else {
      Code<std::decay_t<R>>::set(*result, function(std::forward<A>(std::get<I>(held))...));
    }
  }
  static void invoke(void* closure, Value* args, Value* result) {
    try {
      run(*static_cast<F*>(closure), args, result, std::index_sequence_for<A...>());
    } catch (const PyException& error) {
      bridge()->fail_py(error.kind, error.what());
    }
  }
  static std::string signature() {
    std::string text;
    Code<std::decay_t<R>>::append(text);
    (Code<std::decay_t<A>>::append(text), ...);
    return text;
  }
};

template <class M>
struct Member;
template <class C, class R, class... A>
struct Member<R (C::*)(A...)> {
  template <class F>
  using bound = Bound<F, R, A...>;
};
template <class C, class R, class... A>
struct Member<R (C::*)(A...) const> : Member<R (C::*)(A...)> {};
template <class C, class R, class... A>
struct Member<R (C::*)(A...) noexcept> : Member<R (C::*)(A...)> {};
template <class C, class R, class... A>
struct Member<R (C::*)(A...) const noexcept> : Member<R (C::*)(A...)> {};

template <class F>
struct Traits {
  using bound = typename Member<decltype(&F::operator())>::template bound<F>;
};
template <class R, class... A>
struct Traits<R (*)(A...)> {
  using bound = Bound<R (*)(A...), R, A...>;
};
template <class R, class... A>
struct Traits<R (*)(A...) noexcept> {
  using bound = Bound<R (*)(A...) noexcept, R, A...>;
};

// As torch::wrap_pybind_function() marks it.
template <class F>
struct Wrapped {
  F function;
  bool release_gil;
};

struct Closure {
  std::string signature;
  Invoke invoke;
  void* closure;
  void (*free)(void*);
};
template <class F>
Closure make_closure(F function) {
  using bound = typename Traits<F>::bound;
  return {bound::signature(), bound::invoke, new F(std::move(function)),
          [](void* closure) { delete static_cast<F*>(closure); }};
}
template <class F>
Closure make_kernel(F function) {
  static_assert(Traits<F>::bound::of_schema::value,
                "a kernel of an op takes and gives int64_t and double, not other numbers");
  return make_closure<F>(std::move(function));
}

}  // namespace cudaops_fast
