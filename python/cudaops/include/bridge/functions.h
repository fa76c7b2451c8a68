// SPDX-License-Identifier: Apache-2.0
// Modules of Python, and their functions: overloads, default values and docs are pybind11's own.
#pragma once

#include <torch/csrc/Exceptions.h>

#include <memory>
#include <string>
#include <vector>

#include "casters.h"

namespace {

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
    Value* values = owner.values();
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

}  // namespace
