// SPDX-License-Identifier: Apache-2.0
// Types of torch's C++ API that hold no tensor: dtypes, devices, lists, options, numbers, checks.
#pragma once

#include <cudaops_fast_config.h>
// Half, BFloat16 and complex are torch's own, where the text names them: nvcc takes 3 s for these
// headers.
#ifdef CUDAOPS_FAST_HALF
#include <torch/headeronly/util/BFloat16.h>
#include <torch/headeronly/util/Half.h>
#endif
#ifdef CUDAOPS_FAST_COMPLEX
#include <torch/headeronly/util/complex.h>
#endif

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "bridge.h"

#ifndef C10_HOST_DEVICE
#ifdef __CUDACC__
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#else
#define C10_HOST_DEVICE
#define C10_DEVICE
#define C10_HOST
#endif
#endif
#ifndef C10_ALWAYS_INLINE
#define C10_ALWAYS_INLINE __attribute__((__always_inline__)) inline
#endif
#ifndef C10_LIKELY
#define C10_LIKELY(expr) (__builtin_expect(static_cast<bool>(expr), 1))
#define C10_UNLIKELY(expr) (__builtin_expect(static_cast<bool>(expr), 0))
#endif
#if defined(__CUDACC__) && !defined(C10_WARP_SIZE)
#define C10_WARP_SIZE 32
#endif
#ifndef C10_UNUSED
#define C10_UNUSED __attribute__((__unused__))
#endif

extern "C" {
void* PyCapsule_Import(const char* name, int no_block);
void PyErr_Print();
int PyGILState_Ensure();
void PyGILState_Release(int);
}

namespace cudaops_fast {

// Found by the first who asks: a static object of the text may, before the module's own
// initialisation.
inline const Bridge* bridge_pointer = nullptr;

inline const Bridge* find_bridge() {
  const int state = PyGILState_Ensure();
  const auto* found = static_cast<const Bridge*>(PyCapsule_Import("cudaops._fast_bridge.table", 0));
  if (!found) PyErr_Print();
  PyGILState_Release(state);
  if (!found || found->version != bridge_version)
    throw std::runtime_error("cudaops: a module with fast headers found no bridge to torch");
  bridge_pointer = found;
  return found;
}

inline const Bridge* bridge() {
  return __builtin_expect(bridge_pointer != nullptr, 1) ? bridge_pointer : find_bridge();
}

}  // namespace cudaops_fast

