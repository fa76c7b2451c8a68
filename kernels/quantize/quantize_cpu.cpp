// SPDX-License-Identifier: Apache-2.0
// quantize on the CPU: the ranges of all blocks, gathered where their scales will stand, then the
// scales, then the elements. A largest element is the same in whatever order threads come to it.
#include "../common/cpu_quantized.h"
#include "quantize.h"

namespace cudaops_kernels {
namespace {

// Numbers and their bits in turn stand in the same memory; whole numbers are what threads share.
void raise_to(void* shared, uint32_t bits) {
  uint32_t* const word = static_cast<uint32_t*>(shared);
  uint32_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (seen < bits && !__atomic_compare_exchange_n(word, &seen, bits, true, __ATOMIC_RELAXED,
                                                     __ATOMIC_RELAXED)) {
  }
}

uint32_t word_at(const void* shared) {
  uint32_t bits;
  std::memcpy(&bits, shared, sizeof bits);
  return bits;
}

void set_scales(const Quantize& call) {
  for_blocks(call.grid, call.strides, [&](int64_t at) {
    if (call.zero_point == nullptr) {
      call.scale[at] = symmetric_scale(word_at(call.scale + at), call.type, call.rule);
    } else {
      const ScaleAndZero both =
          asymmetric_scale(word_at(call.zero_point + at), word_at(call.scale + at), call.rule);
      call.scale[at] = both.scale;
      call.zero_point[at] = both.zero_point;
    }
  });
}

struct Run {
  template <typename T>
  static void gather(const Quantize& call, ParallelFor parallel_for) {
    const BlockGrid& grid = call.grid;
    const bool is_symmetric = call.zero_point == nullptr;
    for_blocks(grid, call.strides, [&](int64_t at) {
      call.scale[at] = 0;
      if (!is_symmetric) call.zero_point[at] = 0;
    });
    for_block_parts(parallel_for, grid, call.strides,
                    [&](int64_t at, int64_t row, int64_t first, int64_t last) {
                      const T* x = call.input.row<T>(row);
                      uint32_t high = 0, low = 0;
                      for (int64_t i = first; i < last; ++i) {
                        const float number = to_float(x[i]);
                        const uint32_t bits = magnitude_bits(number);
                        const bool goes_low = !is_symmetric && number < 0;
                        high = !goes_low && bits > high ? bits : high;
                        low = goes_low && bits > low ? bits : low;
                      }
                      raise_to(call.scale + at, high);
                      if (!is_symmetric) raise_to(call.zero_point + at, low);
                    });
    set_scales(call);
  }

  template <typename T>
  static void run(const Quantize& call, ParallelFor parallel_for) {
    if (!call.has_scale) gather<T>(call, parallel_for);
    const BlockGrid& grid = call.grid;
    const bool has_zero_point = call.zero_point != nullptr;
    const PhiloxKeys keys(call.seed);
    for_block_parts(parallel_for, grid, call.strides,
                    [&](int64_t at, int64_t row, int64_t first, int64_t last) {
                      const T* x = call.input.row<T>(row);
                      uint8_t* output = call.output.row<uint8_t>(row);
                      const float reciprocal = 1.0f / call.scale[at];
                      const int32_t zero_point = has_zero_point ? call.zero_point[at] : 0;
                      Philox random{};
                      for (int64_t i = first; i < last; ++i) {
                        const float number = to_float(x[i]) * reciprocal;
                        if (!call.is_random) {
                          output[i] = quantized_of(number, call.type, has_zero_point, zero_point);
                          continue;
                        }
                        const int64_t index = row * grid.width + i;
                        if (i == first || index % 8 == 0) random = random_words(keys, index);
                        const int half = static_cast<int>(index % 8);
                        output[i] = quantized_at_random(number, call.type, has_zero_point,
                                                        zero_point, random_word(random, half));
                      }
                    });
  }
};

}  // namespace

void quantize_cpu(const Quantize& call, ParallelFor parallel_for) {
  if (call.grid.num_blocks() == 0) return;
  for_host_type<Run>(call.dtype, call, parallel_for);
}

}  // namespace cudaops_kernels
