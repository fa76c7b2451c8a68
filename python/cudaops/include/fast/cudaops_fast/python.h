// SPDX-License-Identifier: Apache-2.0
// The part of pybind11 that modules of functions use.
#pragma once

#include "binder.h"

extern "C" {
extern void* PyExc_ImportError;
void PyErr_SetString(void* type, const char* text);
void* PyEval_SaveThread();
void PyEval_RestoreThread(void*);
}

namespace pybind11 {
inline namespace cudaops_fast_1 {

#define CUDAOPS_FAST_PY_ERROR(name, kind)                                                    \
  class name : public cudaops_fast::PyException {                                            \
   public:                                                                                   \
    name() : name("") {}                                                                     \
    explicit name(const char* text) : cudaops_fast::PyException(cudaops_fast::kind, text) {} \
    explicit name(const std::string& text)                                                   \
        : cudaops_fast::PyException(cudaops_fast::kind, text) {}                             \
  };
CUDAOPS_FAST_PY_ERROR(value_error, p_value)
CUDAOPS_FAST_PY_ERROR(index_error, p_index)
CUDAOPS_FAST_PY_ERROR(key_error, p_key)
CUDAOPS_FAST_PY_ERROR(type_error, p_type)
CUDAOPS_FAST_PY_ERROR(stop_iteration, p_stop_iteration)
CUDAOPS_FAST_PY_ERROR(attribute_error, p_attribute)
CUDAOPS_FAST_PY_ERROR(buffer_error, p_buffer)
CUDAOPS_FAST_PY_ERROR(import_error, p_import)
#undef CUDAOPS_FAST_PY_ERROR

class gil_scoped_release {
 public:
  gil_scoped_release() : state_(PyEval_SaveThread()) {}
  ~gil_scoped_release() { PyEval_RestoreThread(state_); }
  gil_scoped_release(const gil_scoped_release&) = delete;

 private:
  void* state_;
};
class gil_scoped_acquire {
 public:
  gil_scoped_acquire() : state_(PyGILState_Ensure()) {}
  ~gil_scoped_acquire() { PyGILState_Release(state_); }
  gil_scoped_acquire(const gil_scoped_acquire&) = delete;

 private:
  int state_;
};

template <class... Guard>
struct call_guard;
template <>
struct call_guard<> {};
template <>
struct call_guard<gil_scoped_release> {};
struct kw_only {};
struct pos_only {};
struct mod_gil_not_used {
  explicit mod_gil_not_used(bool flag = true) : flag(flag) {}
  bool flag;
};
// What is returned is never a pointer or a reference to Python: each of these means a copy.
enum class return_value_policy : uint8_t {
  automatic,
  automatic_reference,
  take_ownership,
  copy,
  move,
  reference,
  reference_internal
};
struct none {};

struct arg_v;
struct arg {
  explicit constexpr arg(const char* name) : name(name) {}
  template <class T>
  arg_v operator=(T&& value) const;
  arg& noconvert(bool flag = true) {
    flag_noconvert = flag;
    return *this;
  }
  arg& none(bool flag = true) {
    flag_none = flag;
    return *this;
  }
  const char* name;
  bool flag_noconvert = false;
  bool flag_none = true;
};
struct arg_v : arg {
  template <class T>
  arg_v(const char* name, T&& value, const char* description = nullptr)
      : arg_v(arg(name), std::forward<T>(value), description) {}
  template <class T>
  arg_v(const arg& base, T&& value, const char* description = nullptr)
      : arg(base), description(description) {
    set(std::forward<T>(value));
  }
  arg_v& noconvert(bool flag = true) {
    arg::noconvert(flag);
    return *this;
  }
  arg_v& none(bool flag = true) {
    arg::none(flag);
    return *this;
  }
  // A default lives as long as the module: what it owns is not given back.
  template <class T>
  void set(const T& from) {
    using D = std::decay_t<T>;
    if constexpr (std::is_same<D, std::nullopt_t>::value ||
                  std::is_same<D, pybind11::none>::value) {
      code = "v";
    } else if constexpr (std::is_convertible<const T&, const char*>::value) {
      cudaops_fast::Code<std::string>::append(code);
      cudaops_fast::Code<std::string>::set(value, from);
    } else {
      cudaops_fast::Code<D>::append(code);
      cudaops_fast::Code<D>::set(value, from);
    }
  }
  const char* description;
  std::string code;
  cudaops_fast::Value value{};
};
template <class T>
arg_v arg::operator=(T&& value) const {
  return arg_v(*this, std::forward<T>(value));
}
inline namespace literals {
constexpr arg operator""_a(const char* name, size_t) { return arg(name); }
}  // namespace literals

class module_ {
 public:
  explicit module_(void* module) : module_pointer(module) {}

  template <class F, class... Extra>
  module_& def(const char* name, F&& function, const Extra&... extra) {
    return add(name, cudaops_fast::make_closure<std::decay_t<F>>(std::forward<F>(function)), false,
               false, extra...);
  }
  template <class F, class... Extra>
  module_& def(const char* name, cudaops_fast::Wrapped<F> function, const Extra&... extra) {
    return add(name, cudaops_fast::make_closure<F>(std::move(function.function)), true,
               function.release_gil, extra...);
  }

  struct attribute {
    module_& module;
    const char* name;
    template <class T>
    void operator=(const T& value) && {
      const arg_v made("", value);
      cudaops_fast::bridge()->set_attribute(module.module_pointer, name, made.code.c_str(),
                                            &made.value);
    }
  };
  attribute attr(const char* name) { return {*this, name}; }
  struct documentation {
    module_& module;
    void operator=(const std::string& text) && {
      cudaops_fast::bridge()->set_doc(module.module_pointer, text.c_str());
    }
  };
  documentation doc() { return {*this}; }

 private:
  struct Extras {
    const char* doc = nullptr;
    bool release_gil = false;
    std::vector<cudaops_fast::Argument> arguments;
    bool keyword_only = false;
    bool positional_only = false;
  };
  static void take(Extras& extras, const char* doc) { extras.doc = doc; }
  static void take(Extras&, const call_guard<>&) {}
  static void take(Extras& extras, const call_guard<gil_scoped_release>&) {
    extras.release_gil = true;
  }
  static void take(Extras&, return_value_policy) {}
  static void take(Extras& extras, const kw_only&) { extras.keyword_only = true; }
  static void take(Extras& extras, const pos_only&) { extras.positional_only = true; }
  static void take(Extras& extras, const arg& from) { push(extras, from, nullptr); }
  static void take(Extras& extras, const arg_v& from) { push(extras, from, &from); }
  static void push(Extras& extras, const arg& from, const arg_v* with) {
    cudaops_fast::Argument made{};
    made.name = from.name;
    made.none = from.flag_none;
    made.noconvert = from.flag_noconvert;
    made.is_keyword_only = std::exchange(extras.keyword_only, false);
    made.is_positional_only = std::exchange(extras.positional_only, false);
    made.has_default = with != nullptr;
    if (with) {
      made.description = with->description;
      made.code = with->code.c_str();
      made.value = with->value;
    }
    extras.arguments.push_back(made);
  }

  template <class... Extra>
  module_& add(const char* name, cudaops_fast::Closure closure, bool wrapped, bool release_gil,
               const Extra&... extra) {
    Extras extras;
    (take(extras, extra), ...);
    cudaops_fast::Function made{};
    made.name = name;
    made.doc = extras.doc;
    made.signature = closure.signature.c_str();
    made.arguments = extras.arguments.data();
    made.argument_count = static_cast<int64_t>(extras.arguments.size());
    made.invoke = closure.invoke;
    made.closure = closure.closure;
    made.free_closure = closure.free;
    made.wrapped = wrapped;
    made.release_gil = release_gil || extras.release_gil;
    cudaops_fast::bridge()->add_function(module_pointer, &made);
    return *this;
  }

  void* module_pointer;
};
using module = module_;

}  // namespace cudaops_fast_1
}  // namespace pybind11

