// SPDX-License-Identifier: Apache-2.0
// Accessors of elements, for host and device code.
#pragma once

#include "core.h"

namespace at {
using namespace c10;
inline namespace cudaops_fast_1 {

template <class T>
struct DefaultPtrTraits {
  typedef T* PtrType;
};
#ifdef __CUDACC__
template <class T>
struct RestrictPtrTraits {
  typedef T* __restrict__ PtrType;
};
#endif

// Of both kinds of accessors; Sizes: where sizes and strides are, elsewhere or in the accessor.
template <class T, template <class> class PtrTraits, class index_t, class Sizes>
class AccessorStorage {
 public:
  typedef typename PtrTraits<T>::PtrType PtrType;
  C10_HOST_DEVICE index_t stride(index_t i) const { return strides_[i]; }
  C10_HOST_DEVICE index_t size(index_t i) const { return sizes_[i]; }
  C10_HOST_DEVICE PtrType data() { return data_; }
  C10_HOST_DEVICE const PtrType data() const { return data_; }

 protected:
  C10_HOST_DEVICE explicit AccessorStorage(PtrType data) : data_(data) {}
  PtrType data_;
  Sizes sizes_;
  Sizes strides_;
};

template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
          class index_t = int64_t>
class TensorAccessorBase : public AccessorStorage<T, PtrTraits, index_t, const index_t*> {
 public:
  typedef typename PtrTraits<T>::PtrType PtrType;
  C10_HOST_DEVICE TensorAccessorBase(PtrType data, const index_t* sizes, const index_t* strides)
      : AccessorStorage<T, PtrTraits, index_t, const index_t*>(data) {
    this->sizes_ = sizes;
    this->strides_ = strides;
  }
  C10_HOST ArrayRef<index_t> sizes() const { return ArrayRef<index_t>(this->sizes_, N); }
  C10_HOST ArrayRef<index_t> strides() const { return ArrayRef<index_t>(this->strides_, N); }
};

template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
          class index_t = int64_t>
class TensorAccessor : public TensorAccessorBase<T, N, PtrTraits, index_t> {
 public:
  using TensorAccessorBase<T, N, PtrTraits, index_t>::TensorAccessorBase;
  C10_HOST_DEVICE TensorAccessor<T, N - 1, PtrTraits, index_t> operator[](index_t i) {
    return {this->data_ + this->strides_[0] * i, this->sizes_ + 1, this->strides_ + 1};
  }
  C10_HOST_DEVICE const TensorAccessor<T, N - 1, PtrTraits, index_t> operator[](index_t i) const {
    return {this->data_ + this->strides_[0] * i, this->sizes_ + 1, this->strides_ + 1};
  }
};

template <class T, template <class> class PtrTraits, class index_t>
class TensorAccessor<T, 1, PtrTraits, index_t>
    : public TensorAccessorBase<T, 1, PtrTraits, index_t> {
 public:
  using TensorAccessorBase<T, 1, PtrTraits, index_t>::TensorAccessorBase;
  C10_HOST_DEVICE T& operator[](index_t i) { return this->data_[this->strides_[0] * i]; }
  C10_HOST_DEVICE const T& operator[](index_t i) const {
    return this->data_[this->strides_[0] * i];
  }
};

template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
          class index_t = int64_t>
class GenericPackedTensorAccessorBase : public AccessorStorage<T, PtrTraits, index_t, index_t[N]> {
 public:
  typedef typename PtrTraits<T>::PtrType PtrType;
  template <class from_t>
  C10_HOST GenericPackedTensorAccessorBase(PtrType data, const from_t* sizes, const from_t* strides)
      : AccessorStorage<T, PtrTraits, index_t, index_t[N]>(data) {
    for (size_t i = 0; i < N; ++i) {
      this->sizes_[i] = static_cast<index_t>(sizes[i]);
      this->strides_[i] = static_cast<index_t>(strides[i]);
    }
  }
};

template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
          class index_t = int64_t>
class GenericPackedTensorAccessor
    : public GenericPackedTensorAccessorBase<T, N, PtrTraits, index_t> {
 public:
  using GenericPackedTensorAccessorBase<T, N, PtrTraits, index_t>::GenericPackedTensorAccessorBase;
  C10_DEVICE TensorAccessor<T, N - 1, PtrTraits, index_t> operator[](index_t i) {
    return {this->data_ + this->strides_[0] * i, this->sizes_ + 1, this->strides_ + 1};
  }
  C10_DEVICE const TensorAccessor<T, N - 1, PtrTraits, index_t> operator[](index_t i) const {
    return {this->data_ + this->strides_[0] * i, this->sizes_ + 1, this->strides_ + 1};
  }
};

template <class T, template <class> class PtrTraits, class index_t>
class GenericPackedTensorAccessor<T, 1, PtrTraits, index_t>
    : public GenericPackedTensorAccessorBase<T, 1, PtrTraits, index_t> {
 public:
  using GenericPackedTensorAccessorBase<T, 1, PtrTraits, index_t>::GenericPackedTensorAccessorBase;
  C10_DEVICE T& operator[](index_t i) { return this->data_[this->strides_[0] * i]; }
  C10_DEVICE const T& operator[](index_t i) const { return this->data_[this->strides_[0] * i]; }
};

template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
          class index_t = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, PtrTraits, index_t>;
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, PtrTraits, int32_t>;
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, PtrTraits, int64_t>;

}  // namespace cudaops_fast_1
}  // namespace at
