// SPDX-License-Identifier: Apache-2.0
// The bridge between modules with fast headers and torch, compiled with torch's and pybind11's own
// headers, once for each torch. What a module asks for is done here by the code that torch's
// headers would have brought into the module itself: type casters, overloads, translation of
// exceptions, dispatch.
#define AT_PER_OPERATOR_HEADERS
#include "../fast/cudaops_fast/bridge.h"

#include <ATen/Parallel.h>
#include <ATen/core/Formatting.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/library.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace cudaops_fast;
namespace py = pybind11;

static_assert(sizeof(at::Tensor) == sizeof(Impl) && alignof(at::Tensor) == alignof(Impl));

const at::Tensor& tensor(Ref ref) { return *reinterpret_cast<const at::Tensor*>(ref); }

const at::Tensor& tensor(const Value& value) {
  return *reinterpret_cast<const at::Tensor*>(&value.p);
}

// The bits of a tensor that nobody else owns.
Impl owned(at::Tensor value) {
  Impl bits;
  new (&bits) at::Tensor(std::move(value));
  return bits;
}

at::Tensor take(Impl bits) {
  at::Tensor* found = reinterpret_cast<at::Tensor*>(&bits);
  at::Tensor result = std::move(*found);
  found->~Tensor();
  return result;
}

void* allocate(size_t size) {
  void* found = std::malloc(size ? size : 1);
  if (!found) throw std::bad_alloc();
  return found;
}

// What a result owns.
void destroy(Value& value) {
  if (value.kind == k_tensor) {
    take(value.p);
  } else if (value.kind == k_list) {
    for (int64_t i = 0; i < value.n; ++i) destroy(static_cast<Value*>(value.p)[i]);
    std::free(value.p);
  } else if (value.kind == k_string || value.kind == k_ints) {
    std::free(value.p);
  }
  value.kind = k_none;
}

struct Owner {
  std::vector<Value> values;
  explicit Owner(size_t count) : values(count, Value{}) {}
  Owner(const Owner&) = delete;
  ~Owner() {
    for (Value& value : values) destroy(value);
  }
};

Value of_string(const char* text, size_t length) {
  Value value{};
  value.kind = k_string;
  value.p = allocate(length + 1);
  std::memcpy(value.p, text, length);
  static_cast<char*>(value.p)[length] = 0;
  value.n = static_cast<int64_t>(length);
  return value;
}

Value of_tensor(at::Tensor from) {
  Value value{};
  value.kind = k_tensor;
  value.p = owned(std::move(from));
  return value;
}

Value of_int(Kind kind, int64_t from, int64_t n = 0) {
  Value value{};
  value.kind = kind;
  value.i = from;
  value.n = n;
  return value;
}

Value of_double(double from, Kind kind = k_double, double e = 0) {
  Value value{};
  value.kind = kind;
  value.d = from;
  value.e = e;
  return value;
}

Value of_list(size_t count) {
  Value value{};
  value.kind = k_list;
  value.p = std::calloc(count ? count : 1, sizeof(Value));
  if (!value.p) throw std::bad_alloc();
  value.n = static_cast<int64_t>(count);
  return value;
}

Value& item(Value& list, size_t i) { return static_cast<Value*>(list.p)[i]; }

c10::Scalar scalar(const Value& value) {
  switch (value.kind) {
    case k_int:
      return c10::Scalar(value.i);
    case k_uint:
      return c10::Scalar(static_cast<uint64_t>(value.i));
    case k_double:
      return c10::Scalar(value.d);
    case k_bool:
      return c10::Scalar(value.i != 0);
    case k_complex:
      return c10::Scalar(c10::complex<double>(value.d, value.e));
    default:
      TORCH_CHECK(false, "fast headers: a value of kind ", int(value.kind), " is no Scalar");
  }
}

Value of_scalar(const c10::Scalar& from) {
  TORCH_CHECK(!from.isSymbolic(), "fast headers: a symbolic number");
  if (from.isBoolean()) return of_int(k_bool, from.toBool());
  if (from.isFloatingPoint()) return of_double(from.toDouble());
  if (from.isComplex()) {
    auto complex = from.toComplexDouble();
    return of_double(complex.real(), k_complex, complex.imag());
  }
  if (from.type() == c10::ScalarType::UInt64)
    return of_int(k_uint, static_cast<int64_t>(from.toUInt64()));
  return of_int(k_int, from.toLong());
}

