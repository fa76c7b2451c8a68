// SPDX-License-Identifier: Apache-2.0
// Values from Python and to it, by pybind11's own casters: types are codes (binder.h).
#pragma once

#include <torch/csrc/utils/pybind.h>

#include <optional>
#include <string>

#include "values.h"

namespace {

namespace py = pybind11;

struct Type {
  char code = 0;  // t b d f s S y D L M A v, i and u with bytes; ? [ ( a with children
  int size = 0;
  std::vector<Type> children;
};

Type parse(const char*& text) {
  Type type;
  type.code = *text++;
  switch (type.code) {
    case 'i':
    case 'u':
      type.size = *text++ - '0';
      break;
    case '?':
    case '[':
      type.children.push_back(parse(text));
      break;
    case 'a':  // a<n>:X
      type.size = static_cast<int>(std::strtol(text, const_cast<char**>(&text), 10));
      ++text;
      type.children.push_back(parse(text));
      break;
    case '(':  // (X Y)
      while (*text != ')') type.children.push_back(parse(text));
      ++text;
      break;
    default:
      break;
  }
  return type;
}

// An element of a container, for pybind11's own casters of containers. Its type is the one that the
// loader is at.
struct Element {
  Value value{};
  Element() = default;
  Element(Element&& other) noexcept : value(other.value) { other.value.kind = k_none; }
  Element& operator=(Element&& other) noexcept {
    std::swap(value, other.value);
    return *this;
  }
  Element(const Element&) = delete;
  ~Element() { destroy(value); }
  Value release() {
    Value result = value;
    value.kind = k_none;
    return result;
  }
};

thread_local const Type* current = nullptr;

bool load(const Type& type, py::handle source, bool convert, Value& into);

}  // namespace

namespace pybind11::detail {
template <>
struct type_caster<Element> {
  static constexpr auto name = const_name("\x01");
  Element element;
  bool load(handle source, bool convert) {
    const Type* type = current;
    bool loaded = ::load(*type, source, convert, element.value);
    current = type;
    return loaded;
  }
  template <typename T>
  using cast_op_type = Element&&;
  operator Element&&() && { return std::move(element); }
};
}  // namespace pybind11::detail