namespace c10 {
inline namespace cudaops_fast_1 {

// Name, number, bytes.
// clang-format off
#define CUDAOPS_FAST_DTYPES(_) \
  _(Byte, 0, 1) \
  _(Char, 1, 1) \
  _(Short, 2, 2) \
  _(Int, 3, 4) \
  _(Long, 4, 8) \
  _(Half, 5, 2) \
  _(Float, 6, 4) \
  _(Double, 7, 8) \
  _(ComplexHalf, 8, 4) \
  _(ComplexFloat, 9, 8) \
  _(ComplexDouble, 10, 16) \
  _(Bool, 11, 1) \
  _(BFloat16, 15, 2) \
  _(Float8_e5m2, 23, 1) \
  _(Float8_e4m3fn, 24, 1) \
  _(Float8_e5m2fnuz, 25, 1) \
  _(Float8_e4m3fnuz, 26, 1) \
  _(UInt16, 27, 2) \
  _(UInt32, 28, 4) \
  _(UInt64, 29, 8)
// clang-format on

enum class ScalarType : int8_t {
#define CUDAOPS_FAST_DTYPE(name, number, size) name = number,
  CUDAOPS_FAST_DTYPES(CUDAOPS_FAST_DTYPE)
#undef CUDAOPS_FAST_DTYPE
      Undefined = 46,
};
#define CUDAOPS_FAST_DTYPE(name, number, size) constexpr ScalarType k##name = ScalarType::name;
CUDAOPS_FAST_DTYPES(CUDAOPS_FAST_DTYPE)
#undef CUDAOPS_FAST_DTYPE

// A dtype whose name these headers don't know is printed by torch itself, and never equal to one
// that they know.
inline const char* toString(ScalarType type) {
  switch (type) {
#define CUDAOPS_FAST_DTYPE(name, number, size) \
  case ScalarType::name:                       \
    return #name;
    CUDAOPS_FAST_DTYPES(CUDAOPS_FAST_DTYPE)
#undef CUDAOPS_FAST_DTYPE
    default:
      return cudaops_fast::bridge()->dtype_name(static_cast<int32_t>(type));
  }
}

inline size_t elementSize(ScalarType type) {
  switch (type) {
#define CUDAOPS_FAST_DTYPE(name, number, size) \
  case ScalarType::name:                       \
    return size;
    CUDAOPS_FAST_DTYPES(CUDAOPS_FAST_DTYPE)
#undef CUDAOPS_FAST_DTYPE
    default:
      return static_cast<size_t>(cudaops_fast::bridge()->dtype_size(static_cast<int32_t>(type)));
  }
}

inline bool isIntegralType(ScalarType t, bool includeBool) {
  return t == ScalarType::Byte || t == ScalarType::Char || t == ScalarType::Int ||
         t == ScalarType::Long || t == ScalarType::Short || t == ScalarType::UInt16 ||
         t == ScalarType::UInt32 || t == ScalarType::UInt64 ||
         (includeBool && t == ScalarType::Bool);
}
inline bool isComplexType(ScalarType t) {
  return t == ScalarType::ComplexHalf || t == ScalarType::ComplexFloat ||
         t == ScalarType::ComplexDouble;
}

template <class T>
struct CppTypeToScalarType;
namespace impl {
template <ScalarType N>
struct ScalarTypeToCPPType;
template <ScalarType N>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<N>::type;
}  // namespace impl
#define CUDAOPS_FAST_TYPE(cpp, name)                                                         \
  template <>                                                                                \
  struct CppTypeToScalarType<cpp> : std::integral_constant<ScalarType, ScalarType::name> {}; \
  template <>                                                                                \
  struct impl::ScalarTypeToCPPType<ScalarType::name> {                                       \
    using type = cpp;                                                                        \
  };
CUDAOPS_FAST_TYPE(uint8_t, Byte)
CUDAOPS_FAST_TYPE(int8_t, Char)
CUDAOPS_FAST_TYPE(int16_t, Short)
CUDAOPS_FAST_TYPE(int32_t, Int)
CUDAOPS_FAST_TYPE(int64_t, Long)
CUDAOPS_FAST_TYPE(float, Float)
CUDAOPS_FAST_TYPE(double, Double)
CUDAOPS_FAST_TYPE(bool, Bool)
CUDAOPS_FAST_TYPE(uint16_t, UInt16)
CUDAOPS_FAST_TYPE(uint32_t, UInt32)
CUDAOPS_FAST_TYPE(uint64_t, UInt64)
#ifdef CUDAOPS_FAST_HALF
CUDAOPS_FAST_TYPE(c10::Half, Half)
CUDAOPS_FAST_TYPE(c10::BFloat16, BFloat16)
#endif
#ifdef CUDAOPS_FAST_COMPLEX
CUDAOPS_FAST_TYPE(c10::complex<float>, ComplexFloat)
CUDAOPS_FAST_TYPE(c10::complex<double>, ComplexDouble)
#endif
#undef CUDAOPS_FAST_TYPE

enum class DeviceType : int8_t {
  CPU = 0,
  CUDA = 1,
  XPU = 12,
  MPS = 13,
  Meta = 14,
  HPU = 15,
  PrivateUse1 = 20
};
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA, kMeta = DeviceType::Meta,
                     kXPU = DeviceType::XPU, kMPS = DeviceType::MPS,
                     kPrivateUse1 = DeviceType::PrivateUse1;
using DeviceIndex = int8_t;
enum class Layout : int8_t {
  Strided = 0,
  Sparse = 1,
  SparseCsr = 2,
  Mkldnn = 3,
  SparseCsc = 4,
  SparseBsr = 5,
  SparseBsc = 6,
  Jagged = 7
};
constexpr Layout kStrided = Layout::Strided;
enum class MemoryFormat : int8_t {
  Contiguous = 0,
  Preserve = 1,
  ChannelsLast = 2,
  ChannelsLast3d = 3
};

inline std::string DeviceTypeName(DeviceType type, bool lower_case = false) {
  return cudaops_fast::bridge()->device_name(static_cast<int32_t>(type), lower_case);
}

struct Device {
  Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
  Device(const std::string& text) {
    int64_t type, index;
    cudaops_fast::bridge()->device_of_string(text.c_str(), &type, &index);
    type_ = static_cast<DeviceType>(type);
    index_ = static_cast<DeviceIndex>(index);
  }
  bool operator==(const Device& other) const {
    return type_ == other.type_ && index_ == other.index_;
  }
  bool operator!=(const Device& other) const { return !(*this == other); }
  void set_index(DeviceIndex index) { index_ = index; }
  DeviceType type() const { return type_; }
  DeviceIndex index() const { return index_; }
  bool has_index() const { return index_ != -1; }
  bool is_cuda() const { return type_ == DeviceType::CUDA; }
  bool is_cpu() const { return type_ == DeviceType::CPU; }
  bool is_meta() const { return type_ == DeviceType::Meta; }
  bool is_mps() const { return type_ == DeviceType::MPS; }
  bool is_xpu() const { return type_ == DeviceType::XPU; }
  std::string str() const {
    std::string text = DeviceTypeName(type_, true);
    return has_index() ? text + ":" + std::to_string(index_) : text;
  }

 private:
  DeviceType type_;
  DeviceIndex index_;
};

template <class T>
class ArrayRef {
 public:
  using iterator = const T*;
  using const_iterator = const T*;
  using size_type = size_t;
  using value_type = T;
  constexpr ArrayRef() : data_(nullptr), size_(0) {}
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end)
      : data_(begin), size_(static_cast<size_t>(end - begin)) {}
  template <class C,
            class = std::enable_if_t<std::is_same<
                std::remove_const_t<std::remove_pointer_t<decltype(std::declval<C>().data())>>,
                T>::value>>
  ArrayRef(const C& container) : data_(container.data()), size_(container.size()) {}
  ArrayRef(const std::vector<T>& from) : data_(from.data()), size_(from.size()) {
    static_assert(!std::is_same<T, bool>::value,
                  "ArrayRef<bool> cannot be constructed from a std::vector<bool> bitfield.");
  }
  template <size_t N>
  constexpr ArrayRef(const std::array<T, N>& from) : data_(from.data()), size_(N) {}
  template <size_t N>
  constexpr ArrayRef(const T (&from)[N]) : data_(from), size_(N) {}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
  constexpr ArrayRef(const std::initializer_list<T>& from)
      : data_(from.begin() == from.end() ? static_cast<T*>(nullptr) : from.begin()),
        size_(from.size()) {}
#pragma GCC diagnostic pop

  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T* cbegin() const { return data_; }
  constexpr const T* cend() const { return data_ + size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  const T& front() const;
  const T& back() const;
  constexpr bool equals(ArrayRef other) const {
    if (size_ != other.size_) return false;
    for (size_t i = 0; i < size_; ++i) {
      if (!(data_[i] == other.data_[i])) return false;
    }
    return true;
  }
  ArrayRef<T> slice(size_t n, size_t m) const;
  ArrayRef<T> slice(size_t n) const;
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  const T& at(size_t i) const;
  std::vector<T> vec() const { return std::vector<T>(data_, data_ + size_); }

 private:
  const T* data_;
  size_t size_;
};
template <class T>
bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  return a.equals(b);
}
template <class T>
bool operator!=(ArrayRef<T> a, ArrayRef<T> b) {
  return !a.equals(b);
}
template <class T>
bool operator==(const std::vector<T>& a, ArrayRef<T> b) {
  return ArrayRef<T>(a).equals(b);
}
template <class T>
bool operator!=(const std::vector<T>& a, ArrayRef<T> b) {
  return !ArrayRef<T>(a).equals(b);
}
template <class T>
bool operator==(ArrayRef<T> a, const std::vector<T>& b) {
  return a.equals(ArrayRef<T>(b));
}
template <class T>
bool operator!=(ArrayRef<T> a, const std::vector<T>& b) {
  return !a.equals(ArrayRef<T>(b));
}
using IntArrayRef = ArrayRef<int64_t>;
using string_view = std::string_view;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;

// As c10's: from a list, from one number, or none.
template <class T>
class OptionalArrayRef {
 public:
  constexpr OptionalArrayRef() = default;
  constexpr OptionalArrayRef(std::nullopt_t) {}
  constexpr OptionalArrayRef(const T& one) : list_(one) {}
  template <class U = ArrayRef<T>,
            class = std::enable_if_t<!std::is_same<std::decay_t<U>, OptionalArrayRef>::value &&
                                     !std::is_same<std::decay_t<U>, std::in_place_t>::value &&
                                     std::is_constructible<ArrayRef<T>, U&&>::value &&
                                     std::is_convertible<U&&, ArrayRef<T>>::value &&
                                     !std::is_convertible<U&&, T>::value>>
  constexpr OptionalArrayRef(U&& value) : list_(std::forward<U>(value)) {}
  constexpr OptionalArrayRef(const std::initializer_list<T>& list) : list_(ArrayRef<T>(list)) {}
  OptionalArrayRef(const std::optional<ArrayRef<T>>& list) : list_(list) {}
  constexpr bool has_value() const { return list_.has_value(); }
  constexpr explicit operator bool() const { return list_.has_value(); }
  constexpr const ArrayRef<T>& value() const { return list_.value(); }
  constexpr const ArrayRef<T>& operator*() const { return *list_; }
  constexpr const ArrayRef<T>* operator->() const { return &*list_; }

