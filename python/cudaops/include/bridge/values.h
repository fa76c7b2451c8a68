// SPDX-License-Identifier: Apache-2.0
// Values between a module and torch: who owns what, and torch's types made of them.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/Scalar.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "../fast/cudaops_fast/bridge.h"

namespace {

using namespace cudaops_fast;

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

// Values of one call: as many as most calls have without an allocation.
class Owner {
 public:
  explicit Owner(size_t count) : count_(count) {
    if (count > sizeof(few_) / sizeof(*few_)) {
      many_ = std::make_unique<Value[]>(count);
    }
  }
  Owner(const Owner&) = delete;
  ~Owner() {
    for (size_t i = 0; i < count_; ++i) destroy(values()[i]);
  }
  Value* values() { return many_ ? many_.get() : few_; }

 private:
  size_t count_;
  Value few_[8]{};
  std::unique_ptr<Value[]> many_;
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

}  // namespace
