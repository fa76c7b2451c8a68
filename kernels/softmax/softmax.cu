// SPDX-License-Identifier: Apache-2.0
// softmax on CUDA devices: forward. Moves 2 * sizeof(T) bytes an element and a mask's: each row is
// read once and stays in registers.
#include <limits>

#include "../common/online_softmax.h"
#include "../common/row/dispatch.cuh"
#include "softmax.h"

namespace cudaops_kernels {
namespace softmax {

template <typename T, bool kMask>
struct Forward {
  using Element = T;
  static constexpr int kNumTiles = kMask ? 2 : 1;
  static constexpr bool kReadsColumns = false;
  static constexpr int kNumInputs = kMask ? 0 : 1;  // rows with a mask are not packed
  static constexpr int kNumOutputs = 1;
  Softmax call;
  float factor;  // of scores in powers of two; not 0

  CUDAOPS_HOST_DEVICE ConstRows input(int) const { return call.input; }
  CUDAOPS_HOST_DEVICE Rows output(int) const { return call.output; }

  // What the mask adds, in powers of two.
  template <typename Row, typename Place>
  __device__ __forceinline__ typename Row::Numbers added(const Row& row, int64_t mask_offset,
                                                         const Place& place) const {
    typename Row::Numbers numbers = {};
    if (call.mask.kind == SoftmaxMask::Kind::kAdded) {
      const char* const data = static_cast<const char*>(call.mask.data) +
                               mask_offset * (call.mask.dtype == DType::kFloat32 ? 4 : 2);
      return row.columns(data, call.mask.dtype, place) * kLog2E;
    }
    const uint8_t* const seen = static_cast<const uint8_t*>(call.mask.data) + mask_offset;
#pragma unroll
    for (int k = 0; k < Row::kSize; ++k) {
      if (place.holds(k) && seen[place.column + k] == 0) numbers[k] = -INFINITY;
    }
    return numbers;
  }

  // The row's arguments at a place, less `shift`, each rounded once: a product of its own would
  // lose what large scores differ by.
  template <typename Row>
  __device__ __forceinline__ typename Row::Numbers arguments(const typename Row::Numbers& x,
                                                             const typename Row::Numbers& mask,
                                                             float shift) const {
    if constexpr (!kMask) return map([&](float x) { return fmaf(x, factor, -shift); }, x);
    const bool hides = call.mask.kind == SoftmaxMask::Kind::kSeen;
    return map(
        [&](float x, float mask) {
          const float argument = fmaf(x, factor, mask - shift);
          return hides && mask == -INFINITY ? mask : argument;  // whatever x is
        },
        x, mask);
  }

  template <typename Row>
  __device__ __forceinline__ void operator()(Row& row) const {
    const int64_t visible = visible_columns(row.index(), call.num_queries, call.width);
    const int64_t mask_offset = kMask ? call.mask.row_offset(row.index()) : 0;
    // Whatever the factor's sign, what is hidden becomes minus infinity.
    const auto x = row.load_visible(call.input, visible, factor < 0 ? INFINITY : -INFINITY);
    auto shares = row.shares(OnlineSoftmax());
    // Rows in registers are looked through for their largest first, which takes little.
    constexpr bool kMaxFirst = Row::kSlots > 0 && !kMask;
    if constexpr (kMaxFirst) {
      auto maxima = row.largest(x, factor < 0);
      // Lanes tell each other the largest sooner than they rescale each other's sums.
      if (row.is_in_warp()) maxima = row.shares(row.max(maxima.max()));
#pragma unroll
      for (int i = 0; i < Row::kVirtual; ++i) shares.of[i].max = maxima.of[i] * fabsf(factor);
    }
    row.each_shown(x, [&](const auto& place) {
      OnlineSoftmax& share = shares.at(place);
      typename Row::Numbers mask;
      if constexpr (kMask) mask = added(row, mask_offset, place);
      const auto numbers = x.at(place);
      if constexpr (!kMaxFirst) share.raise_max(largest(arguments<Row>(numbers, mask, 0)));
      share.sum += total(map([](float argument) { return detail::exp2_of(argument); },
                             arguments<Row>(numbers, mask, share.shift())));
    });
    OnlineSoftmax softmax;
    if (kMaxFirst && row.is_in_warp()) {
      auto sums = row.shares(0.0f);
#pragma unroll
      for (int i = 0; i < Row::kVirtual; ++i) sums.of[i] = shares.of[i].sum;
      softmax = {shares.of[0].max, row.reduce_shares(sums, 0.0f, detail::AddValues())};
    } else {
      softmax = row.reduce_shares(shares, OnlineSoftmax(), merged);
    }
    const float inverse = softmax.is_empty() ? 0 : 1 / softmax.sum;
    row.each([&](const auto& place) {
      typename Row::Numbers output = {};
      if (x.shows(place)) {
        typename Row::Numbers mask;
        if constexpr (kMask) mask = added(row, mask_offset, place);
        output = map([&](float argument) { return detail::exp2_of(argument) * inverse; },
                     arguments<Row>(x.at(place), mask, softmax.shift()));
      }
      row.store(call.output, place, output);
    });
  }
};

// Whether each vector of the mask lies at a multiple of its size.
template <typename T>
bool is_aligned(const SoftmaxMask& mask) {
  int element_bytes = 1;
  if (mask.kind == SoftmaxMask::Kind::kAdded) element_bytes = mask.dtype == DType::kFloat32 ? 4 : 2;
  if (reinterpret_cast<uintptr_t>(mask.data) % 16 != 0) return false;
  for (int dim = 0; dim < mask.num_dims; ++dim) {
    if (mask.strides[dim] * element_bytes % 16 != 0) return false;
  }
  return true;
}

struct LaunchForward {
  template <typename T>
  static void run(const Softmax& call, cudaStream_t stream) {
    const RowGrid grid{call.num_rows, call.width, call.output};
    const bool aligned = rows_are_aligned<T>(call.input) && rows_are_aligned<T>(call.output);
    // With a factor of 0 minus infinity would become NaN; the smallest makes 0 of all numbers.
    float factor = call.scale * kLog2E;
    if (factor == 0) factor = std::numeric_limits<float>::denorm_min();
    if (call.mask.kind == SoftmaxMask::Kind::kNone) {
      launch_rows(Forward<T, false>{call, factor}, grid, aligned, stream);
    } else {
      launch_rows(Forward<T, true>{call, factor}, grid, aligned && is_aligned<T>(call.mask),
                  stream);
    }
  }
};

}  // namespace softmax

void launch_softmax(const Softmax& call, void* stream) {
  for_device_type<softmax::LaunchForward>(call.dtype, call, static_cast<cudaStream_t>(stream));
}

}  // namespace cudaops_kernels
