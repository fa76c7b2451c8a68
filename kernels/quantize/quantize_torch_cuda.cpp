// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.quantize: CUDA kernel.
#include <torch/csrc/stable/library.h>

#include "../common/torch_binding_cuda.h"
#include "quantize_torch.h"

namespace cudaops_kernels {
namespace {

std::tuple<Tensor, Tensor, Tensor> quantize_on_cuda(const Tensor& input, ScalarType dtype,
                                                    std::vector<int64_t> block_size,
                                                    std::optional<Tensor> scale,
                                                    std::optional<Tensor> scale_ub, bool symmetric,
                                                    bool ue8m0, bool scales_column_major,
                                                    std::optional<int64_t> seed) {
  const DeviceGuard guard(input.get_device_index());
  return quantize_on(input, dtype, block_size, scale, scale_ub, symmetric, ue8m0,
                     scales_column_major, seed,
                     [&](const Quantize& call) { launch_quantize(call, current_stream(input)); });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(cudaops, CUDA, library) {
  implement(library, "quantize", TORCH_BOX(&quantize_on_cuda));
}

}  // namespace cudaops_kernels
