// SPDX-License-Identifier: Apache-2.0
// torch's ops, called through its dispatcher.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

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

// How torch's headers declare an op: by a C++ type, which its schema says. The ops of these types
// are called as torch's headers call them; all others through a stack of IValues.
using MaybeDtype = std::optional<at::ScalarType>;
template <class F>
using Handle = c10::TypedOperatorHandle<F>;
#define CUDAOPS_OPTIONS                                                                \
  std::optional<at::ScalarType>, std::optional<at::Layout>, std::optional<at::Device>, \
      std::optional<bool>
using Typed = std::variant<
    std::monostate, Handle<at::Tensor(const at::Tensor&)>,
    Handle<at::Tensor(const at::Tensor&, const at::Tensor&)>,
    Handle<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Scalar&)>,
    Handle<at::Tensor(const at::Tensor&, const at::Scalar&)>,
    Handle<at::Tensor(const at::Tensor&, const at::Scalar&, const at::Scalar&)>,
    Handle<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&)>,
    Handle<at::Tensor&(at::Tensor&)>, Handle<at::Tensor&(at::Tensor&, const at::Tensor&)>,
    Handle<at::Tensor&(at::Tensor&, const at::Tensor&, const at::Scalar&)>,
    Handle<at::Tensor&(at::Tensor&, const at::Scalar&)>,
    Handle<at::Tensor&(at::Tensor&, const at::Tensor&, bool)>,
    Handle<at::Tensor(const at::Tensor&, int64_t)>,
    Handle<at::Tensor(const at::Tensor&, int64_t, int64_t)>,
    Handle<at::Tensor(const at::Tensor&, int64_t, c10::SymInt)>,
    Handle<at::Tensor(const at::Tensor&, c10::SymIntArrayRef)>,
    Handle<at::Tensor(const at::Tensor&, at::MemoryFormat)>,
    Handle<at::Tensor(const at::Tensor&, MaybeDtype)>,
    Handle<at::Tensor(const at::Tensor&, at::OptionalIntArrayRef, bool, MaybeDtype)>,
    Handle<at::Tensor(const at::Tensor&, CUDAOPS_OPTIONS, std::optional<at::MemoryFormat>)>,
    Handle<at::Tensor(const at::Tensor&, at::ScalarType, bool, bool,
                      std::optional<at::MemoryFormat>)>,
    Handle<at::Tensor(const at::Tensor&, CUDAOPS_OPTIONS, bool, bool,
                      std::optional<at::MemoryFormat>)>,
    Handle<at::Tensor(c10::SymIntArrayRef, CUDAOPS_OPTIONS, std::optional<at::MemoryFormat>)>,
    Handle<at::Tensor(c10::SymIntArrayRef, CUDAOPS_OPTIONS)>>;
#undef CUDAOPS_OPTIONS

// Of an argument's type in C++: its code, what a schema says for it, and the argument of a Value.
template <class A>
struct As;
template <>
struct As<const at::Tensor&> {
  static std::string code() { return "t"; }
  static const at::Tensor& get(const Value& value) { return tensor(value); }
};
template <>
struct As<at::Tensor&> {
  static std::string code() { return "T"; }
  static at::Tensor& get(const Value& value) { return const_cast<at::Tensor&>(tensor(value)); }
};
template <>
struct As<const at::Scalar&> {
  static std::string code() { return "S"; }
  static at::Scalar get(const Value& value) { return scalar(value); }
};
template <>
struct As<int64_t> {
  static std::string code() { return "i"; }
  static int64_t get(const Value& value) { return value.i; }
};
template <>
struct As<c10::SymInt> {
  static std::string code() { return "n"; }
  static c10::SymInt get(const Value& value) { return value.i; }
};
template <>
struct As<bool> {
  static std::string code() { return "b"; }
  static bool get(const Value& value) { return value.i != 0; }
};
template <>
struct As<at::ScalarType> {
  static std::string code() { return "y"; }
  static at::ScalarType get(const Value& value) { return static_cast<at::ScalarType>(value.i); }
};
template <>
struct As<at::Layout> {
  static std::string code() { return "l"; }
  static at::Layout get(const Value& value) { return static_cast<at::Layout>(value.i); }
};
template <>
struct As<at::Device> {
  static std::string code() { return "D"; }
  static at::Device get(const Value& value) { return device(value); }
};
template <>
struct As<at::MemoryFormat> {
  static std::string code() { return "m"; }
  static at::MemoryFormat get(const Value& value) { return static_cast<at::MemoryFormat>(value.i); }
};
at::IntArrayRef integers(const Value& value) {
  return at::IntArrayRef(static_cast<const int64_t*>(value.p), static_cast<size_t>(value.n));
}
template <>
struct As<c10::SymIntArrayRef> {
  static std::string code() { return "N"; }
  static c10::SymIntArrayRef get(const Value& value) {
    return c10::fromIntArrayRefSlow(integers(value));
  }
};
template <>
struct As<at::OptionalIntArrayRef> {
  static std::string code() { return "?I"; }
  static at::OptionalIntArrayRef get(const Value& value) {
    return value.kind == k_none ? at::OptionalIntArrayRef()
                                : at::OptionalIntArrayRef(integers(value));
  }
};
template <class T>
struct As<std::optional<T>> {
  static std::string code() { return "?" + As<T>::code(); }
  static std::optional<T> get(const Value& value) {
    return value.kind == k_none ? std::optional<T>() : std::optional<T>(As<T>::get(value));
  }
};
// The code of what a schema says for an argument; " " for what isn't among these types.
std::string code_of(const c10::Type& type, bool is_written) {
  switch (type.kind()) {
    case c10::TypeKind::TensorType:
      return is_written ? "T" : "t";
    case c10::TypeKind::NumberType:
      return "S";
    case c10::TypeKind::IntType:
      return "i";
    case c10::TypeKind::SymIntType:
      return "n";
    case c10::TypeKind::BoolType:
      return "b";
    case c10::TypeKind::ScalarTypeType:
      return "y";
    case c10::TypeKind::LayoutType:
      return "l";
    case c10::TypeKind::DeviceObjType:
      return "D";
    case c10::TypeKind::MemoryFormatType:
      return "m";
    case c10::TypeKind::ListType: {
      const auto element = type.castRaw<c10::ListType>()->getElementType()->kind();
      return element == c10::TypeKind::SymIntType ? "N"
             : element == c10::TypeKind::IntType  ? "I"
                                                  : " ";
    }
    case c10::TypeKind::OptionalType: {
      const auto element = type.castRaw<c10::OptionalType>()->getElementType();
      return "?" + code_of(*element, false);
    }
    default:
      return " ";
  }
}

