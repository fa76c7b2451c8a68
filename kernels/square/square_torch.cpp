// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops_examples.square: schema and kernels of both devices.
#include <torch/csrc/stable/library.h>

#include "../common/torch_device.h"
#include "square.h"

namespace cudaops_examples {
namespace {

template <typename Device>
Tensor square(const Tensor& input) {
  const DType dtype = checked_dtype("square", "input", input);
  const Device device(input);
  const Tensor contiguous_input = as_contiguous("square", "input", input);
  const Tensor out = make_empty(input, input.sizes());
  if constexpr (Device::kIsGpu) {
    launch_square(contiguous_input.const_data_ptr(), out.mutable_data_ptr(), input.numel(), dtype,
                  device.stream());
  } else {
    square_cpu(contiguous_input.const_data_ptr(), out.mutable_data_ptr(), input.numel(), dtype,
               torch_threads);
  }
  return out;
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops_examples, library) {
  library.def("square(Tensor input) -> Tensor");
}

CUDAOPS_DEVICE_KERNELS(cudaops_examples, Device, library) {
  library.impl("square", TORCH_BOX(&square<Device>));
}

}  // namespace cudaops_examples
