// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.transpose: schema and CPU kernel.
#include "transpose_torch.h"

namespace cudaops_kernels {
namespace {

Tensor transpose_on_cpu(const Tensor& input) {
  return transpose_on(input, [](const Transpose& call) { transpose_cpu(call, torch_threads); });
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library, "transpose(Tensor input) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, CPU, library) {
  implement(library, "transpose", TORCH_BOX(&transpose_on_cpu));
}

}  // namespace cudaops_kernels
