// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops_examples.vector_add: schema and kernels of both devices.
#include <torch/csrc/stable/library.h>

#include "../common/torch_device.h"
#include "vector_add.h"

namespace cudaops_examples {
namespace {

template <typename Device>
Tensor vector_add(const Tensor& a, const Tensor& b) {
  check_same("vector_add", "a", a, "b", b);
  const DType dtype = checked_dtype("vector_add", "a", a);
  const Device device(a);
  const Tensor contiguous_a = as_contiguous("vector_add", "a", a);
  const Tensor contiguous_b = as_contiguous("vector_add", "b", b);
  const Tensor out = make_empty(a, a.sizes());
  if constexpr (Device::kIsGpu) {
    launch_vector_add(contiguous_a.const_data_ptr(), contiguous_b.const_data_ptr(),
                      out.mutable_data_ptr(), a.numel(), dtype, device.stream());
  } else {
    vector_add_cpu(contiguous_a.const_data_ptr(), contiguous_b.const_data_ptr(),
                   out.mutable_data_ptr(), a.numel(), dtype, torch_threads);
  }
  return out;
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops_examples, library) {
  library.def("vector_add(Tensor a, Tensor b) -> Tensor");
}

CUDAOPS_DEVICE_KERNELS(cudaops_examples, Device, library) {
  library.impl("vector_add", TORCH_BOX(&vector_add<Device>));
}

}  // namespace cudaops_examples