 private:
  std::optional<ArrayRef<T>> list_;
};
using OptionalIntArrayRef = OptionalArrayRef<int64_t>;

// --- texts of checks
// ---------------------------------------------------------------------------------------------------

struct TypeMeta;

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
  void add(const c10::TypeMeta& value);
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
#define AT_ASSERTM(cond, ...) TORCH_CHECK(cond, ##__VA_ARGS__)
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

namespace c10 {
inline namespace cudaops_fast_1 {

template <class T>
const T& ArrayRef<T>::front() const {
  TORCH_CHECK(!empty(), "ArrayRef: attempted to access front() of empty list");
  return data_[0];
}
template <class T>
const T& ArrayRef<T>::back() const {
  TORCH_CHECK(!empty(), "ArrayRef: attempted to access back() of empty list");
  return data_[size_ - 1];
}
template <class T>
ArrayRef<T> ArrayRef<T>::slice(size_t n, size_t m) const {
  TORCH_CHECK(n + m <= size(), "ArrayRef: invalid slice, N = ", n, "; M = ", m,
              "; size = ", size());
  return ArrayRef<T>(data_ + n, m);
}
template <class T>
ArrayRef<T> ArrayRef<T>::slice(size_t n) const {
  TORCH_CHECK(n <= size(), "ArrayRef: invalid slice, N = ", n, "; size = ", size());
  return slice(n, size() - n);
}
template <class T>
const T& ArrayRef<T>::at(size_t i) const {
  TORCH_CHECK(i < size_, "ArrayRef: invalid index Index = ", i, "; Length = ", size_);
  return data_[i];
}

// --- dtypes as torch keeps them
// ----------------------------------------------------------------------------------------

struct TypeMeta {
  ScalarType type = ScalarType::Undefined;
  constexpr TypeMeta() = default;
  constexpr explicit TypeMeta(ScalarType from) : type(from) {}
  constexpr ScalarType toScalarType() const { return type; }
  size_t itemsize() const { return elementSize(type); }
  std::string_view name() const {
    int64_t length;
    const char* text = cudaops_fast::bridge()->type_name(static_cast<int32_t>(type), &length);
    return std::string_view(text, static_cast<size_t>(length));
  }
  template <class T>
  bool Match() const {
    return type == CppTypeToScalarType<T>::value;
  }
};
inline bool operator==(TypeMeta a, TypeMeta b) { return a.type == b.type; }
inline bool operator!=(TypeMeta a, TypeMeta b) { return a.type != b.type; }
inline bool operator==(ScalarType a, TypeMeta b) { return a == b.type; }
inline bool operator==(TypeMeta a, ScalarType b) { return a.type == b; }
inline bool operator!=(ScalarType a, TypeMeta b) { return a != b.type; }
inline bool operator!=(TypeMeta a, ScalarType b) { return a.type != b; }
inline ScalarType typeMetaToScalarType(TypeMeta meta) { return meta.type; }
inline TypeMeta scalarTypeToTypeMeta(ScalarType type) { return TypeMeta(type); }
inline std::optional<ScalarType> optTypeMetaToScalarType(std::optional<TypeMeta> meta) {
  return meta ? std::optional<ScalarType>(meta->type) : std::nullopt;
}
inline ScalarType get_default_dtype_as_scalartype() {
  return static_cast<ScalarType>(cudaops_fast::bridge()->default_dtype());
}

// --- numbers
// -----------------------------------------------------------------------------------------------------------

class Scalar {
 public:
  Scalar() : Scalar(static_cast<int64_t>(0)) {}
  Scalar(uint8_t v) : Scalar(static_cast<int64_t>(v)) {}
  Scalar(int8_t v) : Scalar(static_cast<int64_t>(v)) {}
  Scalar(int16_t v) : Scalar(static_cast<int64_t>(v)) {}
  Scalar(int v) : Scalar(static_cast<int64_t>(v)) {}
  Scalar(long v) : value_{cudaops_fast::k_int, {v}, {0}} {}
  Scalar(long long v) : Scalar(static_cast<long>(v)) {}
  Scalar(uint16_t v) : Scalar(static_cast<int64_t>(v)) {}
  Scalar(uint32_t v) : Scalar(static_cast<int64_t>(v)) {}
  Scalar(uint64_t v)
      : value_{v > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) ? cudaops_fast::k_uint
                                                                              : cudaops_fast::k_int,
               {static_cast<int64_t>(v)},
               {0}} {}
  Scalar(float v) : Scalar(static_cast<double>(v)) {}
  Scalar(double v) : value_{cudaops_fast::k_double, {0}, {0}} { value_.d = v; }
  template <class T, class = std::enable_if_t<std::is_same<T, bool>::value>>
  Scalar(T v) : value_{cudaops_fast::k_bool, {v ? 1 : 0}, {0}} {}
#ifdef CUDAOPS_FAST_HALF
  Scalar(c10::Half v) : Scalar(static_cast<double>(static_cast<float>(v))) {}
  Scalar(c10::BFloat16 v) : Scalar(static_cast<double>(static_cast<float>(v))) {}
#endif
#ifdef CUDAOPS_FAST_COMPLEX
  Scalar(c10::complex<double> v) : value_{cudaops_fast::k_complex, {0}, {0}} {
    value_.d = v.real();
    value_.e = v.imag();
  }
  Scalar(c10::complex<float> v) : Scalar(c10::complex<double>(v)) {}
#endif
  explicit Scalar(const cudaops_fast::Value& v) : value_(v) {}

  bool isFloatingPoint() const { return value_.kind == cudaops_fast::k_double; }
  bool isComplex() const { return value_.kind == cudaops_fast::k_complex; }
  bool isBoolean() const { return value_.kind == cudaops_fast::k_bool; }
  bool isIntegral(bool includeBool) const {
    return value_.kind == cudaops_fast::k_int || value_.kind == cudaops_fast::k_uint ||
           (includeBool && isBoolean());
  }
  ScalarType type() const {
    switch (value_.kind) {
      case cudaops_fast::k_double:
        return ScalarType::Double;
      case cudaops_fast::k_complex:
        return ScalarType::ComplexDouble;
      case cudaops_fast::k_bool:
        return ScalarType::Bool;
      case cudaops_fast::k_uint:
        return ScalarType::UInt64;
      default:
        return ScalarType::Long;
    }
  }
  // Conversions that can overflow are torch's, with its errors.
  template <class T>
  T to() const {
    cudaops_fast::Value result;
    cudaops_fast::bridge()->convert(&value_, static_cast<int32_t>(CppTypeToScalarType<T>::value),
                                    &result);
    if constexpr (std::is_integral<T>::value) {
      return static_cast<T>(result.i);
    } else if constexpr (std::is_floating_point<T>::value) {
      return static_cast<T>(result.d);
    } else {
      return from_double<T>(result);
    }
  }
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int32_t toInt() const { return to<int32_t>(); }
  int16_t toShort() const { return to<int16_t>(); }
  int8_t toChar() const { return to<int8_t>(); }
  uint8_t toByte() const { return to<uint8_t>(); }
  bool toBool() const { return to<bool>(); }
  const cudaops_fast::Value& value() const { return value_; }

 private:
  template <class T>
  static T from_double(const cudaops_fast::Value& value);
  cudaops_fast::Value value_;
};
#ifdef CUDAOPS_FAST_HALF
template <>
inline c10::Half Scalar::from_double(const cudaops_fast::Value& value) {
  return static_cast<float>(value.d);
}
template <>
inline c10::BFloat16 Scalar::from_double(const cudaops_fast::Value& value) {
  return static_cast<float>(value.d);
}
#endif
#ifdef CUDAOPS_FAST_COMPLEX
template <>
inline c10::complex<float> Scalar::from_double(const cudaops_fast::Value& value) {
  return {static_cast<float>(value.d), static_cast<float>(value.e)};
}
template <>
inline c10::complex<double> Scalar::from_double(const cudaops_fast::Value& value) {
  return {value.d, value.e};
}
#endif

// --- options
// -----------------------------------------------------------------------------------------------------------

struct TensorOptions {
  TensorOptions() = default;
  TensorOptions(Layout layout) : layout_(layout) {}
  template <class T, class = std::enable_if_t<std::is_same<std::decay_t<T>, Device>::value>>
  TensorOptions(T&& device) : device_(std::forward<T>(device)) {}
  // What a Device can be made of: a DeviceType, a text.
  template <class... Args,
            class = std::enable_if_t<std::is_constructible<Device, Args&&...>::value>, class = void>
  TensorOptions(Args&&... args) : TensorOptions(Device(std::forward<Args>(args)...)) {}
  TensorOptions(TypeMeta dtype) : dtype_(dtype) {}
  TensorOptions(ScalarType dtype) : dtype_(TypeMeta(dtype)) {}
  TensorOptions(MemoryFormat format) : memory_format_(format) {}

