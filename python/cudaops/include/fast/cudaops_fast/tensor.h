// SPDX-License-Identifier: Apache-2.0
// at::Tensor over the bridge. Its ops, those that the text names, are declared by files that
// cudaops/jit/fast_ops.py writes from the headers of the torch that is there:
// cudaops_fast_methods.h and cudaops_fast_functions.h.
#pragma once

#include <cstdlib>
#include <ios>

#include "context.h"
#include "op.h"

namespace at {
inline namespace cudaops_fast_1 {

using cudaops_fast::Op;
namespace Reduction {
enum Reduction { None, Mean, Sum, END };
}
using TensorList = ArrayRef<Tensor>;
using ITensorListRef = ArrayRef<Tensor>;
using OptionalIntArrayRef = c10::OptionalIntArrayRef;

class Tensor {
 public:
  Tensor() : bits_(cudaops_fast::bridge()->undefined) {}
  Tensor(const Tensor& other) : bits_(other.bits_) { retain(); }
  Tensor(Tensor&& other) noexcept : bits_(other.bits_) {
    other.bits_ = cudaops_fast::bridge_pointer->undefined;
  }
  ~Tensor() { release(); }
  Tensor& operator=(const Tensor& other) & {
    Tensor copy(other);
    std::swap(bits_, copy.bits_);
    return *this;
  }
  Tensor& operator=(Tensor&& other) & noexcept {
    Tensor taken(std::move(other));
    std::swap(bits_, taken.bits_);
    return *this;
  }
  // x[i] = y writes into x.
  Tensor& operator=(const Tensor& other) && {
    static Op op{"aten::copy_", "", nullptr};
    cudaops_fast::call<void>(op, *this, other, false);
    return *this;
  }
  Tensor& operator=(Tensor&& other) && {
    return std::move(*this) = static_cast<const Tensor&>(other);
  }
  Tensor& operator=(const Scalar& value) && {
    static Op op{"aten::fill_", "Scalar", nullptr};
    cudaops_fast::call<void>(op, *this, value);
    return *this;
  }
  // Owns one count of what it is given.
  static Tensor steal(cudaops_fast::Impl bits) { return Tensor(bits); }
  cudaops_fast::Impl bits() const { return bits_; }
  cudaops_fast::Impl unsafe_release() {
    const cudaops_fast::Impl bits = bits_;
    bits_ = cudaops_fast::bridge()->undefined;
    return bits;
  }

  bool defined() const { return bits_ != cudaops_fast::bridge()->undefined; }
  void reset() { *this = Tensor(); }
  bool is_same(const Tensor& other) const noexcept { return bits_ == other.bits_; }

  IntArrayRef sizes() const {
    int64_t count;
    const int64_t* found = cudaops_fast::bridge()->sizes(&bits_, &count);
    return IntArrayRef(found, static_cast<size_t>(count));
  }
  IntArrayRef strides() const {
    int64_t count;
    const int64_t* found = cudaops_fast::bridge()->strides(&bits_, &count);
    return IntArrayRef(found, static_cast<size_t>(count));
  }
  int64_t size(int64_t dim) const { return cudaops_fast::bridge()->size(&bits_, dim); }
  int64_t stride(int64_t dim) const { return cudaops_fast::bridge()->stride(&bits_, dim); }
  int64_t dim() const { return query(cudaops_fast::q_dim); }
  int64_t ndimension() const { return dim(); }
  int64_t numel() const { return query(cudaops_fast::q_numel); }
  int64_t storage_offset() const { return query(cudaops_fast::q_storage_offset); }
  int64_t element_size() const { return query(cudaops_fast::q_element_size); }
  size_t itemsize() const { return static_cast<size_t>(element_size()); }
  size_t nbytes() const {
    TORCH_CHECK(
        layout() != Layout::Sparse,
        "nbytes is not defined for sparse tensors.  If you want the size of the constituent "
        "tensors, add the nbytes of the indices and values.  If you want the size of the  "
        "equivalent dense tensor, multiply numel() by element_size()");
    return static_cast<size_t>(numel()) * itemsize();
  }
  ScalarType scalar_type() const { return static_cast<ScalarType>(query(cudaops_fast::q_dtype)); }
  TypeMeta dtype() const { return TypeMeta(scalar_type()); }
  Layout layout() const { return static_cast<Layout>(query(cudaops_fast::q_layout)); }
  Device device() const {
    return Device(static_cast<DeviceType>(query(cudaops_fast::q_device_type)),
                  static_cast<DeviceIndex>(query(cudaops_fast::q_device_index)));
  }
  int64_t get_device() const { return query(cudaops_fast::q_get_device); }
  TensorOptions options() const {
    return TensorOptions(
        cudaops_fast::OptionsOfTensor{static_cast<uint64_t>(query(cudaops_fast::q_options))});
  }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
    return cudaops_fast::bridge()->is_contiguous(&bits_, static_cast<int32_t>(format));
  }
  MemoryFormat suggest_memory_format(bool channels_last_strides_exact_match = false) const {
    return static_cast<MemoryFormat>(query(channels_last_strides_exact_match
                                               ? cudaops_fast::q_suggest_memory_format_exactly
                                               : cudaops_fast::q_suggest_memory_format));
  }
  bool is_non_overlapping_and_dense() const {
    return query(cudaops_fast::q_is_non_overlapping_and_dense);
  }
  bool has_storage() const { return query(cudaops_fast::q_has_storage); }
  bool is_cuda() const { return query(cudaops_fast::q_is_cuda); }
  bool is_cpu() const { return query(cudaops_fast::q_is_cpu); }
  bool is_meta() const { return query(cudaops_fast::q_is_meta); }
  bool is_sparse() const { return query(cudaops_fast::q_is_sparse); }
  bool is_floating_point() const { return query(cudaops_fast::q_is_floating_point); }
  bool is_complex() const { return isComplexType(scalar_type()); }
  bool is_signed() const { return query(cudaops_fast::q_is_signed); }
  bool is_conj() const { return query(cudaops_fast::q_is_conj); }
  bool is_neg() const { return query(cudaops_fast::q_is_neg); }
  bool is_inference() const { return query(cudaops_fast::q_is_inference); }
  bool is_leaf() const { return query(cudaops_fast::q_is_leaf); }
  size_t use_count() const { return static_cast<size_t>(query(cudaops_fast::q_use_count)); }
  bool requires_grad() const { return query(cudaops_fast::q_requires_grad); }
  const Tensor& set_requires_grad(bool value) const {
    cudaops_fast::bridge()->set_requires_grad(&bits_, value);
    return *this;
  }
  DeprecatedTypeProperties type() const;

  void* data_ptr() const { return cudaops_fast::bridge()->data(&bits_, -1, false); }
  const void* const_data_ptr() const { return cudaops_fast::bridge()->data(&bits_, -1, true); }
  void* mutable_data_ptr() const { return data_ptr(); }
  template <class T>
  T* data_ptr() const {
    return static_cast<T*>(cudaops_fast::bridge()->data(
        &bits_, static_cast<int32_t>(CppTypeToScalarType<T>::value), false));
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  const std::remove_const_t<T>* const_data_ptr() const {
    using U = std::remove_const_t<T>;
    return static_cast<const U*>(cudaops_fast::bridge()->data(
        &bits_, static_cast<int32_t>(CppTypeToScalarType<U>::value), true));
  }
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  template <class T>
  T item() const {
    return item().template to<T>();
  }
  Scalar item() const;

  template <class T, size_t N>
  TensorAccessor<T, N> accessor() const& {
    static_assert(N > 0, "accessor is used for indexing tensor, for scalars use *data_ptr<T>()");
    T* pointer = checked<T>(N);
    return TensorAccessor<T, N>(pointer, sizes().data(), strides().data());
  }
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() && = delete;
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
            class index_t = int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, index_t> generic_packed_accessor() const& {
    static_assert(N > 0, "accessor is used for indexing tensor, for scalars use *data_ptr<T>()");
    T* pointer = checked<T>(N);
    return GenericPackedTensorAccessor<T, N, PtrTraits, index_t>(
        static_cast<typename PtrTraits<T>::PtrType>(pointer), sizes().data(), strides().data());
  }
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() const& {
    TORCH_CHECK(
        numel() <= static_cast<int64_t>(std::numeric_limits<int32_t>::max()),
        "numel needs to be smaller than int32_t max; otherwise, please use packed_accessor64");
    return generic_packed_accessor<T, N, PtrTraits, int32_t>();
  }
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() && = delete;
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() const& {
    return generic_packed_accessor<T, N, PtrTraits, int64_t>();
  }
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() && = delete;
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
            class index_t = int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, index_t> packed_accessor() const& {
    return generic_packed_accessor<T, N, PtrTraits, index_t>();
  }

  Tensor operator-() const;
  Tensor operator~() const;
#define CUDAOPS_FAST_ASSIGN(sign, name)              \
  Tensor& operator sign(const Tensor& other) {       \
    static Op op{"aten::" #name, "Tensor", nullptr}; \
    cudaops_fast::call<void>(op, *this, other);      \
    return *this;                                    \
  }                                                  \
  Tensor& operator sign(const Scalar& other) {       \
    static Op op{"aten::" #name, "Scalar", nullptr}; \
    cudaops_fast::call<void>(op, *this, other);      \
    return *this;                                    \
  }
  CUDAOPS_FAST_ASSIGN(+=, add_)
  CUDAOPS_FAST_ASSIGN(-=, sub_)
  CUDAOPS_FAST_ASSIGN(*=, mul_)
  CUDAOPS_FAST_ASSIGN(/=, div_)
#undef CUDAOPS_FAST_ASSIGN
  Tensor operator[](int64_t index) const;
  Tensor contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  const Tensor& requires_grad_(bool value = true) const { return set_requires_grad(value); }
  Tensor toType(ScalarType type) const { return convert(options().dtype(type)); }
  Tensor cpu() const { return convert(options().device(DeviceType::CPU)); }
  Tensor cuda() const { return convert(options().device(DeviceType::CUDA)); }

  // With the ops that the text names.
#include <cudaops_fast_methods.h>

 private:
  Tensor convert(const TensorOptions& options) const;
  explicit Tensor(cudaops_fast::Impl bits) : bits_(bits) {}
  int64_t query(cudaops_fast::Query what) const {
    return cudaops_fast::bridge()->query(&bits_, what);
  }
  void retain() {
    if (defined()) cudaops_fast::bridge()->retain(bits_);
  }
  void release() {
    if (bits_ != cudaops_fast::bridge_pointer->undefined)
      cudaops_fast::bridge_pointer->release(bits_);
  }
  template <class T>
  T* checked(size_t N) const {
    TORCH_CHECK(dim() == static_cast<int64_t>(N), "TensorAccessor expected ", N,
                " dims but tensor has ", dim());
    if constexpr (std::is_const<T>::value) {
      return const_data_ptr<T>();
    } else {
      return mutable_data_ptr<T>();
    }
  }

  cudaops_fast::Impl bits_;
};

}  // namespace cudaops_fast_1
}  // namespace at

namespace cudaops_fast {

inline Value to_value(const at::Tensor& tensor) {
  Value made;
  made.kind = k_tensor;
  made.p = tensor.bits();
  made.n = 0;
  return made;
}

template <>
struct Results<at::Tensor> {
  static at::Tensor get(Op& op, const Value* values, int64_t count) {
    Value result;
    bridge()->call(op.get(), values, count, &result, 1);
    return take(result);
  }
  // An op that returns nothing for a tensor returns an undefined one.
  static at::Tensor take(const Value& value) {
    return value.kind == k_tensor ? at::Tensor::steal(value.p) : at::Tensor();
  }
};
template <class... T>
struct Results<std::tuple<T...>> {
  static std::tuple<T...> get(Op& op, const Value* values, int64_t count) {
    Value results[sizeof...(T)];
    bridge()->call(op.get(), values, count, results, sizeof...(T));
    return take(results, std::index_sequence_for<T...>());
  }
  template <size_t... I>
  static std::tuple<T...> take(Value* results, std::index_sequence<I...>) {
    return std::tuple<T...>{Results<T>::take(results[I])...};
  }
};
template <>
struct Results<std::vector<at::Tensor>> {
  static std::vector<at::Tensor> get(Op& op, const Value* values, int64_t count) {
    Value result;
    bridge()->call(op.get(), values, count, &result, 1);
    return take(result);
  }
  static std::vector<at::Tensor> take(const Value& value) {
    std::vector<at::Tensor> tensors;
    tensors.reserve(static_cast<size_t>(value.n));
    for (int64_t i = 0; i < value.n; ++i)
      tensors.push_back(Results<at::Tensor>::take(static_cast<Value*>(value.p)[i]));
    std::free(value.p);
    return tensors;
  }
};
template <class T>
struct NumberResults {
  static T get(Op& op, const Value* values, int64_t count) {
    Value result;
    bridge()->call(op.get(), values, count, &result, 1);
    return take(result);
  }
  static T take(const Value& value) {
    if constexpr (std::is_same<T, double>::value) {
      return value.d;
    } else {
      return static_cast<T>(value.i);
    }
  }
};
template <>
struct Results<bool> : NumberResults<bool> {};
template <>
struct Results<int64_t> : NumberResults<int64_t> {};
template <>
struct Results<double> : NumberResults<double> {};
template <>
struct Results<c10::ScalarType> : NumberResults<c10::ScalarType> {};
template <>
struct Results<c10::Scalar> {
  static c10::Scalar get(Op& op, const Value* values, int64_t count) {
    Value result;
    bridge()->call(op.get(), values, count, &result, 1);
    return c10::Scalar(result);
  }
};

}  // namespace cudaops_fast

namespace at {
inline namespace cudaops_fast_1 {

inline Scalar Tensor::item() const {
  static Op op{"aten::item", "", nullptr};
  return cudaops_fast::call<Scalar>(op, *this);
}

inline Tensor Tensor::operator-() const {
  static Op op{"aten::neg", "", nullptr};
  return cudaops_fast::call<Tensor>(op, *this);
}
inline Tensor Tensor::operator~() const {
  static Op op{"aten::bitwise_not", "", nullptr};
  return cudaops_fast::call<Tensor>(op, *this);
}
inline Tensor Tensor::operator[](int64_t index) const {
  static Op op{"aten::select", "int", nullptr};
  return cudaops_fast::call<Tensor>(op, *this, static_cast<int64_t>(0), index);
}
inline Tensor Tensor::contiguous(MemoryFormat format) const {
  if (is_contiguous(format)) return *this;
  static Op op{"aten::contiguous", "", nullptr};
  return cudaops_fast::call<Tensor>(op, *this, format);
}
inline Tensor Tensor::convert(const TensorOptions& options) const {
  static Op op{"aten::to", "dtype_layout", nullptr};
  return cudaops_fast::call<Tensor>(
      op, *this, optTypeMetaToScalarType(options.dtype_opt()), options.layout_opt(),
      options.device_opt(), options.pinned_memory_opt(), false, false, options.memory_format_opt());
}

#define CUDAOPS_FAST_OPERATOR(sign, name, reverse)                \
  inline Tensor operator sign(const Tensor& x, const Tensor& y) { \
    static Op op{"aten::" #name, "Tensor", nullptr};              \
    return cudaops_fast::call<Tensor>(op, x, y);                  \
  }                                                               \
  inline Tensor operator sign(const Tensor& x, const Scalar& y) { \
    static Op op{"aten::" #name, "Scalar", nullptr};              \
    return cudaops_fast::call<Tensor>(op, x, y);                  \
  }                                                               \
  inline Tensor operator sign(const Scalar& x, const Tensor& y) { return reverse; }
#define CUDAOPS_FAST_SWAPPED(name)                   \
  [&] {                                              \
    static Op op{"aten::" #name, "Scalar", nullptr}; \
    return cudaops_fast::call<Tensor>(op, y, x);     \
  }()
// As torch's operator for a number on the left of what doesn't commute: a tensor like y, filled.
#define CUDAOPS_FAST_FILLED(name)                                                            \
  [&] {                                                                                      \
    static Op like{"aten::empty_like", "", nullptr}, fill{"aten::fill_", "Scalar", nullptr}, \
        op{"aten::" #name, "Tensor", nullptr};                                               \
    const std::optional<int64_t> none;                                                       \
    Tensor made =                                                                            \
        cudaops_fast::call<Tensor>(like, y, none, none, none, none, MemoryFormat::Preserve); \
    cudaops_fast::call<void>(fill, made, x);                                                 \
    cudaops_fast::call<void>(op, made, y);                                                   \
    return made;                                                                             \
  }()
CUDAOPS_FAST_OPERATOR(+, add, CUDAOPS_FAST_SWAPPED(add))
CUDAOPS_FAST_OPERATOR(*, mul, CUDAOPS_FAST_SWAPPED(mul))
CUDAOPS_FAST_OPERATOR(-, sub, CUDAOPS_FAST_FILLED(sub_))
CUDAOPS_FAST_OPERATOR(/, div, CUDAOPS_FAST_FILLED(div_))
CUDAOPS_FAST_OPERATOR(%, remainder, CUDAOPS_FAST_FILLED(remainder_))
CUDAOPS_FAST_OPERATOR(&, bitwise_and, CUDAOPS_FAST_SWAPPED(bitwise_and))
CUDAOPS_FAST_OPERATOR(|, bitwise_or, CUDAOPS_FAST_SWAPPED(bitwise_or))
CUDAOPS_FAST_OPERATOR(^, bitwise_xor, CUDAOPS_FAST_SWAPPED(bitwise_xor))
CUDAOPS_FAST_OPERATOR(<, lt, CUDAOPS_FAST_SWAPPED(gt))
CUDAOPS_FAST_OPERATOR(<=, le, CUDAOPS_FAST_SWAPPED(ge))
CUDAOPS_FAST_OPERATOR(>, gt, CUDAOPS_FAST_SWAPPED(lt))
CUDAOPS_FAST_OPERATOR(>=, ge, CUDAOPS_FAST_SWAPPED(le))
CUDAOPS_FAST_OPERATOR(==, eq, CUDAOPS_FAST_SWAPPED(eq))
CUDAOPS_FAST_OPERATOR(!=, ne, CUDAOPS_FAST_SWAPPED(ne))

template <class C, class R>
std::basic_ostream<C, R>& operator<<(std::basic_ostream<C, R>& stream, const Tensor& tensor) {
  const cudaops_fast::Impl bits = tensor.bits();
  int64_t length;
  char* text = cudaops_fast::bridge()->print(&bits, &length);
  stream.write(text, length);
  std::free(text);
  return stream;
}
}  // namespace cudaops_fast_1
}  // namespace at

namespace c10 {
inline namespace cudaops_fast_1 {
template <class C, class R>
std::basic_ostream<C, R>& operator<<(std::basic_ostream<C, R>& stream,
                                     const TensorOptions& options) {
  cudaops_fast::Value values[6];
  cudaops_fast::to_values(options, values);
  int64_t length;
  char* text = cudaops_fast::bridge()->print_options(values, &length);
  stream.write(text, length);
  std::free(text);
  // Torch leaves it so.
  return stream << std::boolalpha;
}
}  // namespace cudaops_fast_1
}  // namespace c10

namespace at {
inline namespace cudaops_fast_1 {

// What x.type() is: older texts give it to AT_DISPATCH_ and ask it for its dtype and device.
class DeprecatedTypeProperties {
 public:
  ScalarType scalar_type;
  DeviceType device;
  Layout layout_;
  Layout layout() const { return layout_; }
  bool is_sparse() const { return layout_ == Layout::Sparse; }
  TensorOptions options(int16_t device_index = -1) const {
    return TensorOptions()
        .dtype(typeMeta())
        .device(device, static_cast<DeviceIndex>(device_index))
        .layout(layout_);
  }
  operator TensorOptions() const { return options(); }
  ScalarType scalarType() const { return scalar_type; }
  TypeMeta typeMeta() const { return TypeMeta(scalar_type); }
  DeviceType device_type() const { return device; }
  bool is_cuda() const { return device == kCUDA; }
  bool operator==(const DeprecatedTypeProperties& other) const {
    return scalar_type == other.scalar_type && device == other.device && layout_ == other.layout_;
  }
  bool operator!=(const DeprecatedTypeProperties& other) const { return !(*this == other); }
};

inline DeprecatedTypeProperties Tensor::type() const {
  query(cudaops_fast::q_type);
  DeprecatedTypeProperties made;
  made.scalar_type = scalar_type();
  made.device = device().type();
  made.layout_ = layout();
  return made;
}

#include <cudaops_fast_functions.h>

}  // namespace cudaops_fast_1
}  // namespace at
