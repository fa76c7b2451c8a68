// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.dequantize: schema and CPU kernel.
#include "dequantize_torch.h"

namespace cudaops_kernels {
namespace {

Tensor dequantize_on_cpu(const Tensor& input, const Tensor& scale, std::optional<Tensor> zero_point,
                         std::vector<int64_t> block_size, ScalarType dtype) {
  return dequantize_on(input, scale, zero_point, block_size, dtype,
                       [](const Dequantize& call) { dequantize_cpu(call, torch_threads); });
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library,
         "dequantize(Tensor input, Tensor scale, Tensor? zero_point, int[] block_size, "
         "ScalarType dtype) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, CPU, library) {
  implement(library, "dequantize", TORCH_BOX(&dequantize_on_cpu));
}

}  // namespace cudaops_kernels
