// SPDX-License-Identifier: Apache-2.0
// A kernel whose running time is known, to check the clock that times the others.
#pragma once

#include <cstdint>

namespace cudaops_tests {

// Enqueues one thread that ends `duration_ns` nanoseconds after it started; stream: a cudaStream_t.
void launch_spin(int64_t duration_ns, void* stream);

}  // namespace cudaops_tests
