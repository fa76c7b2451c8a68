// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include "silu.h"

namespace silu {
namespace {

float silu_of(float x) { return x / (1.0f + std::exp(-x)); }

// A bfloat16 is the upper half of a float.
float to_float(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

// To nearest, ties to even.
uint16_t to_bfloat16(float value) {
  if (std::isnan(value)) return 0x7fff;
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace

void run_on_cpu(const void* input, void* out, int64_t num_elements, DType dtype) {
  if (dtype == DType::kFloat32) {
    const auto* from = static_cast<const float*>(input);
    auto* to = static_cast<float*>(out);
    for (int64_t i = 0; i < num_elements; ++i) to[i] = silu_of(from[i]);
  } else {
    const auto* from = static_cast<const uint16_t*>(input);
    auto* to = static_cast<uint16_t*>(out);
    for (int64_t i = 0; i < num_elements; ++i) to[i] = to_bfloat16(silu_of(to_float(from[i])));
  }
}

}  // namespace silu
