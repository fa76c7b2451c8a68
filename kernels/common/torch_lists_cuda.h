// SPDX-License-Identifier: Apache-2.0
// What bindings of CUDA (or HIP) kernels on lists of tensors need.
#pragma once

#include <optional>

#include "torch_binding_cuda.h"
#include "torch_lists.h"

namespace cudaops_kernels {

// The device of a list's first tensor, if it has one.
class ListGuard {
 public:
  explicit ListGuard(const TensorList& list) {
    if (!list.empty()) guard_.emplace(Kind(list[0]).device_index);
  }

 private:
  std::optional<DeviceGuard> guard_;
};

}  // namespace cudaops_kernels
