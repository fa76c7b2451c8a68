// SPDX-License-Identifier: Apache-2.0
// Rings of buffers in shared memory that one thread fills and others empty (sm_90 and later), with
// the barriers of mbarrier.cuh.
#pragma once

#include <cstdint>

#include "mbarrier.cuh"

namespace cudaops_kernels {

#if CUDAOPS_HAS_HOPPER

// The n-th thing that goes through a ring of kStages buffers lies in buffer stage(n); there it is
// full in phases of parity(n).
template <int kStages>
__device__ __forceinline__ int stage(uint32_t n) {
  return n % kStages;
}
template <int kStages>
__device__ __forceinline__ uint32_t parity(uint32_t n) {
  return n / kStages & 1;
}

// A place in such a ring that moves on by one buffer at a time; divisions take longer than that.
template <int kStages>
class RingPlace {
 public:
  __device__ __forceinline__ int stage() const { return stage_; }
  __device__ __forceinline__ uint32_t parity() const { return parity_; }
  __device__ __forceinline__ void advance() {
    ++stage_;
    if (stage_ == kStages) {
      stage_ = 0;
      parity_ ^= 1;
    }
  }

 private:
  int stage_ = 0;
  uint32_t parity_ = 0;
};

// The same by the number of buffers before: divisions, and one register less.
template <int kStages>
class CountedPlace {
 public:
  __device__ __forceinline__ int stage() const { return cudaops_kernels::stage<kStages>(count_); }
  __device__ __forceinline__ uint32_t parity() const {
    return cudaops_kernels::parity<kStages>(count_);
  }
  __device__ __forceinline__ void advance() { ++count_; }

 private:
  uint32_t count_ = 0;
};

// The barriers of a ring: for each of kStages buffers one that is complete when it is full, then
// for each one that is complete when it is empty.
template <int kStages>
struct Ring {
  uint64_t* base;

  __device__ __forceinline__ uint64_t* first_empty() const { return base + kStages; }
  __device__ __forceinline__ uint64_t* full(uint32_t n) const { return base + stage<kStages>(n); }
  __device__ __forceinline__ uint64_t* empty(uint32_t n) const {
    return first_empty() + stage<kStages>(n);
  }
  // Of the n-th buffer. `releases`: arrivals that make it empty; one makes it full.
  __device__ __forceinline__ void init(int n, uint32_t releases) const {
    init_barrier(full(n));
    init_barrier(empty(n), releases);
  }
  __device__ __forceinline__ void wait_until_full(uint32_t n) const {
    wait_for_phase(full(n), parity<kStages>(n));
  }
  __device__ __forceinline__ void wait_until_empty(uint32_t n) const {
    wait_for_phase(empty(n), parity<kStages>(n) ^ 1);
  }
  __device__ __forceinline__ void release(uint32_t n) const { arrive(empty(n)); }
  template <template <int> class Place>
  __device__ __forceinline__ void wait_until_full(const Place<kStages>& place) const {
    wait_for_phase(base + place.stage(), place.parity());
  }
  template <template <int> class Place>
  __device__ __forceinline__ void release(const Place<kStages>& place) const {
    arrive(first_empty() + place.stage());
  }
};

#endif

}  // namespace cudaops_kernels
