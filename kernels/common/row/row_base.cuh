// SPDX-License-Identifier: Apache-2.0
// What the models of a row share: everything that can be said in terms of
//
//   Self::each_before(end, body)      body(place) for each vector of the thread's that comes before
//                                     vector `end` of the row
//   Self::load_tiles(tiles)           the loads of several rows, all in flight at once
//   Self::packed_columns<which>(data, place, first)   a vector of what all rows share
//   Self::thread(), num_threads()     among those that share the row
//
// A model that needs another way to do one of these, or any function below, has its own of the same
// name; calls go to the model's (self()). By topic: row_places.cuh, row_loads.cuh, row_columns.cuh,
// and here reductions over the row's threads. All of those get the result, and every thread of the
// block must call them.
#pragma once

#include "../abs_max.cuh"
#include "row_columns.cuh"

namespace cudaops_kernels {

template <typename Self, typename Traits, typename T, typename TileType>
class RowBase : public RowColumns<Self, Traits, T, TileType> {
  using Base = RowColumns<Self, Traits, T, TileType>;

 public:
  using Base::Base;
  using Base::each;
  using Base::each_shown;
  using Base::kSlots;
  using Base::kVirtual;
  using typename Base::Tile;

  // Value: at most 16 bytes that a shuffle takes; identity: op(identity, x) is x.
  template <typename Value, typename Op>
  __device__ __forceinline__ Value reduce(Value value, const Value& identity, const Op& op) {
    static_assert(sizeof(Value) <= RowScratch::kMaxValueBytes, "no room for so large a value");
    const int block_threads = blockDim.x;
    if (Traits::kMaySplitWarps && block_threads < detail::kReduceLanes) {
      return cudaops::warp_reduce(value, op, block_threads);
    }
    return self().template reduce_over_block<1>(
        detail::reduce_over_group<detail::kReduceLanes>(value, op), identity, op);
  }
  template <int kCount>
  __device__ __forceinline__ Floats<kCount> sum(const Floats<kCount>& values) {
    return reduce(values, Floats<kCount>(), detail::AddValues());
  }
  __device__ __forceinline__ float max(float value) {
    return reduce(value, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
  }
  // Of numbers of which none is negative or NaN.
  __device__ __forceinline__ float max_of_magnitudes(float value) {
    return __uint_as_float(reduce(__float_as_uint(value), 0u, detail::MaxOfBits()));
  }

  // The same where bits matter: in an order that the row's width decides, however many threads take
  // the row. It is that of virtual threads with kVirtualVectors vectors each, and a thread with
  // more vectors stands for several of them, one in so many slots each.
  template <typename Value>
  using Shares = cudaops_kernels::Shares<Value, kVirtual, kSlots>;
  template <typename Value>
  __device__ __forceinline__ static Shares<Value> shares(const Value& value) {
    return Shares<Value>(value);
  }
  template <typename Value, typename Op>
  __device__ __forceinline__ Value reduce_shares(const Shares<Value>& shares, const Value& identity,
                                                 const Op& op) {
    if constexpr (kVirtual == 1) {
      return reduce(shares.of[0], identity, op);
    } else {
      // Up to a warp: rows that no op takes by more threads, or half of those that another does.
      constexpr bool kAreShort = kSlots <= detail::kMaxWarpSlots;
      if constexpr (kAreShort && !Traits::kHasManyWarps) {
        if (blockDim.x <= detail::kReduceLanes) {
          Value value = shares.of[0];
#pragma unroll
          for (int i = 1; i < kVirtual; ++i) value = op(value, shares.of[i]);
          return cudaops::warp_reduce(value, op, static_cast<int>(blockDim.x));
        }
      }
      Value value = detail::reduce_each_over_group<detail::kReduceLanes>(shares.of, op);
      if constexpr (!kAreShort) {
        if (blockDim.x == detail::kReduceLanes) {
#pragma unroll
          for (int i = kVirtual / 2; i > 0; i /= 2) {
            value = op(value, cudaops::shfl_xor(value, i * detail::kReduceLanes / kVirtual, 32));
          }
          return value;
        }
      }
      return self().template reduce_over_block<kVirtual>(value, identity, op);
    }
  }
  // The sum of body(place) over the row.
  template <typename Body>
  __device__ __forceinline__ float sum_of(const Body& body) {
    Shares<float> sums(0);
    each([&](const auto& place) { sums.at(place) += body(place); });
    return reduce_shares(sums, 0.0f, detail::AddValues());
  }
  // The largest of a tile, or of its negatives, of each virtual thread; minus infinity if nothing.
  __device__ __forceinline__ Shares<float> largest(const Tile& tile,
                                                   bool of_negatives = false) const {
    Shares<AbsMax<T>> largest(AbsMax<T>(-INFINITY));
    each_shown(tile, [&](const auto& place) {
      const Packed vector = tile.packed(place);
      largest.at(place).add_signed(of_negatives ? negated<T>(vector) : vector);
    });
    Shares<float> values(0);
#pragma unroll
    for (int i = 0; i < kVirtual; ++i) values.of[i] = largest.of[i].value();
    return values;
  }

  // What one warp, and then one block, has left. Self::reduce_over_blocks(): of a cluster.
  template <int kEach = 1, typename Value, typename Op>
  __device__ __forceinline__ Value reduce_over_block(Value value, const Value& identity,
                                                     const Op& op) {
    if (!Traits::kHasManyWarps && blockDim.x == detail::kReduceLanes) return value;
    value = detail::reduce_over_warps<kEach>(scratch_->warps[buffer_], value, identity, op);
    value = self().reduce_over_blocks(value, identity, op);
    buffer_ ^= 1;
    return value;
  }
  template <typename Value, typename Op>
  __device__ __forceinline__ Value reduce_over_blocks(const Value& value, const Value&, const Op&) {
    return value;
  }

 protected:
  using Base::buffer_;
  using Base::scratch_;
  using Base::self;
};

}  // namespace cudaops_kernels