std::string code_of(const c10::FunctionSchema& schema) {
  std::string code;
  const auto written = [](const c10::Argument& argument) {
    return argument.alias_info() && argument.alias_info()->isWrite();
  };
  for (const c10::Argument& argument : schema.returns())
    code += code_of(*argument.real_type(), written(argument));
  code += ">";
  for (const c10::Argument& argument : schema.arguments())
    code += code_of(*argument.real_type(), written(argument));
  return code;
}

// An op, found once; defaults: of the arguments that a call may leave out.
struct Operator {
  c10::OperatorHandle handle;
  Typed typed;
  std::vector<Value> defaults;
};

template <class R, class... A>
void find_typed(const Handle<R(A...)>*, Operator& op, const std::string& code) {
  std::string text = std::is_reference_v<R> ? "T>" : "t>";
  ((text += As<A>::code()), ...);
  if (text == code) op.typed = op.handle.typed<R(A...)>();
}
template <size_t... I>
void find_typed(Operator& op, const std::string& code, std::index_sequence<I...>) {
  (find_typed(static_cast<const std::variant_alternative_t<I + 1, Typed>*>(nullptr), op, code),
   ...);
}

const void* find_op(const char* name, const char* overload) {
  auto made = std::make_unique<Operator>(
      Operator{c10::Dispatcher::singleton().findSchemaOrThrow(name, overload), {}, {}});
  const auto& schema = made->handle.schema();
  bool all_known = true;
  for (const c10::Argument& argument : schema.arguments()) {
    Value value{};
    if (const auto& of = argument.default_value()) {
      if (of->isBool()) {
        value = of_int(k_bool, of->toBool());
      } else if (of->isInt()) {
        value = of_int(k_int, of->toInt());
      } else {
        all_known = all_known && of->isNone();
      }
    }
    made->defaults.push_back(value);
  }
  if (all_known)
    find_typed(*made, code_of(schema), std::make_index_sequence<std::variant_size_v<Typed> - 1>());
  return made.release();
}

template <class R, class... A, size_t... I>
void call_typed(const Handle<R(A...)>& handle, const Value* values, Value* result,
                std::index_sequence<I...>) {
  if (result) {
    *result = of_tensor(handle.call(As<A>::get(values[I])...));
  } else {
    handle.call(As<A>::get(values[I])...);
  }
}
template <class R, class... A>
void call_typed(const Handle<R(A...)>& handle, const Operator& op, const Value* arguments,
                int64_t count, Value* result) {
  constexpr size_t all = sizeof...(A);
  if (static_cast<size_t>(count) == all)
    return call_typed(handle, arguments, result, std::make_index_sequence<all>());
  Value values[all];
  for (size_t i = 0; i < all; ++i)
    values[i] = static_cast<int64_t>(i) < count ? arguments[i] : op.defaults[i];
  call_typed(handle, values, result, std::make_index_sequence<all>());
}

void call_boxed(const Operator& op, const Value* arguments, int64_t count, Value* results,
                int64_t result_count) {
  const auto& formal = op.handle.schema().arguments();
  torch::jit::Stack stack;
  stack.reserve(formal.size());
  for (int64_t i = 0; i < count; ++i)
    stack.push_back(to_ivalue(arguments[i], formal[static_cast<size_t>(i)].type().get()));
  for (size_t i = static_cast<size_t>(count); i < formal.size(); ++i)
    stack.push_back(*formal[i].default_value());
  op.handle.callBoxed(stack);
  TORCH_INTERNAL_ASSERT(static_cast<int64_t>(stack.size()) >= result_count);
  for (int64_t i = 0; i < result_count; ++i)
    results[i] = of_ivalue(std::move(stack[static_cast<size_t>(i)]));
}

void call_op(const void* found, const Value* arguments, int64_t count, Value* results,
             int64_t result_count) {
  const auto& op = *static_cast<const Operator*>(found);
  std::visit(
      [&](const auto& handle) {
        if constexpr (std::is_same_v<std::decay_t<decltype(handle)>, std::monostate>) {
          call_boxed(op, arguments, count, results, result_count);
        } else {
          call_typed(handle, op, arguments, count, results);
        }
      },
      op.typed);
}

}  // namespace
