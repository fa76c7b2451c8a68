// SPDX-License-Identifier: Apache-2.0
// Ops that reduce over rows. An op says what happens to one row, in the order of its formula; a
// Row, one of the models below, says which elements a thread has and how they are loaded, reduced
// and stored. dispatch.cuh chooses the model.
//
//   template <typename T>
//   struct Scale {  // rows divided by their largest element
//     using Element = T;
//     static constexpr int kNumTiles = 1;  // rows that it holds at once; 0: none
//     static constexpr bool kReadsColumns = false;  // weights and the like, shared by all rows
//     ConstRows input;
//     Rows output;
//     template <typename Row>
//     __device__ void operator()(Row& row) const {
//       const auto x = row.load(input);
//       const float largest = row.max(row.largest(x).max());
//       row.each([&](auto place) { row.store(output, place, x.at(place) * (1 / largest)); });
//     }
//   };
//   launch_rows(Scale<T>{input, output}, RowGrid{num_rows, width, output}, aligned, stream);
//
// `aligned`: rows_are_aligned() of all its rows. An op may also have kNumInputs, kNumOutputs,
// input(i) and output(i): short rows without gaps are then taken together (packed_rows.cuh);
// kZeroPads, which says that it asks place.exists() before it stores, kKeepsWholeRows, and
// stage_bytes(), for shared memory of its own (all: dispatch.cuh).
//
// What a Row offers (signatures, in this order: row_loads.cuh, row_columns.cuh, row_base.cuh,
// row_places.cuh):
//   each(body)             body(place) for each 16-byte vector of the thread's; each_of(tile, body)
//                          with body(place, numbers), for an op that comes to each once
//   load, load_visible     a tile: tile.at(place) are a vector's elements as floats. All loads are
//                          issued before the first is used. load_visible: of a row's first
//                          elements, as causal softmax sees them; each_shown(tile, body) then
//                          leaves out vectors without one
//   make, compute          a tile of what body(place) returns, rounded to T; make also stores it
//   store(rows, place, x)  rounds to T
//   prefetch_columns, columns(data, place)   what all rows share, of T or float
//   sum_of(body)           of all body(place), in an order that depends on the row's width alone;
//                          shares and reduce_shares: the same for other values and operations
//   largest(tile)          of the thread's elements, as shares: row.max(row.largest(x).max())
//   max, reduce            over the row's threads, where the order makes no difference. Every
//                          thread of the block must call these two, sum_of and reduce_shares
//   index, width           which row it is; its elements
//   exists, is_leader      whether there is such a row, as a block may have more than are left;
//                          whether the thread is the one that writes what there is once a row
//   owns(column)           whether the thread stores the element of this column
//
// How a row is spread: vector i * threads + t belongs to thread t, so that each load of a warp is
// contiguous. Up to 128 vectors a row belongs to a warp or a part of one, up to 4096 to a block,
// up to 65536 (32768 or 16384 of several rows or with columns) to a cluster of blocks. Blocks live
// short: with one row each they keep more loads in flight than a persistent grid does. Rows too few
// to fill the GPU are wide: up to four times the threads, with two or four vectors each.
//
//   RegisterRow  (register_row.cuh)  a whole aligned row, in registers: read this one first
//   RaggedRow    (ragged_row.cuh)    in registers, starts and ends anywhere: peeled head and tail
//   MaskedRow    (masked_row.cuh)    the same, each vector masked: for persistent loops
//   LoopedRow    (looped_row.cuh)    too long for registers: read again in each pass
//   ClusterRow   (cluster_row.cuh)   in the registers and shared memory of a cluster (sm_90)
//   PeeledRow    (peeled_row.cuh)    what RaggedRow and a ClusterRow that isn't whole share
//   PackedRow    (packed_rows.cuh)   33 to 256 elements, rows without gaps that aren't aligned
//
// Alignment: vectors lie where the *output's* row (RowGrid's anchor) has its multiples of 16 bytes,
// so that stores are aligned; a row that starts elsewhere has a partial first and last vector.
// Inputs with another alignment take two aligned loads and a funnel shift; the second load hits L1.
#pragma once

#include <cstdint>

#include "../rows.h"
#include "../vectors.cuh"

namespace cudaops_kernels {

struct RowGrid {
  int64_t num_rows;
  int64_t width;
  Rows anchor;
};

// One vector of a row: element k is the row's element column + k, for begin <= k < end.
template <int kElements, bool kWhole>
struct Place {
  static constexpr int kSize = kElements;
  static constexpr bool kIsWhole = kWhole;
  int slot;    // which of the thread's vectors
  int column;  // negative where the row starts within the vector
  int begin;
  int end;
  __device__ __forceinline__ bool is_whole() const { return kWhole || end - begin == kSize; }
  __device__ __forceinline__ bool holds(int k) const { return kWhole || (k >= begin && k < end); }
  // False for the padding of a zero-padded row.
  __device__ __forceinline__ bool exists() const { return begin < end; }
};

// Whether all rows start at multiples of 16 bytes.
template <typename T>
bool rows_are_aligned(const void* data, int64_t stride) {
  return reinterpret_cast<uintptr_t>(data) % 16 == 0 && stride % Vector<T>::kSize == 0;
}
template <typename T>
bool rows_are_aligned(const ConstRows& rows) {
  return rows.data == nullptr || rows_are_aligned<T>(rows.data, rows.stride);
}
template <typename T>
bool rows_are_aligned(const Rows& rows) {
  return rows.data == nullptr || rows_are_aligned<T>(rows.data, rows.stride);
}

}  // namespace cudaops_kernels
