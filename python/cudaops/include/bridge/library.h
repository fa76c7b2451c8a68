// SPDX-License-Identifier: Apache-2.0
// A module's own ops, registered with torch.
#pragma once

#include <torch/library.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "functions.h"
#include "operators.h"

namespace {

// A value for an argument of a kernel: what the signature's codes and the schema's types both say.
Value for_kernel(const Type& type, const c10::IValue& value) {
  if (type.code == '?') return value.isNone() ? Value{} : for_kernel(type.children[0], value);
  switch (type.code) {
    case 't':
      return value.isNone() ? of_tensor(at::Tensor()) : of_tensor(value.toTensor());
    case 'b':
      return of_int(k_bool, value.toBool());
    case 'd':
      return of_double(value.toDouble());
    case 'i':
      return of_int(k_int, value.toInt());
    case 's':
      return of_string(value.toStringRef().data(), value.toStringRef().size());
    case 'S':
      return of_scalar(value.toScalar());
    case 'y':
      return of_int(k_dtype, value.toInt());
    case 'D':
      return of_int(k_device, static_cast<int64_t>(value.toDevice().type()),
                    value.toDevice().index());
    case 'A': {
      const auto numbers = value.toIntVector();
      Value result{};
      result.kind = k_ints;
      result.p = allocate(numbers.size() * sizeof(int64_t));
      result.n = static_cast<int64_t>(numbers.size());
      std::copy(numbers.begin(), numbers.end(), static_cast<int64_t*>(result.p));
      return result;
    }
    case '[': {
      const auto list = value.toListRef();
      Value result = of_list(list.size());
      for (size_t i = 0; i < list.size(); ++i)
        item(result, i) = for_kernel(type.children[0], list[i]);
      return result;
    }
    default:
      TORCH_CHECK(false, "fast headers: an argument of type ", type.code, " of an op");
  }
}

c10::IValue of_kernel(const Type& type, Value& value) {
  if (type.code == '?')
    return value.kind == k_none ? c10::IValue() : of_kernel(type.children[0], value);
  switch (type.code) {
    case 't':
      return tensor(value);
    case 'b':
      return value.i != 0;
    case 'd':
      return value.d;
    case 'i':
    case 'y':
      return value.i;
    case 's':
      return std::string(static_cast<const char*>(value.p), static_cast<size_t>(value.n));
    case 'S':
      return scalar(value);
    case '[': {
      if (type.children[0].code == 't') {
        c10::List<at::Tensor> tensors;
        for (int64_t i = 0; i < value.n; ++i)
          tensors.push_back(tensor(item(value, static_cast<size_t>(i))));
        return tensors;
      }
      if (type.children[0].code == 'i') {
        c10::List<int64_t> numbers;
        for (int64_t i = 0; i < value.n; ++i)
          numbers.push_back(item(value, static_cast<size_t>(i)).i);
        return numbers;
      }
      break;
    }
    default:
      break;
  }
  TORCH_CHECK(false, "fast headers: a result of type ", type.code, " of an op");
}

class Kernel : public c10::OperatorKernel {
 public:
  explicit Kernel(std::shared_ptr<Bound> bound) : bound_(std::move(bound)) {}
  void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack) {
    const size_t count = bound_->arguments.size();
    Owner owner(count + 1);
    Value* values = owner.values();
    const auto arguments = torch::jit::last(*stack, count);
    for (size_t i = 0; i < count; ++i)
      values[i + 1] = for_kernel(bound_->arguments[i], arguments[i]);
    bound_->run(values + 1, values);
    torch::jit::drop(*stack, count);
    if (bound_->result.code == 'v') return;
    if (bound_->result.code == '(') {
      for (size_t i = 0; i < bound_->result.children.size(); ++i) {
        stack->push_back(of_kernel(bound_->result.children[i], item(values[0], i)));
      }
      return;
    }
    stack->push_back(of_kernel(bound_->result, values[0]));
  }

 private:
  std::shared_ptr<Bound> bound_;
};