  TensorOptions device(std::optional<Device> device) const noexcept {
    return with(&TensorOptions::device_, device);
  }
  template <class... Args>
  TensorOptions device(Args&&... args) const noexcept {
    return device(std::optional<Device>(std::in_place, std::forward<Args>(args)...));
  }
  TensorOptions device_index(DeviceIndex index) const noexcept {
    return device(Device(DeviceType::CUDA, index));
  }
  TensorOptions dtype(std::optional<TypeMeta> dtype) const noexcept {
    return with(&TensorOptions::dtype_, dtype);
  }
  TensorOptions dtype(std::optional<ScalarType> dtype) const noexcept {
    return with(&TensorOptions::dtype_, dtype ? std::optional<TypeMeta>(*dtype) : std::nullopt);
  }
  template <class T>
  TensorOptions dtype() const {
    return dtype(std::optional<ScalarType>(CppTypeToScalarType<T>::value));
  }
  TensorOptions layout(std::optional<Layout> layout) const noexcept {
    return with(&TensorOptions::layout_, layout);
  }
  TensorOptions requires_grad(std::optional<bool> value) const noexcept {
    return with(&TensorOptions::requires_grad_, value);
  }
  TensorOptions pinned_memory(std::optional<bool> value) const noexcept {
    return with(&TensorOptions::pinned_memory_, value);
  }
  TensorOptions memory_format(std::optional<MemoryFormat> value) const noexcept {
    return with(&TensorOptions::memory_format_, value);
  }

