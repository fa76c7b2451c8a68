// SPDX-License-Identifier: Apache-2.0
// attention (attention.h) of few queries by attention_decode's kernels: what limits it is the
// reading of keys and values, which a block for each tile of queries leaves to few multiprocessors.
// The keys of a sequence are divided after so many, whatever comes with it: its result is the same
// in any batch.
#pragma once

#include "../attention/attention.h"

namespace cudaops_kernels {

// Whether the current device has the kernels (tensor cores of sm_80 and later), they compute what
// the call says and are faster: float16 or bfloat16; sequences of one length with up to 8 queries,
// 32 of a key head's query heads together, and at least one key; head_dim_v = head_dim, a multiple
// of 8; addresses and strides that are multiples of 16 bytes; no bias, slopes or dropout.
bool attention_few_serves(const Attention& call);

// For what attention_few_serves(); as launch_attention().
int64_t attention_few_workspace_bytes(const Attention& call);
void launch_attention_few(const Attention& call, void* workspace, void* stream);

}  // namespace cudaops_kernels