c10::Device device(const Value& value) {
  return c10::Device(static_cast<c10::DeviceType>(value.i), static_cast<c10::DeviceIndex>(value.n));
}

// --- types by their codes (binder.h) ---

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

struct Bound {
  std::string signature;
  Type result;
  std::vector<Type> arguments;
  Invoke invoke;
  void* closure;
  void (*free_closure)(void*);
  bool wrapped;
  bool release_gil;

  Bound(const char* codes, Invoke invoke, void* closure, void (*free_closure)(void*),
        bool wrapped = false, bool release_gil = false)
      : signature(codes),
        invoke(invoke),
        closure(closure),
        free_closure(free_closure),
        wrapped(wrapped),
        release_gil(release_gil) {
    const char* text = signature.c_str();
    result = parse(text);
    while (*text) arguments.push_back(parse(text));
  }
  Bound(const Bound&) = delete;
  ~Bound() {
    if (free_closure) free_closure(closure);
  }

  void run(Value* values, Value* into) const {
    if (release_gil) {
      py::gil_scoped_release release;
      invoke(closure, values, into);
    } else {
      invoke(closure, values, into);
    }
  }

  void run_wrapped(Value* values, Value* into) const {
    HANDLE_TH_ERRORS
    run(values, into);
    END_HANDLE_TH_ERRORS_PYBIND
  }
};

class Callable : public py::cpp_function {
 public:
  Callable(py::module_ module, const Function& from) {
    auto bound = std::make_unique<Bound>(from.signature, from.invoke, from.closure,
                                         from.free_closure, from.wrapped, from.release_gil);
    const size_t count = bound->arguments.size();
    auto unique_record = make_function_record();
    auto* record = unique_record.get();
    const py::object before = py::getattr(module, from.name, py::none());
    record->name = const_cast<char*>(from.name);
    record->scope = module;
    record->sibling = before;
    if (from.doc) record->doc = const_cast<char*>(from.doc);
    std::string text = "(";
    for (size_t i = 0; i < count; ++i)
      text += (i ? ", {" : "{") + name_of(bound->arguments[i]) + "}";
    text += ") -> " + name_of(bound->result);
    record->nargs_pos = static_cast<uint16_t>(count);
    for (int64_t i = 0; i < from.argument_count; ++i) {
      const Argument& argument = from.arguments[i];
      if (argument.is_keyword_only) {
        py::detail::process_attribute<py::kw_only>::init(py::kw_only(), record);
      }
      if (argument.is_positional_only) {
        py::detail::process_attribute<py::pos_only>::init(py::pos_only(), record);
      }
      if (argument.has_default) {
        Value value = argument.value;
        const char* code = argument.code;
        py::object object = to_python(parse(code), value);
        py::arg_v named(argument.name, std::move(object), argument.description);
        named.noconvert(argument.noconvert).none(argument.none);
        py::detail::process_attribute<py::arg_v>::init(named, record);
      } else {
        py::arg named(argument.name);
        named.noconvert(argument.noconvert).none(argument.none);
        py::detail::process_attribute<py::arg>::init(named, record);
      }
    }
    const std::vector<const std::type_info*> types(1, nullptr);
    record->impl = call;
    record->data[0] = bound.release();
    record->free_data = [](py::detail::function_record* r) {
      delete static_cast<Bound*>(r->data[0]);
    };
    initialize_generic(std::move(unique_record), text.c_str(), types.data(), count);
  }

 private:
  static py::handle call(py::detail::function_call& call) {
    const Bound& bound = *static_cast<const Bound*>(call.func.data[0]);
    Owner owner(bound.arguments.size() + 1);
    Value* values = owner.values.data();
    for (size_t i = 0; i < bound.arguments.size(); ++i) {
      if (!load(bound.arguments[i], call.args[i], call.args_convert[i], values[i + 1]))
        return PYBIND11_TRY_NEXT_OVERLOAD;
    }
    if (bound.wrapped) {
      bound.run_wrapped(values + 1, values);
    } else {
      bound.run(values + 1, values);
    }
    return to_python(bound.result, values[0]).release();
  }
};

