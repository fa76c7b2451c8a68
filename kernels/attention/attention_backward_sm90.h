// SPDX-License-Identifier: Apache-2.0
// The backward kernels for sm_90a, beside those of attention_sm90.h: launch_attention_backward()
// asks them first, where attention_backward.cu is compiled with
// CUDAOPS_ATTENTION_BACKWARD_WITH_SM90.
#pragma once

#include "attention.h"

namespace cudaops_kernels {

// Whether the current device runs them and they compute what the call says: what
// attention_sm90_serves(), also with slopes (then without a softcap) and with dropout; gradients
// and grad_output at multiples of 16 bytes.
bool attention_backward_sm90_serves(const AttentionBackward& call);

// For such calls: bytes of device memory that the launch needs.
int64_t attention_backward_sm90_workspace_bytes(const AttentionBackward& call);

// For such calls: delta, grad_q, grad_k, grad_v and, over zeros, grad_bias.
void launch_attention_backward_sm90(const AttentionBackward& call, void* workspace, void* stream);

}  // namespace cudaops_kernels
