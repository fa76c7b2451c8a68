// SPDX-License-Identifier: Apache-2.0
// The forward kernel for sm_90a: what it computes and for which calls. launch_attention() asks it
// first, where attention.cu is compiled with CUDAOPS_ATTENTION_WITH_SM90.
#pragma once

#include "attention.h"

namespace cudaops_kernels {

// Whether the current device runs the kernel (compute capability 9.0, and the binary holds the code
// for sm_90a) and it computes what the call says: float16 or bfloat16; head dimensions that are
// multiples of 8; addresses and strides that are multiples of 16 bytes; a positive scale; sizes
// below 2^29. The first one: without bias, slopes and dropout. The forward kernel has them, a bias
// if its keys stand side by side and pairs of them are aligned.
bool attention_sm90_serves(const Attention& call);
bool attention_sm90_serves_forward(const Attention& call);

// For what attention_sm90_serves_forward(); as launch_attention().
void launch_attention_sm90(const Attention& call, void* stream);

// Tiles that launch_attention_sm90() chooses from, where the call has neither dropout nor a bias
// that comes through shared memory. kOne: the kernel of attention_sm90_one_tile.cu, for up to
// kMostOfOneTile queries and keys without softcap, slopes and bias.
enum class AttentionSm90Tiles { kOne, kShort, kLong };
constexpr int64_t kMostOfOneTile = 128;
AttentionSm90Tiles choose_attention_sm90_tiles(const Attention& call);
// By tiles that the caller chooses: to measure them.
void launch_attention_sm90_by(AttentionSm90Tiles tiles, const Attention& call, void* stream);
void launch_attention_sm90_one_tile(const Attention& call, void* stream);

}  // namespace cudaops_kernels