void* open_library(int kind, const char* name, const char* key, const char* file, uint32_t line) {
  const auto which = kind == 0   ? torch::Library::DEF
                     : kind == 1 ? torch::Library::FRAGMENT
                                 : torch::Library::IMPL;
  std::optional<c10::DispatchKey> where;
  if (key && std::strcmp(key, "CatchAll") != 0) where = c10::parseDispatchKey(key);
  return new torch::Library(which, name, where, file, line);
}

torch::CppFunction boxed(const char* codes, Invoke invoke, void* closure,
                         void (*free_closure)(void*)) {
  auto bound = std::make_shared<Bound>(codes, invoke, closure, free_closure);
  return torch::CppFunction::makeFromBoxedFunctor<Kernel>(
      std::make_unique<Kernel>(std::move(bound)));
}

// torch derives the schema of m.def("name", &function) from the function's type, which isn't known
// here.
void check_whole(const char* schema) {
  TORCH_CHECK(std::strchr(schema, '('), "fast headers: m.def(\"", schema,
              "\", ...) needs a whole schema");
}

// What a signature's codes are in a schema: that a function fits its op is checked as torch checks
// it, when it is registered.
void check_schema(const Bound& bound, const c10::FunctionSchema& schema) {
  const auto fits = [](const Type& type, const c10::TypePtr& wanted, const auto& self) -> bool {
    const auto kind = wanted->kind();
    switch (type.code) {
      case '?':
        return kind == c10::TypeKind::OptionalType &&
               self(type.children[0], wanted->castRaw<c10::OptionalType>()->getElementType(), self);
      case '[':
        return kind == c10::TypeKind::ListType &&
               self(type.children[0], wanted->castRaw<c10::ListType>()->getElementType(), self);
      case 'A':
        return kind == c10::TypeKind::ListType &&
               wanted->castRaw<c10::ListType>()->getElementType()->kind() == c10::TypeKind::IntType;
      case 't':
        return kind == c10::TypeKind::TensorType;
      case 'b':
        return kind == c10::TypeKind::BoolType;
      case 'd':
        return kind == c10::TypeKind::FloatType;
      case 'i':
        return type.size == 8 &&
               (kind == c10::TypeKind::IntType || kind == c10::TypeKind::SymIntType);
      case 's':
        return kind == c10::TypeKind::StringType;
      case 'S':
        return kind == c10::TypeKind::NumberType;
      case 'y':
        return kind == c10::TypeKind::IntType || kind == c10::TypeKind::ScalarTypeType;
      case 'D':
        return kind == c10::TypeKind::DeviceObjType;
      default:
        return false;
    }
  };
  bool good = bound.arguments.size() == schema.arguments().size();
  for (size_t i = 0; good && i < bound.arguments.size(); ++i)
    good = fits(bound.arguments[i], schema.arguments()[i].real_type(), fits);
  const auto& returns = schema.returns();
  if (bound.result.code == 'v') {
    good = good && returns.empty();
  } else if (bound.result.code == '(') {
    good = good && returns.size() == bound.result.children.size();
    for (size_t i = 0; good && i < returns.size(); ++i)
      good = fits(bound.result.children[i], returns[i].real_type(), fits);
  } else {
    good = good && returns.size() == 1 && fits(bound.result, returns[0].real_type(), fits);
  }
  TORCH_CHECK(good,
              "fast headers: the function isn't of the type that its schema says.\n  schema  ",
              schema);
}

void define_with(void* library, const char* schema, const char* codes, Invoke invoke, void* closure,
                 void (*free_closure)(void*)) {
  check_whole(schema);
  const auto parsed = torch::schema(schema);
  check_schema(Bound(codes, invoke, closure, nullptr), parsed);
  static_cast<torch::Library*>(library)->def(schema, boxed(codes, invoke, closure, free_closure));
}

void implement(void* library, const char* name, const char* codes, Invoke invoke, void* closure,
               void (*free_closure)(void*)) {
  static_cast<torch::Library*>(library)->impl(name, boxed(codes, invoke, closure, free_closure));
}

}  // namespace