  Device device() const noexcept { return device_ ? *device_ : Device(kCPU); }
  bool has_device() const noexcept { return device_.has_value(); }
  std::optional<Device> device_opt() const noexcept { return device_; }
  TypeMeta dtype() const noexcept {
    return dtype_ ? *dtype_ : TypeMeta(get_default_dtype_as_scalartype());
  }
  bool has_dtype() const noexcept { return dtype_.has_value(); }
  std::optional<TypeMeta> dtype_opt() const noexcept { return dtype_; }
  Layout layout() const noexcept { return layout_ ? *layout_ : kStrided; }
  bool has_layout() const noexcept { return layout_.has_value(); }
  std::optional<Layout> layout_opt() const noexcept { return layout_; }
  bool requires_grad() const noexcept { return requires_grad_ ? *requires_grad_ : false; }
  bool has_requires_grad() const noexcept { return requires_grad_.has_value(); }
  std::optional<bool> requires_grad_opt() const noexcept { return requires_grad_; }
  bool pinned_memory() const noexcept { return pinned_memory_ ? *pinned_memory_ : false; }
  bool has_pinned_memory() const noexcept { return pinned_memory_.has_value(); }
  std::optional<bool> pinned_memory_opt() const noexcept { return pinned_memory_; }
  bool has_memory_format() const noexcept { return memory_format_.has_value(); }
  std::optional<MemoryFormat> memory_format_opt() const noexcept { return memory_format_; }

