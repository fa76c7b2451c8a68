// SPDX-License-Identifier: Apache-2.0
// A row that starts and ends anywhere within a vector, in a block's registers: each vector is
// masked by the row's ends. For persistent loops (row_persistent.cuh), where a thread's columns are
// the same in all rows and registers for a peeled vector would be taken from the sums. What it
// offers is said in row.h.
#pragma once

#include "row_base.cuh"

namespace cudaops_kernels {

template <typename T, int kVectors>
class MaskedRow : public RowBase<MaskedRow<T, kVectors>, RowTraits<kVectors, false>, T,
                                 RegisterTile<T, kVectors>> {
  using Base = RowBase<MaskedRow, RowTraits<kVectors, false>, T, RegisterTile<T, kVectors>>;

 public:
  using Base::Base;
  using typename Base::Tile;

  template <int kCount>
  __device__ __forceinline__ void load_tiles(Tile (&tiles)[kCount]) const {
    this->load_tiles_by(tiles, [](Tile& tile, const auto& place, const T* data) {
      tile.set(place.slot, load_ordered(data));
    });
  }
};

}  // namespace cudaops_kernels
