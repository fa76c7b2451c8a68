// SPDX-License-Identifier: Apache-2.0
// CPU launchers are handed their threads: the torch binding passes torch's own pool, so that an op
// starts no second one and torch.set_num_threads() holds. The types are plain C function pointers
// because that is what torch's stable ABI takes.
#pragma once

#include <cstdint>

namespace cudaops_kernels {

using ParallelBody = void (*)(int64_t begin, int64_t end, void* context);

// Calls body on disjoint ranges that cover [begin, end), possibly at the same time; a range is not
// shorter than grain_size unless it is the last. A body must not throw.
using ParallelFor = void (*)(int64_t begin, int64_t end, int64_t grain_size, ParallelBody body,
                             void* context);

inline void serial_for(int64_t begin, int64_t end, int64_t, ParallelBody body, void* context) {
  if (begin < end) body(begin, end, context);
}

// The same with a lambda: body(int64_t begin, int64_t end).
template <typename Body>
void run_parallel(ParallelFor parallel_for, int64_t begin, int64_t end, int64_t grain_size,
                  const Body& body) {
  parallel_for(
      begin, end, grain_size,
      [](int64_t first, int64_t last, void* context) {
        (*static_cast<const Body*>(context))(first, last);
      },
      const_cast<Body*>(&body));
}

}  // namespace cudaops_kernels
