// SPDX-License-Identifier: Apache-2.0
// attention_float8 on the tensor cores' float8 products of sm_90a. launch_attention_float8() asks
// it first, where attention_float8.cu is compiled with CUDAOPS_ATTENTION_FLOAT8_WITH_SM90.
#pragma once

#include <cstdint>

#include "attention_float8.h"

namespace cudaops_kernels {

// Whether the current device runs the kernel (attention_sm90.h) and it computes what the call says:
// an output of float16 or bfloat16; head dimensions that are multiples of 16; addresses and strides
// of q, k and v that are multiples of 16 bytes; the rest as attention_sm90_serves_forward().
bool attention_float8_sm90_serves(const AttentionFloat8& call);

// For what it serves; as launch_attention_float8().
int64_t attention_float8_sm90_workspace_bytes(const AttentionFloat8& call);
void launch_attention_float8_sm90(const AttentionFloat8& call, void* workspace, void* stream);

}  // namespace cudaops_kernels
