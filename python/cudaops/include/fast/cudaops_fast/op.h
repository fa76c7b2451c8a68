// SPDX-License-Identifier: Apache-2.0
// Calls of torch's ops: their names, and arguments and results as the bridge has them.
#pragma once

#include "accessor.h"
#include "core.h"

namespace at {
inline namespace cudaops_fast_1 {
class Tensor;
class DeprecatedTypeProperties;
// Torch's ops take one; here there is none to give.
class Generator {
  Generator() = delete;
};
}  // namespace cudaops_fast_1
}  // namespace at

namespace cudaops_fast {

struct Op {
  const char* name;
  const char* overload;
  const void* found;
  const void* get() {
    const void* op = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
    if (!op) {
      op = bridge()->find_op(name, overload);
      __atomic_store_n(&found, op, __ATOMIC_RELEASE);
    }
    return op;
  }
};

inline Value value_of(Kind kind, int64_t i, int64_t n = 0) {
  Value made;
  made.kind = kind;
  made.i = i;
  made.n = n;
  return made;
}
inline Value value_of(Kind kind, const void* p, size_t n) {
  Value made;
  made.kind = kind;
  made.p = const_cast<void*>(p);
  made.n = static_cast<int64_t>(n);
  return made;
}
inline Value to_value(const at::Tensor& tensor);
inline Value to_value(bool value) { return value_of(k_bool, value); }
inline Value to_value(int64_t value) { return value_of(k_int, value); }
inline Value to_value(double value) {
  Value made = value_of(k_double, static_cast<int64_t>(0));
  made.d = value;
  return made;
}
inline Value to_value(const c10::Scalar& value) { return value.value(); }
inline Value to_value(c10::ScalarType value) {
  return value_of(k_dtype, static_cast<int64_t>(value));
}
inline Value to_value(c10::Layout value) { return value_of(k_layout, static_cast<int64_t>(value)); }
inline Value to_value(c10::MemoryFormat value) {
  return value_of(k_memory_format, static_cast<int64_t>(value));
}
inline Value to_value(const c10::Device& value) {
  return value_of(k_device, static_cast<int64_t>(value.type()), value.index());
}
inline Value to_value(c10::IntArrayRef list) { return value_of(k_ints, list.data(), list.size()); }
inline Value to_value(c10::ArrayRef<double> list) {
  return value_of(k_doubles, list.data(), list.size());
}
inline Value to_value(c10::ArrayRef<at::Tensor> list) {
  return value_of(k_tensors, list.data(), list.size());
}
inline Value to_value(std::string_view text) {
  return value_of(k_string, text.data(), text.size());
}
inline Value to_value(const c10::OptionalIntArrayRef& list) {
  return list.has_value() ? to_value(*list) : value_of(k_none, static_cast<int64_t>(0));
}
inline Value to_value(const std::optional<at::Generator>&) {
  return value_of(k_none, static_cast<int64_t>(0));
}
template <class T>
Value to_value(const std::optional<T>& value) {
  return value.has_value() ? to_value(*value) : value_of(k_none, static_cast<int64_t>(0));
}

inline void to_values(const c10::TensorOptions& options, Value* values) {
  values[0] = to_value(c10::optTypeMetaToScalarType(options.dtype_opt()));
  values[1] = to_value(options.layout_opt());
  values[2] = to_value(options.device_opt());
  values[3] = to_value(options.pinned_memory_opt());
  values[4] = to_value(options.requires_grad_opt());
  values[5] = to_value(options.memory_format_opt());
}

template <class R>
struct Results;

inline void run(Op& op, const Value* arguments, int64_t count) {
  bridge()->call(op.get(), arguments, count, nullptr, 0);
}

// An op with these arguments; what its schema has a default for may be left out.
template <class R, class... Args>
R call(Op& op, const Args&... args) {
  const Value values[] = {to_value(args)...};
  if constexpr (std::is_void<R>::value) {
    run(op, values, sizeof...(Args));
  } else {
    return Results<R>::get(op, values, sizeof...(Args));
  }
}

}  // namespace cudaops_fast
