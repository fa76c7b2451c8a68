// SPDX-License-Identifier: Apache-2.0
// geglu on CUDA devices. Forward moves 3 * sizeof(T) bytes an element, backward 5; both are bound
// by that alone.
#include "../common/pointwise.cuh"
#include "geglu.h"

namespace cudaops_kernels {

void launch_geglu(const GatedUnit& call, GeluKind kind, void* stream) {
  for_gelu(kind, [&](auto gelu) {
    launch_pointwise(GatedUnitFormula<decltype(gelu)>{}, pointwise_of(call), call.dtype, stream);
  });
}

void launch_geglu_backward(const GatedUnitBackward& call, GeluKind kind, void* stream) {
  for_gelu(kind, [&](auto gelu) {
    launch_pointwise(GatedUnitBackwardFormula<decltype(gelu)>{}, pointwise_of(call), call.dtype,
                     stream);
  });
}

}  // namespace cudaops_kernels
