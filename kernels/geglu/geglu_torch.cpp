// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.geglu and its backward: schemas and kernels of both devices.
#include <torch/csrc/stable/library.h>

#include "../common/torch_device.h"
#include "../common/torch_gated_unit.h"
#include "../common/torch_gelu.h"
#include "geglu.h"

namespace cudaops_kernels {
namespace {

template <typename Device>
Tensor geglu(const Tensor& gate, const Tensor& up, const std::string& approximate) {
  const Device device(gate);
  const GeluKind kind = gelu_kind("geglu", approximate);
  return gated_unit_on("geglu", gate, up, [&](const GatedUnit& call) {
    if constexpr (Device::kIsGpu) {
      launch_geglu(call, kind, device.stream());
    } else {
      geglu_cpu(call, kind, torch_threads);
    }
  });
}

template <typename Device>
std::tuple<Tensor, Tensor> geglu_backward(const Tensor& grad_output, const Tensor& gate,
                                          const Tensor& up, const std::string& approximate) {
  const Device device(gate);
  const GeluKind kind = gelu_kind("geglu_backward", approximate);
  const auto run = [&](const GatedUnitBackward& call) {
    if constexpr (Device::kIsGpu) {
      launch_geglu_backward(call, kind, device.stream());
    } else {
      geglu_backward_cpu(call, kind, torch_threads);
    }
  };
  return gated_unit_backward_on("geglu_backward", grad_output, gate, up, run);
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library, "geglu(Tensor gate, Tensor up, str approximate=\"none\") -> Tensor");
  define(library,
         "geglu_backward(Tensor grad_output, Tensor gate, Tensor up, str approximate=\"none\") "
         "-> (Tensor grad_gate, Tensor grad_up)");
}

CUDAOPS_DEVICE_KERNELS(cudaops, Device, library) {
  implement(library, "geglu", TORCH_BOX(&geglu<Device>));
  implement(library, "geglu_backward", TORCH_BOX(&geglu_backward<Device>));
}

}  // namespace cudaops_kernels
