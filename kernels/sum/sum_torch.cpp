// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops_examples.sum: schema and kernels of both devices.
#include <torch/csrc/stable/library.h>

#include "../common/torch_device.h"
#include "sum.h"

namespace cudaops_examples {
namespace {

template <typename Device>
Tensor sum(const Tensor& input) {
  const DType dtype = checked_dtype("sum", "input", input);
  const Device device(input);
  const Tensor contiguous_input = as_contiguous("sum", "input", input);
  const Tensor out = make_empty(input, {});
  if constexpr (Device::kIsGpu) {
    // From torch's allocator, which hands the memory to nobody else before the stream is done with
    // it.
    const int64_t workspace_floats =
        sum_workspace_bytes(input.numel(), dtype) / int64_t{sizeof(float)};
    const Tensor workspace =
        make_empty(input, {workspace_floats}, torch::headeronly::ScalarType::Float);
    launch_sum(contiguous_input.const_data_ptr(), out.mutable_data_ptr(), input.numel(), dtype,
               workspace.mutable_data_ptr(), device.stream());
  } else {
    sum_cpu(contiguous_input.const_data_ptr(), out.mutable_data_ptr(), input.numel(), dtype,
            torch_threads);
  }
  return out;
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops_examples, library) {
  library.def("sum(Tensor input) -> Tensor");
}

CUDAOPS_DEVICE_KERNELS(cudaops_examples, Device, library) {
  library.impl("sum", TORCH_BOX(&sum<Device>));
}

}  // namespace cudaops_examples
