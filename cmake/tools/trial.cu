// SPDX-License-Identifier: Apache-2.0
// Compiled once for each pair of nvcc and host compiler before CMake enables CUDA: goes through the
// host's headers, cicc and ptxas, so that each of them gets its chance to fail.
#include <cmath>
__global__ void cudaops_trial(float* x) { *x = std::sqrt(*x); }