namespace {

struct Current {
  const Type* before = current;
  explicit Current(const Type* type) { current = type; }
  ~Current() { current = before; }
};

template <class T>
bool load_number(py::handle source, bool convert, Value& into, Kind kind) {
  py::detail::make_caster<T> caster;
  if (!caster.load(source, convert)) return false;
  into.kind = kind;
  if constexpr (std::is_floating_point_v<T>) {
    into.d = static_cast<T>(caster);
  } else {
    into.i = static_cast<int64_t>(static_cast<T>(caster));
  }
  return true;
}

bool load_integer(const Type& type, py::handle source, bool convert, Value& into) {
  if (type.code == 'i') {
    switch (type.size) {
      case 1:
        return load_number<signed char>(source, convert, into, k_int);
      case 2:
        return load_number<int16_t>(source, convert, into, k_int);
      case 4:
        return load_number<int32_t>(source, convert, into, k_int);
      default:
        return load_number<int64_t>(source, convert, into, k_int);
    }
  }
  switch (type.size) {
    case 1:
      return load_number<unsigned char>(source, convert, into, k_uint);
    case 2:
      return load_number<uint16_t>(source, convert, into, k_uint);
    case 4:
      return load_number<uint32_t>(source, convert, into, k_uint);
    default:
      return load_number<uint64_t>(source, convert, into, k_uint);
  }
}

// As pybind11's tuple_caster: as many elements, each by its own caster.
bool load_tuple(const Type& type, py::handle source, bool convert, Value& into) {
  if (!py::isinstance<py::sequence>(source)) return false;
  const auto sequence = py::reinterpret_borrow<py::sequence>(source);
  if (sequence.size() != type.children.size()) return false;
  into = of_list(type.children.size());
  for (size_t i = 0; i < type.children.size(); ++i) {
    if (!load(type.children[i], sequence[i], convert, item(into, i))) return false;
  }
  return true;
}

bool load(const Type& type, py::handle source, bool convert, Value& into) {
  switch (type.code) {
    case 't': {
      py::detail::make_caster<at::Tensor> caster;
      if (!caster.load(source, convert)) return false;
      into = of_tensor(std::move(static_cast<at::Tensor&>(caster)));
      return true;
    }
    case 'b':
      return load_number<bool>(source, convert, into, k_bool);
    case 'd':
      return load_number<double>(source, convert, into, k_double);
    case 'f':
      return load_number<float>(source, convert, into, k_double);
    case 'i':
    case 'u':
      return load_integer(type, source, convert, into);
    case 's': {
      py::detail::make_caster<std::string> caster;
      if (!caster.load(source, convert)) return false;
      const std::string& text = static_cast<std::string&>(caster);
      into = of_string(text.data(), text.size());
      return true;
    }
    case 'S': {
      py::detail::make_caster<c10::Scalar> caster;
      if (!caster.load(source, convert)) return false;
      into = of_scalar(static_cast<c10::Scalar&>(caster));
      return true;
    }
    case 'y': {
      py::detail::make_caster<at::ScalarType> caster;
      if (!caster.load(source, convert)) return false;
      into = of_int(k_dtype, static_cast<int64_t>(static_cast<at::ScalarType&>(caster)));
      return true;
    }
    case 'D': {
      py::detail::make_caster<at::Device> caster;
      if (!caster.load(source, convert)) return false;
      const at::Device found = static_cast<at::Device&>(caster);
      into = of_int(k_device, static_cast<int64_t>(found.type()), found.index());
      return true;
    }
    case 'A': {
      py::detail::make_caster<at::IntArrayRef> caster;
      if (!caster.load(source, convert)) return false;
      const at::IntArrayRef found = static_cast<at::IntArrayRef&>(caster);
      into.kind = k_ints;
      into.p = allocate(found.size() * sizeof(int64_t));
      into.n = static_cast<int64_t>(found.size());
      std::copy(found.begin(), found.end(), static_cast<int64_t*>(into.p));
      return true;
    }
    case '?': {
      if (!source) return false;
      if (source.is_none()) {
        into.kind = k_none;
        return true;
      }
      return load(type.children[0], source, convert, into);
    }
    case '[': {
      Current at(&type.children[0]);
      py::detail::list_caster<std::vector<Element>, Element> caster;
      if (!caster.load(source, convert)) return false;
      auto& elements = static_cast<std::vector<Element>&>(caster);
      into = of_list(elements.size());
      for (size_t i = 0; i < elements.size(); ++i) item(into, i) = elements[i].release();
      return true;
    }
    case '(':
      return load_tuple(type, source, convert, into);
    default:
      throw std::logic_error(std::string("fast headers: an argument of type ") + type.code);
  }
}

// A result to Python; what it owns goes with it.
py::object to_python(const Type& type, Value& value) {
  const auto policy = py::return_value_policy::move;
  auto steal = [](py::handle made) {
    if (!made) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(made);
  };
  switch (type.code) {
    case 'v':
      return py::none();
    case 't':
      return steal(py::detail::make_caster<at::Tensor>::cast(tensor(value), policy, {}));
    case 'b':
      return py::bool_(value.i != 0);
    case 'd':
    case 'f':
      return py::float_(value.d);
    case 'i':
      return steal(PyLong_FromLongLong(value.i));
    case 'u':
      return steal(PyLong_FromUnsignedLongLong(static_cast<uint64_t>(value.i)));
    case 's':
      return steal(PyUnicode_DecodeUTF8(static_cast<char*>(value.p), value.n, nullptr));
    case 'S':
      return steal(py::detail::make_caster<c10::Scalar>::cast(scalar(value), policy, {}));
    case 'y':
      return steal(py::detail::make_caster<at::ScalarType>::cast(
          static_cast<at::ScalarType>(value.i), policy, {}));
    case 'D':
      return steal(py::detail::make_caster<at::Device>::cast(device(value), policy, {}));
    case 'A':
      return steal(py::detail::make_caster<at::IntArrayRef>::cast(
          at::IntArrayRef(static_cast<const int64_t*>(value.p), static_cast<size_t>(value.n)),
          policy, {}));
    case '?':
      return value.kind == k_none ? py::object(py::none()) : to_python(type.children[0], value);
    case '[': {
      py::list list(static_cast<size_t>(value.n));
      for (size_t i = 0; i < static_cast<size_t>(value.n); ++i) {
        PyList_SET_ITEM(list.ptr(), i, to_python(type.children[0], item(value, i)).release().ptr());
      }
      return list;
    }
    case '(': {
      py::tuple tuple(static_cast<size_t>(value.n));
      for (size_t i = 0; i < static_cast<size_t>(value.n); ++i) {
        PyTuple_SET_ITEM(tuple.ptr(), i,
                         to_python(type.children[i], item(value, i)).release().ptr());
      }
      return tuple;
    }
    default:
      throw std::logic_error(std::string("fast headers: a result of type ") + type.code);
  }
}

// As pybind11 writes it into signatures.
std::string name_of(const Type& type) {
  using py::detail::make_caster;
  auto within = [&](std::string text) {
    const std::string child = name_of(type.children[0]);
    for (size_t at; (at = text.find('\x01')) != std::string::npos;) text.replace(at, 1, child);
    return text;
  };
  switch (type.code) {
    case 't':
      return make_caster<at::Tensor>::name.text;
    case 'b':
      return make_caster<bool>::name.text;
    case 'd':
    case 'f':
      return make_caster<double>::name.text;
    case 'i':
    case 'u':
      return make_caster<int64_t>::name.text;
    case 's':
      return make_caster<std::string>::name.text;
    case 'S':
      return make_caster<c10::Scalar>::name.text;
    case 'y':
      return make_caster<at::ScalarType>::name.text;
    case 'D':
      return make_caster<at::Device>::name.text;
    case 'A':
      return make_caster<at::IntArrayRef>::name.text;
    case 'v':
      return make_caster<py::detail::void_type>::name.text;
    case '?':
      return within(py::detail::optional_caster<std::optional<Element>, Element>::name.text);
    case '[':
      return within(py::detail::list_caster<std::vector<Element>, Element>::name.text);
    default: {
      if (type.children.empty()) return "tuple[()]";
      std::string text = "tuple[";
      for (size_t i = 0; i < type.children.size(); ++i)
        text += (i ? ", " : "") + name_of(type.children[i]);
      return text + "]";
    }
  }
}

}  // namespace
