// SPDX-License-Identifier: Apache-2.0
// Softmax in one pass over its arguments (Milakov, Gimelshein: Online normalizer calculation for
// softmax, 2018): the largest so far, and the sum of exponentials relative to it. Arguments are in
// powers of two.
#pragma once

#include <cmath>

#include "activations.h"
#include "rows.h"

namespace cudaops_kernels {

constexpr float kLn2 = 0.693147181f;

struct OnlineSoftmax {
  float max = -INFINITY;
  float sum = 0;

  // What arguments are shifted by: infinities can't be subtracted.
  CUDAOPS_HOST_DEVICE float shift() const { return max == -INFINITY ? 0 : max; }
  // Nothing but minus infinity: no exponential to divide by.
  CUDAOPS_HOST_DEVICE bool is_empty() const { return sum == 0; }
  CUDAOPS_HOST_DEVICE void raise_max(float argument) {
    OnlineSoftmax raised;
    raised.max = fmaxf(max, argument);
    raised.sum = sum * detail::exp2_of(max - raised.shift());
    *this = raised;
  }
};

// The same bits if a and b change places: lanes that exchange theirs get the same.
CUDAOPS_HOST_DEVICE inline OnlineSoftmax merged(const OnlineSoftmax& a, const OnlineSoftmax& b) {
  const bool a_is_larger = a.max >= b.max;
  OnlineSoftmax both;
  both.max = a_is_larger ? a.max : b.max;
  const float smaller_max = a_is_larger ? b.max : a.max;
  const float sum = a_is_larger ? a.sum : b.sum, smaller_sum = a_is_larger ? b.sum : a.sum;
  both.sum = fmaf(smaller_sum, detail::exp2_of(smaller_max - both.shift()), sum);
  return both;
}

}  // namespace cudaops_kernels
