// SPDX-License-Identifier: Apache-2.0
// How rows are loaded, made and stored: what the models share.
#pragma once

#include "row_places.cuh"

namespace cudaops_kernels {

// body(place, condition) as a body(place), where the condition is the same for a whole row:
// compute() then branches once, not for each vector, where the model gains by that.
template <typename Body>
struct Conditional {
  Body body;
  bool condition;
  template <typename Place>
  __device__ __forceinline__ auto operator()(const Place& place) const {
    return body(place, condition);
  }
};
template <typename Body>
__device__ __forceinline__ Conditional<Body> conditional(bool condition, const Body& body) {
  return {body, condition};
}

// use(body), with the condition as a constant where there is one.
template <typename Body, typename Use>
__device__ __forceinline__ void dispatch_condition(const Body& body, const Use& use) {
  use(body);
}
template <typename Body, typename Use>
__device__ __forceinline__ void dispatch_condition(const Conditional<Body>& body, const Use& use) {
  if (body.condition) {
    use([&](const auto& place) { return body.body(place, true); });
  } else {
    use([&](const auto& place) { return body.body(place, false); });
  }
}

template <typename Self, typename Traits, typename T, typename TileType>
class RowLoads : public RowPlaces<Self, Traits, T, TileType> {
  using Base = RowPlaces<Self, Traits, T, TileType>;

 public:
  using Base::Base;
  using Base::each;
  using Base::kIsWhole;
  using Base::kIsZeroPadded;
  using Base::kKept;
  using Base::kPeeledVectors;
  using Base::kSize;
  template <bool kAll>
  using PlaceOf = typename Base::template PlaceOf<kAll>;
  using typename Base::Numbers;
  using typename Base::Tile;

  // body(place, numbers) for each vector of this thread's: for an op that comes once to each, so
  // that those that aren't kept are loaded several at a time.
  template <typename Body>
  __device__ __forceinline__ void each_of(const Tile& tile, const Body& body) const {
    each([&](const auto& place) { body(place, tile.at(place)); });
  }
  // body(place) for each vector of this thread's that has a visible element.
  template <typename Body>
  __device__ __forceinline__ void each_shown(const Tile& tile, const Body& body) const {
    self().each_before(num_shown(tile), body);
  }

  // All loads are issued before the first is used.
  __device__ __forceinline__ Tile load(const ConstRows& rows) const {
    Tile tile = load_ahead(rows);
    finish(tile);
    return tile;
  }
  // The same in two steps, for a row that is worked on later: finish() waits for the loads.
  __device__ __forceinline__ Tile load_ahead(const ConstRows& rows) const {
    Tile tiles[1] = {tile_of(rows)};
    self().load_tiles(tiles);
    return tiles[0];
  }
  __device__ __forceinline__ void finish(Tile& tile) const {
    if constexpr (kKept > 0 && !kIsWhole) {
      each([&](const auto& place) {
        if (place.is_whole()) return;
        tile.set(place.slot, masked<T>(tile.get(place.slot), place.begin, place.end));
      });
    }
  }
  // Several rows at once: all of them are in flight before the first is waited for.
  template <int kCount>
  __device__ __forceinline__ void load(const ConstRows (&rows)[kCount],
                                       Tile (&tiles)[kCount]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) tiles[i] = tile_of(rows[i]);
    self().load_tiles(tiles);
#pragma unroll
    for (int i = 0; i < kCount; ++i) finish(tiles[i]);
  }

