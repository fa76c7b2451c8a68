// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.quantize: schema and CPU kernel.
#include "quantize_torch.h"

namespace cudaops_kernels {
namespace {

std::tuple<Tensor, Tensor, Tensor> quantize_on_cpu(const Tensor& input, ScalarType dtype,
                                                   std::vector<int64_t> block_size,
                                                   std::optional<Tensor> scale,
                                                   std::optional<Tensor> scale_ub, bool symmetric,
                                                   bool ue8m0, bool scales_column_major,
                                                   std::optional<int64_t> seed) {
  return quantize_on(input, dtype, block_size, scale, scale_ub, symmetric, ue8m0,
                     scales_column_major, seed,
                     [](const Quantize& call) { quantize_cpu(call, torch_threads); });
}

}  // namespace

// Where a scale is given, the scale that is returned has no elements.
STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library,
         "quantize(Tensor input, ScalarType dtype, int[] block_size, Tensor? scale=None, "
         "Tensor? scale_ub=None, bool symmetric=True, bool ue8m0=False, "
         "bool scales_column_major=False, int? seed=None) "
         "-> (Tensor output, Tensor scale, Tensor zero_point)");
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, CPU, library) {
  implement(library, "quantize", TORCH_BOX(&quantize_on_cpu));
}

}  // namespace cudaops_kernels
