// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/stable/tensor.h>

namespace fallback_ops {

// center() made of torch's own ops: any device, any floating type, any strides.
torch::stable::Tensor center_anywhere(const torch::stable::Tensor& input);

}  // namespace fallback_ops
