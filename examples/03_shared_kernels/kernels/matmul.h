// SPDX-License-Identifier: Apache-2.0
// matmul: out[m][n] = sum over k of a[m][k] * b[n][k], as in torch's linear.
//
// Shapes   a: num_m x num_k, b: num_n x num_k, out: num_m x num_n, all contiguous; any may be 0.
// Types    a, b: bfloat16 (its 16 bits); products and sums in float32; out: float32.
#pragma once

#include <cstdint>

namespace matmul {

struct Problem {
  const uint16_t* a;
  const uint16_t* b;
  float* out;
  int64_t num_m;
  int64_t num_n;
  int64_t num_k;
};

// Host pointers.
void run_on_cpu(const Problem& problem);

// Device pointers. Enqueue one kernel on `stream` (a cudaStream_t) of the current device, and throw
// std::runtime_error when the launch fails.
void launch_common(const Problem& problem, void* stream);
void launch_hopper(const Problem& problem, void* stream);

// Whether the current device can run launch_hopper().
bool is_hopper();

// Device pointers; picks the best kernel that was built and that the current device can run.
inline void launch_on_cuda(const Problem& problem, void* stream) {
#ifdef HAVE_HOPPER
  if (is_hopper()) return launch_hopper(problem, stream);
#endif
  launch_common(problem, stream);
}

}  // namespace matmul
