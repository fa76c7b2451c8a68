// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.swiglu_quantize: schema and CPU kernel.
#include "swiglu_quantize_torch.h"

namespace cudaops_kernels {
namespace {

std::tuple<Tensor, Tensor> swiglu_quantize_on_cpu(const Tensor& gate, const Tensor& up,
                                                  ScalarType dtype, int64_t group_size,
                                                  const std::optional<Tensor>& scale_ub, bool ue8m0,
                                                  bool scales_column_major,
                                                  const OptionalTensor& scale) {
  return swiglu_quantize_on(gate, up, dtype, group_size, scale_ub, ue8m0, scales_column_major,
                            scale, [&](const SwigluQuantize& call) {
                              const Tensor product = empty_of_shape(gate);
                              swiglu_quantize_cpu(call, product.mutable_data_ptr(), torch_threads);
                            });
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library,
         "swiglu_quantize(Tensor gate, Tensor up, ScalarType dtype, int group_size=-1, "
         "Tensor? scale_ub=None, bool ue8m0=False, bool scales_column_major=False, Tensor? "
         "scale=None) "
         "-> (Tensor output, Tensor scale)");
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, CPU, library) {
  implement(library, "swiglu_quantize", TORCH_BOX(&swiglu_quantize_on_cpu));
}

}  // namespace cudaops_kernels
