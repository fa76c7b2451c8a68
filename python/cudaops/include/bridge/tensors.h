// SPDX-License-Identifier: Apache-2.0
// What a tensor or a number is asked.
#pragma once

#include <ATen/core/Formatting.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/from_blob.h>
#include <torch/csrc/autograd/variable.h>

#include <sstream>
#include <string>

#include "values.h"

namespace {

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
    case q_suggest_memory_format:
      return static_cast<int64_t>(self.suggest_memory_format());
    case q_suggest_memory_format_exactly:
      return static_cast<int64_t>(self.suggest_memory_format(true));
    case q_type:
      return self.type().is_cuda();
    case q_options: {
      const auto byte = [](auto one, int place) {
        return static_cast<int64_t>(static_cast<uint8_t>(one)) << 8 * place;
      };
      const c10::Device device = self.device();
      return byte(self.scalar_type(), 0) | byte(self.layout(), 1) | byte(device.type(), 2) |
             byte(device.index(), 3);
    }
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

at::Tensor make_blob(const Blob& from, const at::TensorOptions& options) {
  at::TensorMaker maker =
      at::for_blob(from.data, at::IntArrayRef(from.sizes, static_cast<size_t>(from.count)));
  maker.options(options);
  if (from.strides)
    maker.strides(at::IntArrayRef(from.strides, static_cast<size_t>(from.stride_count)));
  if (from.target_device.kind != k_none) maker.target_device(device(from.target_device));
  if (from.deleter) {
    maker.deleter(
        [deleter = from.deleter, context = from.context](void* freed) { deleter(freed, context); });
  }
  return maker.make_tensor();
}

// As torch::from_blob(), which makes a variable, or as at::from_blob().
Impl from_blob(const Blob& from) {
  const at::TensorOptions options = options_of(from.options);
  if (!from.is_variable) return owned(make_blob(from, options));
  at::Tensor made = [&] {
    at::AutoDispatchBelowADInplaceOrView guard;
    return make_blob(from, options.requires_grad(std::nullopt));
  }();
  return owned(torch::autograd::make_variable(made, options.requires_grad()));
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

}  // namespace