// --- the dispatcher ---

c10::IValue to_ivalue(const Value& value, const c10::TypePtr& wanted) {
  c10::TypePtr type = wanted;
  if (const auto optional = type->cast<c10::OptionalType>()) {
    if (value.kind == k_none) return c10::IValue();
    type = optional->getElementType();
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
      const auto list = type->cast<c10::ListType>();
      TORCH_CHECK(list, "fast headers: a list for ", type->str());
      const auto* items = static_cast<const Value*>(value.p);
      const c10::TypePtr element = list->getElementType();
      if (element->kind() == c10::TypeKind::TensorType) {
        c10::List<at::Tensor> tensors;
        for (int64_t i = 0; i < value.n; ++i) tensors.push_back(tensor(items[i]));
        return tensors;
      }
      c10::impl::GenericList generic(element);
      for (int64_t i = 0; i < value.n; ++i) generic.push_back(to_ivalue(items[i], element));
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

const void* find_op(const char* name, const char* overload) {
  return new c10::OperatorHandle(c10::Dispatcher::singleton().findSchemaOrThrow(name, overload));
}

void call_op(const void* op, const Value* arguments, int64_t count, Value* results,
             int64_t result_count) {
  const auto& handle = *static_cast<const c10::OperatorHandle*>(op);
  const auto& formal = handle.schema().arguments();
  torch::jit::Stack stack;
  stack.reserve(formal.size());
  for (int64_t i = 0; i < count; ++i)
    stack.push_back(to_ivalue(arguments[i], formal[static_cast<size_t>(i)].type()));
  for (size_t i = static_cast<size_t>(count); i < formal.size(); ++i)
    stack.push_back(*formal[i].default_value());
  handle.callBoxed(stack);
  TORCH_INTERNAL_ASSERT(static_cast<int64_t>(stack.size()) >= result_count);
  for (int64_t i = 0; i < result_count; ++i)
    results[i] = of_ivalue(std::move(stack[static_cast<size_t>(i)]));
}

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
    Value* values = owner.values.data();
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

// Types that a text can name.
#define CUDAOPS_TYPES(_)                 \
  _(uint8_t, Byte)                       \
  _(int8_t, Char)                        \
  _(int16_t, Short)                      \
  _(int, Int)                            \
  _(int64_t, Long)                       \
  _(at::Half, Half)                      \
  _(float, Float)                        \
  _(double, Double)                      \
  _(c10::complex<float>, ComplexFloat)   \
  _(c10::complex<double>, ComplexDouble) \
  _(bool, Bool)                          \
  _(at::BFloat16, BFloat16)              \
  _(uint16_t, UInt16)                    \
  _(uint32_t, UInt32)                    \
  _(uint64_t, UInt64)

// --- tensors ---

int64_t query(Ref ref, Query what) {
  const at::Tensor& self = tensor(ref);
  switch (what) {
    case q_dim:
      return self.dim();
    case q_numel:
      return self.numel();
    case q_dtype:
      return static_cast<int64_t>(self.scalar_type());
    case q_layout:
      return static_cast<int64_t>(self.layout());
    case q_device_type:
      return static_cast<int64_t>(self.device().type());
    case q_device_index:
      return self.device().index();
    case q_storage_offset:
      return self.storage_offset();
    case q_element_size:
      return self.element_size();
    case q_requires_grad:
      return self.requires_grad();
    case q_is_leaf:
      return self.is_leaf();
    case q_is_sparse:
      return self.is_sparse();
    case q_has_storage:
      return self.has_storage();
    case q_is_conj:
      return self.is_conj();
    case q_is_neg:
      return self.is_neg();
    case q_use_count:
      return static_cast<int64_t>(self.use_count());
    case q_version:
      return static_cast<int64_t>(self._version());
    case q_is_pinned:
      return self.is_pinned();
    case q_is_inference:
      return self.is_inference();
    case q_is_non_overlapping_and_dense:
      return self.is_non_overlapping_and_dense();
    case q_get_device:
      return self.get_device();
    case q_is_cuda:
      return self.is_cuda();
    case q_is_cpu:
      return self.is_cpu();
    case q_is_meta:
      return self.is_meta();
    case q_is_floating_point:
      return self.is_floating_point();
    case q_is_signed:
      return self.is_signed();
    case q_type:
      return self.type().is_cuda();
  }
  return 0;
}

void* data(Ref ref, int32_t dtype, bool is_const) {
  const at::Tensor& self = tensor(ref);
  if (dtype < 0) return is_const ? const_cast<void*>(self.const_data_ptr()) : self.data_ptr();
  switch (static_cast<at::ScalarType>(dtype)) {
#define CUDAOPS_CASE(type, name)                                                               \
  case at::ScalarType::name:                                                                   \
    return is_const ? const_cast<void*>(static_cast<const void*>(self.const_data_ptr<type>())) \
                    : self.data_ptr<type>();
    CUDAOPS_TYPES(CUDAOPS_CASE)
#undef CUDAOPS_CASE
    default:
      TORCH_CHECK(false, "fast headers: data_ptr() of dtype ", dtype);
  }
}

// Of dtype, layout, device, pinned memory, requires_grad and memory format, or none of each.
at::TensorOptions options_of(const Value* options) {
  at::TensorOptions with;
  if (options[0].kind != k_none) with = with.dtype(static_cast<at::ScalarType>(options[0].i));
  if (options[1].kind != k_none) with = with.layout(static_cast<at::Layout>(options[1].i));
  if (options[2].kind != k_none) with = with.device(device(options[2]));
  if (options[3].kind != k_none) with = with.pinned_memory(options[3].i != 0);
  if (options[4].kind != k_none) with = with.requires_grad(options[4].i != 0);
  if (options[5].kind != k_none)
    with = with.memory_format(static_cast<at::MemoryFormat>(options[5].i));
  return with;
}

template <class T>
char* printed(const T& value, int64_t* length) {
  std::ostringstream stream;
  stream << value;
  const std::string text = stream.str();
  const Value made = of_string(text.data(), text.size());
  *length = made.n;
  return static_cast<char*>(made.p);
}

Impl from_blob(void* memory, const int64_t* sizes, int64_t count, const int64_t* strides,
               int64_t stride_count, const Value* options, void (*deleter)(void*, void*),
               void* context) {
  const at::TensorOptions with =
      options_of(options).requires_grad(std::nullopt).memory_format(std::nullopt);
  const bool requires_grad = options[4].kind != k_none && options[4].i;
  const at::IntArrayRef shape(sizes, static_cast<size_t>(count));
  at::Tensor made = [&] {
    at::AutoDispatchBelowADInplaceOrView guard;
    at::TensorMaker maker = at::for_blob(memory, shape);
    maker.options(with);
    if (strides) maker.strides(at::IntArrayRef(strides, static_cast<size_t>(stride_count)));
    if (deleter) maker.deleter([deleter, context](void* freed) { deleter(freed, context); });
    return maker.make_tensor();
  }();
  return owned(torch::autograd::make_variable(made, requires_grad));
}

[[noreturn]] void fail(Error kind, const char* function, const char* file, uint32_t line,
                       const char* condition, const char* text, size_t length) {
  const std::string message(text, length);
  const c10::SourceLocation where = {function, file, line};
  switch (kind) {
    case e_index:
      throw c10::IndexError(where, message);
    case e_value:
      throw c10::ValueError(where, message);
    case e_type:
      throw c10::TypeError(where, message);
    case e_not_implemented:
      throw c10::NotImplementedError(where, message);
    case e_assert:
      c10::detail::torchInternalAssertFail(function, file, line, condition, message);
    default:
      c10::detail::torchCheckFail(function, file, line, message);
  }
}

[[noreturn]] void fail_py(PyError kind, const char* text) {
  switch (kind) {
    case p_value:
      throw py::value_error(text);
    case p_index:
      throw py::index_error(text);
    case p_key:
      throw py::key_error(text);
    case p_type:
      throw py::type_error(text);
    case p_stop_iteration:
      throw py::stop_iteration(text);
    case p_attribute:
      throw py::attribute_error(text);
    case p_buffer:
      throw py::buffer_error(text);
    case p_import:
      throw py::import_error(text);
    default:
      throw py::cast_error(text);
  }
}

// --- devices ---

struct Guard {
  c10::impl::VirtualGuardImpl impl;
  c10::Device before;

  Guard(c10::DeviceType type, int64_t index) : impl(type), before(impl.getDevice()) {
    if (index >= 0) impl.setDevice(c10::Device(type, static_cast<c10::DeviceIndex>(index)));
  }
  ~Guard() { impl.uncheckedSetDevice(before); }
};

// A function of torch's C interface for CUDA. It isn't linked: the bridge is the same for a torch
// without CUDA.
template <class F>
F cuda_function(const char* name) {
  void* library = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
  return library ? reinterpret_cast<F>(dlsym(library, name)) : nullptr;
}

void current_stream(int32_t type, int64_t index, int64_t* id, int64_t* found_index, void** native) {
  const c10::impl::VirtualGuardImpl impl(static_cast<c10::DeviceType>(type));
  const c10::Device wanted = index < 0 ? impl.getDevice()
                                       : c10::Device(static_cast<c10::DeviceType>(type),
                                                     static_cast<c10::DeviceIndex>(index));
  const c10::Stream stream = impl.getStream(wanted);
  *id = stream.id();
  *found_index = stream.device_index();
  static const auto ask =
      cuda_function<int32_t (*)(int32_t, void**)>("aoti_torch_get_current_cuda_stream");
  TORCH_CHECK(ask, "fast headers: this torch has no CUDA");
  TORCH_CHECK(ask(static_cast<int32_t>(*found_index), native) == 0,
              "fast headers: no current stream of device ", *found_index);
}

void check_cuda(int32_t error, const char* file, const char* function, uint32_t line) {
  using Check = int32_t (*)(int32_t, const char*, const char*, uint32_t, bool, char**);
  static const auto check = cuda_function<Check>("torch_c10_cuda_check_msg");
  static const auto free_text = cuda_function<void (*)(char*)>("torch_c10_cuda_free_error_msg");
  if (!check) {
    TORCH_CHECK(error == 0, "fast headers: CUDA error ", error, " in a torch that has no CUDA");
    return;
  }
  char* text = nullptr;
  check(error, file, function, line, true, &text);
  if (!text) return;
  const std::string message(text);
  free_text(text);
  throw c10::AcceleratorError(c10::SourceLocation{function, file, line}, error, message);
}

// --- modules ---

void* make_module(const char* name, bool gil_not_used, void (*fill)(void*)) {
  try {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    auto module = py::module_::create_extension_module(name, nullptr, new PyModuleDef(),
                                                       py::mod_gil_not_used(gil_not_used));
#pragma GCC diagnostic pop
    fill(&module);
    return module.release().ptr();
  }
  PYBIND11_CATCH_INIT_EXCEPTIONS
  return nullptr;
}

void add_function(void* module, const Function* function) {
  auto& into = *static_cast<py::module_*>(module);
  Callable made(into, *function);
  into.add_object(function->name, made, true);
}

void set_attribute(void* module, const char* name, const char* codes, const Value* value) {
  Value copy = *value;
  static_cast<py::module_*>(module)->attr(name) = to_python(parse(codes), copy);
}

template <class T>
void convert_to(const c10::Scalar& from, Value* result) {
  if constexpr (std::is_integral_v<T>) {
    *result = of_int(k_int, static_cast<int64_t>(from.to<T>()));
  } else if constexpr (c10::is_complex<T>::value) {
    const c10::complex<double> made(from.to<T>());
    *result = of_double(made.real(), k_complex, made.imag());
  } else {
    *result = of_double(static_cast<double>(from.to<T>()));
  }
}

void convert(const Value* from, int32_t dtype, Value* result) {
  switch (static_cast<at::ScalarType>(dtype)) {
#define CUDAOPS_CASE(type, name) \
  case at::ScalarType::name:     \
    return convert_to<type>(scalar(*from), result);
    CUDAOPS_TYPES(CUDAOPS_CASE)
#undef CUDAOPS_CASE
    default:
      TORCH_CHECK(false, "fast headers: Scalar::to() of dtype ", dtype);
  }
}

// What the headers spell themselves.
#define CUDAOPS_SAME(type, name, number) static_assert(static_cast<int>(type::name) == number);
CUDAOPS_SAME(c10::ScalarType, Byte, 0)
CUDAOPS_SAME(c10::ScalarType, Char, 1)
CUDAOPS_SAME(c10::ScalarType, Short, 2)
CUDAOPS_SAME(c10::ScalarType, Int, 3)
CUDAOPS_SAME(c10::ScalarType, Long, 4)
CUDAOPS_SAME(c10::ScalarType, Half, 5)
CUDAOPS_SAME(c10::ScalarType, Float, 6)
CUDAOPS_SAME(c10::ScalarType, Double, 7)
CUDAOPS_SAME(c10::ScalarType, ComplexHalf, 8)
CUDAOPS_SAME(c10::ScalarType, ComplexFloat, 9)
CUDAOPS_SAME(c10::ScalarType, ComplexDouble, 10)
CUDAOPS_SAME(c10::ScalarType, Bool, 11)
CUDAOPS_SAME(c10::ScalarType, BFloat16, 15)
CUDAOPS_SAME(c10::ScalarType, Float8_e5m2, 23)
CUDAOPS_SAME(c10::ScalarType, Float8_e4m3fn, 24)
CUDAOPS_SAME(c10::ScalarType, Float8_e5m2fnuz, 25)
CUDAOPS_SAME(c10::ScalarType, Float8_e4m3fnuz, 26)
CUDAOPS_SAME(c10::ScalarType, UInt16, 27)
CUDAOPS_SAME(c10::ScalarType, UInt32, 28)
CUDAOPS_SAME(c10::ScalarType, UInt64, 29)
CUDAOPS_SAME(c10::DeviceType, CPU, 0)
CUDAOPS_SAME(c10::DeviceType, CUDA, 1)
CUDAOPS_SAME(c10::DeviceType, XPU, 12)
CUDAOPS_SAME(c10::DeviceType, MPS, 13)
CUDAOPS_SAME(c10::DeviceType, Meta, 14)
CUDAOPS_SAME(c10::DeviceType, HPU, 15)
CUDAOPS_SAME(c10::DeviceType, PrivateUse1, 20)
CUDAOPS_SAME(c10::Layout, Strided, 0)
CUDAOPS_SAME(c10::Layout, Sparse, 1)
CUDAOPS_SAME(c10::Layout, SparseCsr, 2)
CUDAOPS_SAME(c10::Layout, Mkldnn, 3)
CUDAOPS_SAME(c10::Layout, SparseCsc, 4)
CUDAOPS_SAME(c10::Layout, SparseBsr, 5)
CUDAOPS_SAME(c10::Layout, SparseBsc, 6)
CUDAOPS_SAME(c10::Layout, Jagged, 7)
CUDAOPS_SAME(c10::MemoryFormat, Contiguous, 0)
CUDAOPS_SAME(c10::MemoryFormat, Preserve, 1)
CUDAOPS_SAME(c10::MemoryFormat, ChannelsLast, 2)
CUDAOPS_SAME(c10::MemoryFormat, ChannelsLast3d, 3)
#undef CUDAOPS_SAME

Bridge table() {
  Bridge made{};
  made.version = bridge_version;
  made.undefined = owned(at::Tensor());
  made.retain = [](Impl bits) { owned(tensor(&bits)); };
  made.release = [](Impl bits) { take(bits); };
  made.sizes = [](Ref ref, int64_t* count) {
    const auto found = tensor(ref).sizes();
    *count = static_cast<int64_t>(found.size());
    return found.data();
  };
  made.strides = [](Ref ref, int64_t* count) {
    const auto found = tensor(ref).strides();
    *count = static_cast<int64_t>(found.size());
    return found.data();
  };
  made.size = [](Ref ref, int64_t dim) { return tensor(ref).size(dim); };
  made.stride = [](Ref ref, int64_t dim) { return tensor(ref).stride(dim); };
  made.query = query;
  made.is_contiguous = [](Ref ref, int32_t format) {
    return tensor(ref).is_contiguous(static_cast<at::MemoryFormat>(format));
  };
  made.data = data;
  made.set_requires_grad = [](Ref ref, bool value) { tensor(ref).set_requires_grad(value); };
  made.grad = [](Ref ref) { return owned(tensor(ref).grad()); };
  made.make_variable = [](Impl* bits, bool requires_grad) {
    *bits = owned(torch::autograd::make_variable(take(*bits), requires_grad));
  };
  made.from_blob = from_blob;
  made.print = [](Ref ref, int64_t* length) { return printed(tensor(ref), length); };
  made.print_options = [](const Value* options, int64_t* length) {
    return printed(options_of(options), length);
  };
  made.find_op = find_op;
  made.call = call_op;
  made.default_dtype = [] {
    return static_cast<int32_t>(c10::typeMetaToScalarType(c10::get_default_dtype()));
  };
  made.dtype_name = [](int32_t type) { return c10::toString(static_cast<c10::ScalarType>(type)); };
  made.type_name = [](int32_t type, int64_t* length) {
    const auto name = c10::scalarTypeToTypeMeta(static_cast<c10::ScalarType>(type)).name();
    *length = static_cast<int64_t>(name.size());
    return name.data();
  };
  made.dtype_size = [](int32_t type) {
    return static_cast<int64_t>(c10::elementSize(static_cast<c10::ScalarType>(type)));
  };
  made.device_name = [](int32_t type, bool lower) {
    // As many as there are device types, kept.
    static auto& names = *new std::map<std::pair<int32_t, bool>, std::string>();
    static auto& mutex = *new std::mutex();
    const std::lock_guard<std::mutex> lock(mutex);
    auto& name = names[{type, lower}];
    if (name.empty()) name = c10::DeviceTypeName(static_cast<c10::DeviceType>(type), lower);
    return name.c_str();
  };
  made.convert = convert;
  made.new_below = []() -> void* { return new at::AutoDispatchBelowADInplaceOrView(); };
  made.delete_below = [](void* guard) {
    delete static_cast<at::AutoDispatchBelowADInplaceOrView*>(guard);
  };
  made.fail = fail;
  made.fail_py = fail_py;
  made.warn = [](const char* function, const char* file, uint32_t line, const char* text,
                 size_t length) {
    c10::warn(
        c10::Warning(c10::UserWarning(), {function, file, line}, std::string(text, length), false));
  };
  made.parallel_for = [](int64_t begin, int64_t end, int64_t grain,
                         void (*body)(void*, int64_t, int64_t), void* closure) {
    at::parallel_for(begin, end, grain, [&](int64_t from, int64_t to) { body(closure, from, to); });
  };
  made.threads = [](int what) -> int64_t {
    return what ? at::get_thread_num() : at::get_num_threads();
  };
  made.grad_mode = [](int set) {
    const bool before = c10::GradMode::is_enabled();
    if (set >= 0) c10::GradMode::set_enabled(set != 0);
    return before;
  };
  made.new_guard = [](int32_t type, int64_t index) -> void* {
    return new Guard(static_cast<c10::DeviceType>(type), index);
  };
  made.check_cuda = check_cuda;
  made.delete_guard = [](void* guard) { delete static_cast<Guard*>(guard); };
  made.current_stream = current_stream;
  made.current_device = [](int32_t type) -> int64_t {
    return c10::impl::VirtualGuardImpl(static_cast<c10::DeviceType>(type)).getDevice().index();
  };
  made.device_count = [](int32_t type) -> int64_t {
    return c10::impl::hasDeviceGuardImpl(static_cast<c10::DeviceType>(type))
               ? c10::impl::VirtualGuardImpl(static_cast<c10::DeviceType>(type)).deviceCount()
               : 0;
  };
  made.device_of_string = [](const char* text, int64_t* type, int64_t* index) {
    const c10::Device found{std::string(text)};
    *type = static_cast<int64_t>(found.type());
    *index = found.index();
  };
  made.make_module = make_module;
  made.add_function = add_function;
  made.set_attribute = set_attribute;
  made.set_doc = [](void* module, const char* text) {
    static_cast<py::module_*>(module)->doc() = text;
  };
  made.open_library = open_library;
  made.define = [](void* library, const char* schema) {
    check_whole(schema);
    static_cast<torch::Library*>(library)->def(schema);
  };
  made.define_with = define_with;
  made.close_library = [](void* library) { delete static_cast<torch::Library*>(library); };
  made.implement = implement;
  return made;
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  static Bridge bridge = table();
  m.attr("table") = py::capsule(&bridge, "cudaops._fast_bridge.table");
}