namespace torch {
inline namespace cudaops_fast_1 {
template <class F>
cudaops_fast::Wrapped<std::decay_t<F>> wrap_pybind_function(F&& function) {
  return {std::forward<F>(function), false};
}
template <class F>
cudaops_fast::Wrapped<std::decay_t<F>> wrap_pybind_function_no_gil(F&& function) {
  return {std::forward<F>(function), true};
}
}  // namespace cudaops_fast_1
}  // namespace torch

namespace cudaops_fast {
inline void* make_module(const char* name, void (*fill)(void*), bool gil_not_used = false) {
  try {
    return bridge()->make_module(name, gil_not_used, fill);
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_ImportError, error.what());
    return nullptr;
  }
}
inline void* make_module(const char* name, void (*fill)(void*),
                         const pybind11::mod_gil_not_used& flag) {
  return make_module(name, fill, flag.flag);
}
}  // namespace cudaops_fast

#define PYBIND11_MODULE(name, variable, ...)                                                     \
  static void CUDAOPS_FAST_CONCAT(cudaops_fast_fill_, name)(::pybind11::module_&);               \
  extern "C" __attribute__((visibility("default"))) void* CUDAOPS_FAST_CONCAT(PyInit_, name)() { \
    return ::cudaops_fast::make_module(                                                          \
        CUDAOPS_FAST_STRING(name),                                                               \
        [](void* cudaops_fast_module) {                                                          \
          ::pybind11::module_ made(cudaops_fast_module);                                         \
          CUDAOPS_FAST_CONCAT(cudaops_fast_fill_, name)(made);                                   \
        },                                                                                       \
        ##__VA_ARGS__);                                                                          \
  }                                                                                              \
  void CUDAOPS_FAST_CONCAT(cudaops_fast_fill_, name)(::pybind11::module_ & variable)
