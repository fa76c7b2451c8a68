// SPDX-License-Identifier: Apache-2.0
// TORCH_CHECK and its like, and the texts of their messages.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "device_type.h"
#include "dtype.h"

namespace c10 {
inline namespace cudaops_fast_1 {
template <class T>
class ArrayRef;
}  // namespace cudaops_fast_1

namespace detail {
inline namespace cudaops_fast_1 {

// As an ostream writes it, without its header. What isn't known here doesn't compile: then it is
// done with torch's headers.
struct Text {
  std::string text;
  void add(const char* value) { text += value; }
  void add(const std::string& value) { text += value; }
  void add(std::string_view value) { text += value; }
  void add(char value) { text += value; }
  void add(signed char value) { text += static_cast<char>(value); }
  void add(unsigned char value) { text += static_cast<char>(value); }
  void add(bool value) { text += value ? '1' : '0'; }
  void add(short value) { text += std::to_string(value); }
  void add(unsigned short value) { text += std::to_string(value); }
  void add(int value) { text += std::to_string(value); }
  void add(unsigned value) { text += std::to_string(value); }
  void add(long value) { text += std::to_string(value); }
  void add(unsigned long value) { text += std::to_string(value); }
  void add(long long value) { text += std::to_string(value); }
  void add(unsigned long long value) { text += std::to_string(value); }
  void add(double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof(buffer), "%g", value);
    text += buffer;
  }
  void add(float value) { add(static_cast<double>(value)); }
  void add(const void* value) {
    char buffer[32];
    std::snprintf(buffer, sizeof(buffer), value ? "%p" : "0", value);
    text += buffer;
  }
  void add(ScalarType value) { text += toString(value); }
  void add(DeviceType value) { text += DeviceTypeName(value, true); }
  void add(const Device& value) { text += value.str(); }
  void add(Layout value) {
    static const char* const names[] = {"Strided",   "Sparse",    "SparseCsr", "Mkldnn",
                                        "SparseCsc", "SparseBsr", "SparseBsc", "Jagged"};
    text += names[static_cast<int>(value)];
  }
  void add(MemoryFormat value) {
    static const char* const names[] = {"Contiguous", "Preserve", "ChannelsLast", "ChannelsLast3d"};
    text += names[static_cast<int>(value)];
  }
  void add(const c10::TypeMeta& value) { add(value.name()); }
  template <class T>
  void add(ArrayRef<T> list) {
    text += '[';
    for (size_t i = 0; i < list.size(); ++i) {
      if (i) text += ", ";
      add(list[i]);
    }
    text += ']';
  }
#ifdef CUDAOPS_FAST_HALF
  void add(c10::Half value) { add(static_cast<double>(static_cast<float>(value))); }
  void add(c10::BFloat16 value) { add(static_cast<double>(static_cast<float>(value))); }
#endif
  // A text with more than these types is one that torch's own headers read.
  template <class T>
  void add(const T*) = delete;
};

template <class... Args>
std::string message(const Args&... args) {
  Text text;
  (text.add(args), ...);
  return std::move(text.text);
}

template <class... Args>
std::string check_text(const char*, const Args&... args) {
  return message(args...);
}
inline std::string check_text(const char* text) { return text; }
inline std::string check_text(const char*, const char* text) { return text; }

[[noreturn]] inline void fail(cudaops_fast::Error kind, const char* function, const char* file,
                              uint32_t line, const std::string& text, const char* condition = "") {
  cudaops_fast::bridge()->fail(kind, function, file, line, condition, text.data(), text.size());
  __builtin_unreachable();
}

}  // namespace cudaops_fast_1
}  // namespace detail

inline namespace cudaops_fast_1 {
template <class... Args>
std::string str(const Args&... args) {
  return c10::detail::message(args...);
}
}  // namespace cudaops_fast_1
}  // namespace c10

#define CUDAOPS_FAST_FAIL(kind, text)                                                            \
  ::c10::detail::fail(::cudaops_fast::kind, __func__, __FILE__, static_cast<uint32_t>(__LINE__), \
                      text)
#define CUDAOPS_FAST_CHECK(kind, cond, ...)                                                      \
  if (C10_UNLIKELY(!(cond))) {                                                                   \
    CUDAOPS_FAST_FAIL(                                                                           \
        kind, ::c10::detail::check_text(                                                         \
                  "Expected " #cond                                                              \
                  " to be true, but got false.  (Could this error message be improved?  If so, " \
                  "please report an enhancement request to PyTorch.)",                           \
                  ##__VA_ARGS__));                                                               \
  }
#define TORCH_CHECK(cond, ...) CUDAOPS_FAST_CHECK(e_error, cond, ##__VA_ARGS__)
#define TORCH_CHECK_INDEX(cond, ...) CUDAOPS_FAST_CHECK(e_index, cond, ##__VA_ARGS__)
#define TORCH_CHECK_VALUE(cond, ...) CUDAOPS_FAST_CHECK(e_value, cond, ##__VA_ARGS__)
#define TORCH_CHECK_TYPE(cond, ...) CUDAOPS_FAST_CHECK(e_type, cond, ##__VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(cond, ...) \
  CUDAOPS_FAST_CHECK(e_not_implemented, cond, ##__VA_ARGS__)
#define AT_ERROR(...)                                                \
  do {                                                               \
    CUDAOPS_FAST_FAIL(e_error, ::c10::detail::message(__VA_ARGS__)); \
  } while (false)
#define AT_ASSERT(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#define AT_ASSERTM(cond, ...) TORCH_INTERNAL_ASSERT(cond, ##__VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(cond, ...)                                                           \
  if (C10_UNLIKELY(!(cond))) {                                                                     \
    ::c10::detail::fail(::cudaops_fast::e_assert, __func__, __FILE__,                              \
                        static_cast<uint32_t>(__LINE__), ::c10::detail::message("" __VA_ARGS__),   \
                        #cond                                                                      \
                        " INTERNAL ASSERT FAILED at \"" __FILE__                                   \
                        "\":" CUDAOPS_FAST_STRING(__LINE__) ", please report a bug to PyTorch. "); \
  }
#define CUDAOPS_FAST_CONCAT_(a, b) a##b
#define CUDAOPS_FAST_CONCAT(a, b) CUDAOPS_FAST_CONCAT_(a, b)
#define CUDAOPS_FAST_STRING_(x) #x
#define CUDAOPS_FAST_STRING(x) CUDAOPS_FAST_STRING_(x)
#define TORCH_WARN(...)                                                                 \
  do {                                                                                  \
    const std::string cudaops_fast_text = ::c10::detail::message(__VA_ARGS__);          \
    ::cudaops_fast::bridge()->warn(__func__, __FILE__, static_cast<uint32_t>(__LINE__), \
                                   cudaops_fast_text.data(), cudaops_fast_text.size()); \
  } while (false)