 private:
  template <class M, class V>
  TensorOptions with(M member, const V& value) const {
    TensorOptions made = *this;
    made.*member = value;
    return made;
  }
  std::optional<Device> device_;
  std::optional<TypeMeta> dtype_;
  std::optional<Layout> layout_;
  std::optional<bool> requires_grad_, pinned_memory_;
  std::optional<MemoryFormat> memory_format_;
};
inline TensorOptions dtype(ScalarType value) { return TensorOptions().dtype(value); }
inline TensorOptions dtype(TypeMeta value) { return TensorOptions().dtype(value); }
template <class T>
TensorOptions dtype() {
  return TensorOptions().dtype<T>();
}
inline TensorOptions layout(Layout value) { return TensorOptions().layout(value); }
inline TensorOptions device(Device value) { return TensorOptions().device(value); }
inline TensorOptions requires_grad(bool value = true) {
  return TensorOptions().requires_grad(value);
}
inline TensorOptions memory_format(MemoryFormat value) {
  return TensorOptions().memory_format(value);
}

namespace impl {
inline std::optional<MemoryFormat> check_tensor_options_and_extract_memory_format(
    const TensorOptions& options, std::optional<MemoryFormat> memory_format) {
  TORCH_CHECK(
      options.requires_grad_opt() == std::nullopt || options.requires_grad_opt().value() == false,
      "Operators taking TensorOptions cannot take a TensorOptions with options.requires_grad set "
      "as true. "
      "This isn't implemented yet.");
  TORCH_CHECK(!(options.has_memory_format() && memory_format.has_value()),
              "Cannot set memory_format both in TensorOptions and explicit argument; please delete "
              "the redundant setter.");
  return memory_format.has_value() ? memory_format : options.memory_format_opt();
}
}  // namespace impl

// irange(), as a range of integers.
template <class T>
struct IntegerRange {
  struct iterator {
    T value;
    T operator*() const { return value; }
    iterator& operator++() {
      ++value;
      return *this;
    }
    bool operator!=(const iterator& other) const { return value != other.value; }
    bool operator==(const iterator& other) const { return value == other.value; }
  };
  T from, to;
  iterator begin() const { return {from}; }
  iterator end() const { return {to}; }
};
template <class A, class B>
IntegerRange<B> irange(A begin, B end) {
  return {static_cast<B>(begin), static_cast<B>(begin) < end ? end : static_cast<B>(begin)};
}
template <class T>
IntegerRange<T> irange(T end) {
  return {T(), end > T() ? end : T()};
}

template <class C, class R>
std::basic_ostream<C, R>& operator<<(std::basic_ostream<C, R>& stream, ScalarType value) {
  return stream << toString(value);
}
template <class C, class R>
std::basic_ostream<C, R>& operator<<(std::basic_ostream<C, R>& stream, const Device& value) {
  return stream << value.str();
}
template <class C, class R>
std::basic_ostream<C, R>& operator<<(std::basic_ostream<C, R>& stream, DeviceType value) {
  return stream << DeviceTypeName(value, true);
}
template <class C, class R>
std::basic_ostream<C, R>& operator<<(std::basic_ostream<C, R>& stream, const TypeMeta& value) {
  return stream << value.name();
}
template <class C, class R, class T>
std::basic_ostream<C, R>& operator<<(std::basic_ostream<C, R>& stream, ArrayRef<T> list) {
  stream << "[";
  for (size_t i = 0; i < list.size(); ++i) {
    if (i) stream << ", ";
    stream << list[i];
  }
  return stream << "]";
}

}  // namespace cudaops_fast_1

namespace detail {
inline namespace cudaops_fast_1 {
inline void Text::add(const c10::TypeMeta& value) { add(value.name()); }
}  // namespace cudaops_fast_1
}  // namespace detail
}  // namespace c10

namespace caffe2 {
using c10::TypeMeta;
}
