// SPDX-License-Identifier: Apache-2.0
// torch's ops, called through its dispatcher.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "typed_ops.h"
#include "values.h"

namespace {

c10::IValue to_ivalue(const Value& value, const c10::Type* type) {
  if (const auto* optional = type->castRaw<c10::OptionalType>()) {
    if (value.kind == k_none) return c10::IValue();
    type = optional->getElementType().get();
  }
  switch (value.kind) {
    case k_none:
      return c10::IValue();
    case k_tensor:
      return c10::IValue(tensor(value));
    case k_int:
    case k_uint:
    case k_double:
    case k_bool:
    case k_complex:
      if (type->kind() == c10::TypeKind::NumberType) return c10::IValue(scalar(value));
      if (type->kind() == c10::TypeKind::FloatType && value.kind != k_double)
        return c10::IValue(scalar(value).toDouble());
      if (type->kind() == c10::TypeKind::BoolType) return c10::IValue(value.i != 0);
      if (value.kind == k_double) return c10::IValue(value.d);
      if (value.kind == k_bool) return c10::IValue(static_cast<int64_t>(value.i));
      return c10::IValue(value.i);
    case k_string:
      return c10::IValue(
          std::string(static_cast<const char*>(value.p), static_cast<size_t>(value.n)));
    case k_dtype:
    case k_layout:
    case k_memory_format:
      return c10::IValue(value.i);
    case k_device:
      return c10::IValue(device(value));
    case k_ints: {
      const auto* numbers = static_cast<const int64_t*>(value.p);
      return c10::IValue(
          c10::List<int64_t>(at::IntArrayRef(numbers, static_cast<size_t>(value.n))));
    }
    case k_doubles: {
      const auto* numbers = static_cast<const double*>(value.p);
      return c10::IValue(
          c10::List<double>(at::ArrayRef<double>(numbers, static_cast<size_t>(value.n))));
    }
    case k_tensors: {
      c10::List<at::Tensor> tensors;
      tensors.reserve(static_cast<size_t>(value.n));
      const auto* bits = static_cast<const Impl*>(value.p);
      for (int64_t i = 0; i < value.n; ++i) tensors.push_back(tensor(bits + i));
      return tensors;
    }
    case k_list: {
      const auto* list = type->castRaw<c10::ListType>();
      TORCH_CHECK(list, "fast headers: a list for ", type->str());
      const auto* items = static_cast<const Value*>(value.p);
      const c10::TypePtr element = list->getElementType();
      if (element->kind() == c10::TypeKind::TensorType) {
        c10::List<at::Tensor> tensors;
        for (int64_t i = 0; i < value.n; ++i) tensors.push_back(tensor(items[i]));
        return tensors;
      }
      c10::impl::GenericList generic(element);
      for (int64_t i = 0; i < value.n; ++i) generic.push_back(to_ivalue(items[i], element.get()));
      return generic;
    }
  }
  return c10::IValue();
}

Value of_ivalue(c10::IValue&& value) {
  if (value.isTensor()) return of_tensor(std::move(value).toTensor());
  if (value.isNone()) return Value{};
  if (value.isBool()) return of_int(k_bool, value.toBool());
  if (value.isInt()) return of_int(k_int, value.toInt());
  if (value.isDouble()) return of_double(value.toDouble());
  if (value.isScalar()) return of_scalar(value.toScalar());
  if (value.isString()) {
    const std::string& text = value.toStringRef();
    return of_string(text.data(), text.size());
  }
  if (value.isDevice())
    return of_int(k_device, static_cast<int64_t>(value.toDevice().type()),
                  value.toDevice().index());
  if (value.isList()) {
    const auto list = value.toListRef();
    Value result = of_list(list.size());
    for (size_t i = 0; i < list.size(); ++i) item(result, i) = of_ivalue(c10::IValue(list[i]));
    return result;
  }
  TORCH_CHECK(false, "fast headers: a value of type ", value.tagKind());
}

// The ops that texts name most are called as torch's headers call them, by their functions of C++
// types in at::_ops; all others through a stack of IValues.

// Of an argument's type in C++: the argument of a Value.
template <class A>
struct As;
template <>
struct As<const at::Tensor&> {
  static const at::Tensor& get(const Value& value) { return tensor(value); }
};
template <>
struct As<at::Tensor&> {
  static at::Tensor& get(const Value& value) { return const_cast<at::Tensor&>(tensor(value)); }
};
template <>
struct As<at::Tensor> : As<const at::Tensor&> {};
template <>
struct As<at::Scalar> {
  static at::Scalar get(const Value& value) { return scalar(value); }
};
template <>
struct As<const at::Scalar&> : As<at::Scalar> {};
template <>
struct As<int64_t> {
  static int64_t get(const Value& value) { return value.i; }
};
template <>
struct As<c10::SymInt> {
  static c10::SymInt get(const Value& value) { return value.i; }
};
template <>
struct As<bool> {
  static bool get(const Value& value) { return value.i != 0; }
};
template <>
struct As<at::ScalarType> {
  static at::ScalarType get(const Value& value) { return static_cast<at::ScalarType>(value.i); }
};
template <>
struct As<at::Layout> {
  static at::Layout get(const Value& value) { return static_cast<at::Layout>(value.i); }
};
template <>
struct As<at::Device> {
  static at::Device get(const Value& value) { return device(value); }
};
template <>
struct As<at::MemoryFormat> {
  static at::MemoryFormat get(const Value& value) { return static_cast<at::MemoryFormat>(value.i); }
};
template <>
struct As<at::IntArrayRef> {
  static at::IntArrayRef get(const Value& value) {
    return at::IntArrayRef(static_cast<const int64_t*>(value.p), static_cast<size_t>(value.n));
  }
};
template <>
struct As<c10::SymIntArrayRef> {
  static c10::SymIntArrayRef get(const Value& value) {
    return c10::fromIntArrayRefSlow(As<at::IntArrayRef>::get(value));
  }
};
template <>
struct As<at::OptionalIntArrayRef> {
  static at::OptionalIntArrayRef get(const Value& value) {
    return value.kind == k_none ? at::OptionalIntArrayRef() : As<at::IntArrayRef>::get(value);
  }
};
template <>
struct As<at::TensorList> {
  static at::TensorList get(const Value& value) {
    return at::TensorList(static_cast<const at::Tensor*>(value.p), static_cast<size_t>(value.n));
  }
};
template <>
struct As<const at::ITensorListRef&> {
  static at::ITensorListRef get(const Value& value) { return As<at::TensorList>::get(value); }
};
template <class T>
struct As<std::optional<T>> {
  static std::optional<T> get(const Value& value) {
    return value.kind == k_none ? std::optional<T>() : std::optional<T>(As<T>::get(value));
  }
};
template <class T>
struct As<const std::optional<T>&> : As<std::optional<T>> {};

void put(at::Tensor result, Value* results) { *results = of_tensor(std::move(result)); }
void put(const at::Scalar& result, Value* results) { *results = of_scalar(result); }
void put(bool result, Value* results) { *results = of_int(k_bool, result); }
void put(std::vector<at::Tensor> result, Value* results) {
  *results = of_list(result.size());
  for (size_t i = 0; i < result.size(); ++i) item(*results, i) = of_tensor(std::move(result[i]));
}
template <class... T>
void put(std::tuple<T...> result, Value* results) {
  std::apply([&](T&... one) { (put(std::move(one), results++), ...); }, result);
}

template <class R, class... A, size_t... I>
void call_typed(R (*function)(A...), const Value* values, Value* results,
                std::index_sequence<I...>) {
  if (results) {
    put(function(As<A>::get(values[I])...), results);
  } else {
    function(As<A>::get(values[I])...);
  }
}
template <class R, class... A>
void call_typed(void (*function)(), const Value* values, Value* results) {
  call_typed(reinterpret_cast<R (*)(A...)>(function), values, results,
             std::index_sequence_for<A...>());
}

constexpr size_t most_arguments = 8;
struct Typed {
  const char* name;
  const char* overload;
  size_t count;  // of its arguments
  void (*function)();
  void (*call)(void (*function)(), const Value* arguments, Value* results);
};
template <class R, class... A>
Typed typed(const char* name, const char* overload, R (*function)(A...)) {
  static_assert(sizeof...(A) <= most_arguments);
  return {name, overload, sizeof...(A), reinterpret_cast<void (*)()>(function),
          &call_typed<R, A...>};
}
const Typed* find_typed(const char* name, const char* overload) {
#define CUDAOPS_TYPED(op) \
  typed(at::_ops::op::name, at::_ops::op::overload_name, at::_ops::op::call),
  static const Typed all[] = {CUDAOPS_TYPED_OPS(CUDAOPS_TYPED)};
#undef CUDAOPS_TYPED
  for (const Typed& one : all)
    if (!std::strcmp(one.name, name) && !std::strcmp(one.overload, overload)) return &one;
  return nullptr;
}

// An op, found once.
struct Operator {
  c10::OperatorHandle handle;
  const Typed* typed;
  std::vector<Value> defaults;  // of the arguments that a call may leave out
  size_t required;              // arguments that it may not, or whose default is no Value
};

const void* find_op(const char* name, const char* overload) {
  auto made = std::make_unique<Operator>(
      Operator{c10::Dispatcher::singleton().findSchemaOrThrow(name, overload),
               find_typed(name, overload),
               {},
               0});
  for (const c10::Argument& argument : made->handle.schema().arguments()) {
    Value value{};
    const auto& of = argument.default_value();
    if (of && of->isBool()) {
      value = of_int(k_bool, of->toBool());
    } else if (of && of->isInt()) {
      value = of_int(k_int, of->toInt());
    } else if (!of || !of->isNone()) {
      made->required = made->defaults.size() + 1;
    }
    made->defaults.push_back(value);
  }
  return made.release();
}

void call_boxed(const Operator& op, const Value* arguments, size_t count, Value* results,
                size_t result_count) {
  const auto& formal = op.handle.schema().arguments();
  torch::jit::Stack stack;
  stack.reserve(formal.size());
  for (size_t i = 0; i < count; ++i)
    stack.push_back(to_ivalue(arguments[i], formal[i].type().get()));
  for (size_t i = count; i < formal.size(); ++i) stack.push_back(*formal[i].default_value());
  op.handle.callBoxed(stack);
  TORCH_INTERNAL_ASSERT(stack.size() >= result_count);
  for (size_t i = 0; i < result_count; ++i) results[i] = of_ivalue(std::move(stack[i]));
}

void call_op(const void* found, const Value* arguments, int64_t given, Value* results,
             int64_t result_count) {
  const auto& op = *static_cast<const Operator*>(found);
  const auto count = static_cast<size_t>(given);
  if (!op.typed || count < op.required) {
    call_boxed(op, arguments, count, results, static_cast<size_t>(result_count));
  } else if (count == op.typed->count) {
    op.typed->call(op.typed->function, arguments, results);
  } else {
    Value values[most_arguments];
    std::copy_n(arguments, count, values);
    std::copy(op.defaults.begin() + given, op.defaults.end(), values + count);
    op.typed->call(op.typed->function, values, results);
  }
}

}  // namespace
