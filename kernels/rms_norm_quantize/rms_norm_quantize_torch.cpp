// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.rms_norm_quantize: schema and CPU kernel.
#include "rms_norm_quantize_torch.h"

namespace cudaops_kernels {
namespace {

std::tuple<Tensor, Tensor, Tensor> rms_norm_quantize_on_cpu(
    const Tensor& input, const OptionalTensor& residual, const OptionalTensor& weight, double eps,
    ScalarType dtype, int64_t group_size, const OptionalTensor& scale_ub, bool ue8m0,
    bool scales_column_major, double weight_offset, const OptionalTensor& scale) {
  return rms_norm_quantize_on(
      input, residual, weight, eps, dtype, group_size, scale_ub, ue8m0, scales_column_major,
      weight_offset, scale, [&](const RmsNormQuantize& call) {
        const Tensor normed = empty_of_shape(input);
        rms_norm_quantize_cpu(call, normed.mutable_data_ptr(), torch_threads);
      });
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library,
         "rms_norm_quantize(Tensor input, Tensor? residual, Tensor? weight, float eps, "
         "ScalarType dtype, int group_size=-1, Tensor? scale_ub=None, bool ue8m0=False, "
         "bool scales_column_major=False, float weight_offset=0, Tensor? scale=None) "
         "-> (Tensor output, Tensor scale, Tensor residual_out)");
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, CPU, library) {
  implement(library, "rms_norm_quantize", TORCH_BOX(&rms_norm_quantize_on_cpu));
}

}  // namespace cudaops_kernels
