// SPDX-License-Identifier: Apache-2.0
// The argument `approximate` of ops with gelu, as torch spells it.
#pragma once

#include <string>

#include "activations.h"
#include "torch_binding.h"

namespace cudaops_kernels {

inline GeluKind gelu_kind(const char* op, const std::string& approximate) {
  if (approximate == "none") return GeluKind::kErf;
  if (approximate == "tanh") return GeluKind::kTanh;
  refuse(op, "wanted \"none\" or \"tanh\" for approximate, found \"" + approximate + "\".");
}

}  // namespace cudaops_kernels
