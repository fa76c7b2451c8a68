// SPDX-License-Identifier: Apache-2.0
// Launchers of what cudaops/gpu_compat.h offers in device code. All pointers are device pointers,
// all kernels one block of num_threads, on the default stream.
#pragma once

#include <cstdint>

namespace cudaops_tests {

enum class WarpCase {
  kWarpSize,
  kDeviceCode,
  kLaneId,       // in a two-dimensional block, 8 threads wide
  kActiveLanes,  // where inputs are odd: the caller's is one, no even one is
  kShfl,         // of lane 5
  kShflUp,       // by 3
  kShflDown,     // by 3
  kShflDownIn8,  // the same among 8 lanes
  kShflXor,      // with 5
  kShflXorIn32,  // with 16, among 32 lanes
  kShflDouble,   // a double of the lane above, times 4
  kShflBytes,    // 1, 2 and 12 bytes of the lane above
  kBallotCount,  // of odd inputs
  kBallotFirst,  // of odd inputs
  kBallotBelow,  // of odd inputs among the lowest 4 lanes
  kAny,          // is one above 990
  kAll,          // are all below 990
  kAllOfFirst,   // are all of the lowest 4 below 500
  kSum,
  kSumIn32,
  kMax,
  kMinIn8,
  kReduceProduct,  // of (input modulo 3) + 1, modulo 2^32
  kSyncWarp,       // the input of the lane's mirror image, by shared memory
  kLdg,
};

// out[i] is what thread i got. num_threads is a multiple of 64.
void launch_warp_case(WarpCase which, const int* input, int* out, int num_threads);

// out: the value in bfloat16 and in float16, and both widened again.
struct Converted {
  uint16_t bfloat16_bits;
  uint16_t float16_bits;
  float from_bfloat16;
  float from_float16;
};
void launch_conversions(const float* input, Converted* out, int num_values);

enum class AtomicType { kInt, kFloat, kDouble, kFloat16, kBFloat16 };

// Every thread adds 1 to cells[thread % num_cells]; previous[thread] is what was there before.
void launch_atomic_add(AtomicType type, void* cells, int num_cells, float* previous,
                       int num_threads);

// out[i] = input[num_threads - 1 - i], by way of num_bytes of dynamic shared memory.
void launch_with_shared_memory(const int* input, int* out, int num_threads, int num_bytes);

// What the host pass of a .cu file sees.
int device_code_on_the_host();

}  // namespace cudaops_tests