  // The rows' first `visible` elements; the others are not read, they are `hidden`.
  template <int kCount>
  __device__ __forceinline__ void load_visible(const ConstRows (&rows)[kCount], int64_t visible,
                                               float hidden, Tile (&tiles)[kCount]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      tiles[i] = tile_of(rows[i]);
      tiles[i].visible = static_cast<int>(visible);
      tiles[i].hidden = hidden;
    }
    self().load_tiles(tiles);
    if constexpr (kKept > 0) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        Tile& tile = tiles[i];
        each([&](const auto& place) {
          if (!tile.shows_all(place)) {
            tile.set(place.slot, tile.with_hidden(tile.get(place.slot), place));
          }
        });
      }
    }
  }
  __device__ __forceinline__ Tile load_visible(const ConstRows& rows, int64_t visible,
                                               float hidden) const {
    const ConstRows all[1] = {rows};
    Tile tiles[1];
    load_visible(all, visible, hidden, tiles);
    return tiles[0];
  }

  // A vector of the first or the last row of an array.
  template <bool kAll>
  __device__ __forceinline__ Packed load_near_ends(const Tile& tile,
                                                   const PlaceOf<kAll>& place) const {
    return detail::load_vector(tile.row, place, width_, tile.margins);
  }

  // Rounded to T and written to `out`, any rows: body(place) gives its numbers.
  template <typename Body>
  __device__ __forceinline__ Tile make(const Rows& out, const Body& body) const {
    Tile tile = self().tile_at(out.template row<T>(index_), out.stride);
    each([&](const auto& place) {
      const Packed vector = pack<T>(body(place));
      tile.set(place.slot, vector);
      if (!kIsZeroPadded || place.exists()) {
        self().store_anywhere(out.template row<T>(index_), place, vector);
      }
    });
    return tile;
  }

  // Rounded to T; where a row doesn't fit in registers, body(place) is called as often as the
  // numbers are asked for.
  template <typename Body>
  __device__ __forceinline__ auto compute(const Body& body) const {
    ComputedTile<T, Traits::kComputed, Body> computed(body);
    if constexpr (Traits::kComputed > 0) {
      const auto fill = [&](const auto& numbers) {
        each([&](const auto& place) { computed.set(place.slot, pack<T>(numbers(place))); });
      };
      if constexpr (kIsZeroPadded) {
        dispatch_condition(body, fill);
      } else {
        fill(body);
      }
    }
    return computed;
  }

  // To the rows that are the grid's anchor.
  template <bool kAll>
  __device__ __forceinline__ void store(const Rows& anchor, const PlaceOf<kAll>& place,
                                        const Numbers& numbers) const {
    T* const row = anchor.template row<T>(index_);
    const Packed packed = pack<T>(numbers);
    T* const data = row + place.column;
    if (kAll || place.is_whole()) {
      store_aligned(data, packed);
    } else {
      store_unaligned(data, packed, place.begin, place.end);
    }
  }

  __device__ __forceinline__ Tile tile_at(const T* data, int64_t stride) const {
    Tile tile;
    tile.row = Traits::kKeepsAddresses ? kept_address(data) : data;
    tile.width = width_;
    tile.margins = detail::margins_of_row<kSize>(index_, num_rows_, stride);
    return tile;
  }

  // To a row that may have another alignment than the anchor's.
  template <bool kAll>
  __device__ __forceinline__ void store_anywhere(T* row, const PlaceOf<kAll>& place,
                                                 const Packed& packed) const {
    T* const data = row + place.column;
    const bool is_aligned = kIsWhole || is_aligned_to_16(data);
    const int lanes = is_aligned ? 0 : num_lanes(place);
    if (kIsWhole || (is_aligned && place.is_whole())) {
      store_aligned(data, packed);
    } else if (lanes > 0) {
      store_unaligned(data, packed, place.begin, place.end, lanes);
    } else {
      store_unaligned(data, packed, place.begin, place.end);
    }
  }

 protected:
  using Base::index_;
  using Base::num_rows_;
  using Base::num_vectors_;
  using Base::self;
  using Base::shift_;
  using Base::width_;

  __device__ __forceinline__ Tile tile_of(const ConstRows& rows) const {
    return self().tile_at(rows.template row<T>(index_), rows.stride);
  }

  // Vectors up to the last with a visible element.
  __device__ __forceinline__ int num_shown(const Tile& tile) const {
    const int shown = (tile.visible + shift_ + kSize - 1) / kSize;
    return shown < num_vectors_ ? shown : num_vectors_;
  }

  // For load_tiles(): direct(tile, place, data) issues the load of an aligned vector. Rows that lie
  // between others are loaded without a look at their ends: a branch or a choice for each vector,
  // and the place where branches meet, would have a load wait for those before.
  template <int kCount, typename Direct>
  __device__ __forceinline__ void load_tiles_by(Tile (&tiles)[kCount], const Direct& direct) const {
    const bool are_inside = this->are_inside(tiles);
    const bool are_aligned = this->are_aligned_as_anchor(tiles);
    const auto each_vector = [&](const auto& body) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        self().each_before(num_shown(tiles[i]), [&](const auto& place) { body(i, place); });
      }
    };
    if (are_inside && are_aligned) {
      each_vector(
          [&](int i, const auto& place) { direct(tiles[i], place, tiles[i].row + place.column); });
    } else if (are_inside) {
      each_vector([&](int i, const auto& place) {
        tiles[i].set(place.slot, load_unaligned(tiles[i].row + place.column));
      });
    } else {
      each_vector([&](int i, const auto& place) {
        tiles[i].set(place.slot, self().load_near_ends(tiles[i], place));
      });
    }
  }

  // Whether all of the rows lie between others.
  template <int kCount>
  __device__ __forceinline__ bool are_inside(const Tile (&tiles)[kCount]) const {
    bool are_inside = true;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const detail::Margins& margins = tiles[i].margins;
      are_inside = are_inside && (kIsWhole || (margins.before && margins.behind));
    }
    return are_inside;
  }
  template <int kCount>
  __device__ __forceinline__ bool are_aligned_as_anchor(const Tile (&tiles)[kCount]) const {
    bool are_aligned = true;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      are_aligned = are_aligned && (kIsWhole || is_aligned_to_16(tiles[i].row - shift_));
    }
    return are_aligned;
  }

  // So many lanes of the warp, from the first on, have a vector at this slot; 0 where they aren't
  // neighbours. Where rows are shorter than a warp it is not worth it.
  template <bool kAll>
  __device__ __forceinline__ int num_lanes(const PlaceOf<kAll>& place) const {
    if (blockDim.x < detail::kReduceLanes || (kPeeledVectors > 0 && !kAll)) return 0;
    const int first = static_cast<int>((place.column + shift_) / kSize) -
                      static_cast<int>(threadIdx.x % detail::kReduceLanes);
    const int left = num_vectors_ - kPeeledVectors - first;
    return left < detail::kReduceLanes ? left : detail::kReduceLanes;
  }
};

}  // namespace cudaops_kernels
