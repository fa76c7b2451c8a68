// SPDX-License-Identifier: Apache-2.0
// What the ops are measured against: the fastest plain copy we know, and nothing at all.
#pragma once

#include <cstdint>

namespace cudaops_bench {

// Copies bytes (a multiple of 16, both pointers aligned to 16); stream: a cudaStream_t.
void launch_copy(const void* from, void* to, int64_t bytes, void* stream);

// A kernel of one block that does nothing: what every launch costs.
void launch_empty(void* stream);

}  // namespace cudaops_bench
