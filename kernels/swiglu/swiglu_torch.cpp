// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.swiglu and its backward: schemas and kernels of both devices.
#include <torch/csrc/stable/library.h>

#include "../common/torch_device.h"
#include "../common/torch_gated_unit.h"
#include "swiglu.h"

namespace cudaops_kernels {
namespace {

template <typename Device>
Tensor swiglu(const Tensor& gate, const Tensor& up) {
  const Device device(gate);
  return gated_unit_on("swiglu", gate, up, [&](const GatedUnit& call) {
    if constexpr (Device::kIsGpu) {
      launch_swiglu(call, device.stream());
    } else {
      swiglu_cpu(call, torch_threads);
    }
  });
}

template <typename Device>
std::tuple<Tensor, Tensor> swiglu_backward(const Tensor& grad_output, const Tensor& gate,
                                           const Tensor& up) {
  const Device device(gate);
  const auto run = [&](const GatedUnitBackward& call) {
    if constexpr (Device::kIsGpu) {
      launch_swiglu_backward(call, device.stream());
    } else {
      swiglu_backward_cpu(call, torch_threads);
    }
  };
  return gated_unit_backward_on("swiglu_backward", grad_output, gate, up, run);
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library, "swiglu(Tensor gate, Tensor up) -> Tensor");
  define(library,
         "swiglu_backward(Tensor grad_output, Tensor gate, Tensor up) "
         "-> (Tensor grad_gate, Tensor grad_up)");
}

CUDAOPS_DEVICE_KERNELS(cudaops, Device, library) {
  implement(library, "swiglu", TORCH_BOX(&swiglu<Device>));
  implement(library, "swiglu_backward", TORCH_BOX(&swiglu_backward<Device>));
}

}  // namespace cudaops_kernels
