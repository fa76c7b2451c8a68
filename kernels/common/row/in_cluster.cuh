// SPDX-License-Identifier: Apache-2.0
// What a model of rows has more that belong to a cluster of blocks (sm_90 and later): its threads are
// those of all blocks. kMayBeOne: or to a block without a cluster, which then meets no barriers of
// one. Elsewhere nothing: rows belong to a block.
#pragma once

#include "../cluster.cuh"

namespace cudaops_kernels {
namespace detail {

// Traits::enter(): blocks may use each other's shared memory when all have arrived; each arrival has
// its wait.
template <bool kMayBeOne>
__device__ __forceinline__ void enter_cluster() {
#if CUDAOPS_HAS_HOPPER
  if (!kMayBeOne || cluster_size() > 1) arrive_at_cluster_barrier();
#endif
}

template <typename Base, bool kMayBeOne>
class InCluster : public Base {
 public:
  using Base::Base;

#if CUDAOPS_HAS_HOPPER
  __device__ __forceinline__ int thread() const {
    return static_cast<int>(cluster_rank() * blockDim.x) + this->thread_;
  }
  __device__ __forceinline__ int num_threads() const {
    return static_cast<int>(cluster_size() * blockDim.x);
  }

  template <typename Value, typename Op>
  __device__ __forceinline__ Value reduce_over_blocks(const Value& value, const Value& identity,
                                                      const Op& op) {
    if (kMayBeOne && cluster_size() == 1) return value;
    wait_for_others();
    return reduce_over_cluster(this->scratch_->blocks[this->buffer_], value, identity, op);
  }

  // At the end, for an op that has not called for a reduction.
  __device__ __forceinline__ void leave_cluster() {
    if (!kMayBeOne || cluster_size() > 1) wait_for_others();
  }

 private:
  __device__ __forceinline__ void wait_for_others() {
    if (!others_run_) wait_at_cluster_barrier();
    others_run_ = true;
  }

  bool others_run_ = false;
#endif
};

}  // namespace detail
}  // namespace cudaops_kernels
