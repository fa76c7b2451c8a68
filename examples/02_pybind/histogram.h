// SPDX-License-Identifier: Apache-2.0
// histogram: counts[b] = how often b occurs among the values, b in [0, num_bins).
#pragma once

#include <cstdint>

namespace pybind_ops {

// values: num_values bytes; counts: num_bins (at most 256) numbers that are 0. A value that is no
// bin is left out. Enqueues one kernel on `stream` (a cudaStream_t) of the current device. Throws
// std::runtime_error when the launch fails.
void launch_histogram(const uint8_t* values, int64_t num_values, int32_t* counts, int num_bins,
                      void* stream);

}  // namespace pybind_ops
