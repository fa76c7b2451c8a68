// SPDX-License-Identifier: Apache-2.0
// attention on the tensor cores of sm_80 and later: float16 and bfloat16.
#pragma once

#include "attention.h"

namespace cudaops_kernels {

// Whether it can take this call on the current device; what it can't take is the plain kernels'.
bool attention_sm80_serves(const Attention& call);
bool attention_backward_sm80_serves(const AttentionBackward& call);

void launch_attention_sm80(const Attention& call, void* stream);
// delta is there; grad_bias and grad_sinks are others'.
void launch_attention_backward_sm80(const AttentionBackward& call, void* stream);

}  // namespace cudaops_kernels
