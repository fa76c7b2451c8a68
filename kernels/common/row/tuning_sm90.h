// SPDX-License-Identifier: Apache-2.0
// What was measured for rows: how they are spread over threads, and where one way of doing it ends
// and the next begins. Measured on an H200 (sm_90, CUDA 13.0) with the ops' programs in
// bench/kernels (`<op>_benchmark`, all of them by run_gpu.py), those of 2026-11-26 on an H100 in
// CUDA graphs of one op; each constant names the day, which is that of the commit that has it.
// Older and newer GPUs use the same numbers: another generation gets a file like this one.
//
// Constants marked "order" decide in which order a row is added up: to change one changes the last
// bits of results.
#pragma once

#include <cstdint>

#include "../rows.h"

namespace cudaops_kernels {
namespace detail {

// What the choice of a model knows of an op.
struct RowOp {
  int num_tiles;       // rows that it holds at once; 0: none
  bool reads_columns;  // weights and the like
  int element_bytes;
  bool allows_padding;             // it asks place.exists() before it stores
  bool reads_two_columns = false;  // weight and bias
};
// An op that holds no row, where it holds one. cross_entropy's loss alone took 137 us for 158 so
// (8192 x 32000 of bfloat16), 69 for 99 (16384 columns), 25.1 for 28.0 (4096), 47 for 52 (32768 x
// 2048), 4.1 for 4.7 of one row of 32000. H200, 2026-11-27. Order.
constexpr RowOp keeping_one(RowOp op) {
  op.num_tiles = 1;
  return op;
}

// ---------------------------------------------------------------------------------------------------
// Rows in registers: rms_norm, layer_norm, softmax, cross_entropy, *_quantize

// At most, of a block: leaves a thread 128 registers. 2026-11-22. Order.
constexpr int kMaxRowThreads = 512;

// Rows of up to so many vectors belong to a warp or a part of one, so that their sums take no
// barrier. 2026-11-22. Order.
constexpr int kMaxWarpVectors = 128;
constexpr int kMaxWarpSlots = kMaxWarpVectors / 32;

// Sums over a row are those of virtual threads with so many vectors each (Row::Shares): a row has
// as many threads as suits the number of rows, up to one a virtual thread. 2026-11-26. Order.
constexpr int kVirtualVectors = 2;
CUDAOPS_HOST_DEVICE constexpr int num_virtual_threads(int vectors) {
  return vectors > kVirtualVectors ? vectors / kVirtualVectors : 1;
}

// A block of rows that take a warp or less has so many threads: two warps make room for the next
// block sooner than more would. 2026-11-23.
constexpr int kWarpRowsThreads = 64;

// Of a row by four vectors a thread, where the op would rather have eight: those take fewer threads
// for a row's sums. 2026-11-22. Order.
constexpr int kMaxThreadsByFour = 128;

// Vectors a thread and threads of a row; 0 vectors: read in a loop; kLong: launch_long_rows().
struct RowShape {
  static constexpr int kLong = -1;
  int vectors;
  int threads;
};

// Zero padding pays where loads that come late, of columns or of vectors in two parts, gain by
// being in flight together, and there are registers for it. Whole rows of float or of two tiles
// wait for memory rather than for instructions, and need the warps. 2026-11-23.
CUDAOPS_HOST_DEVICE constexpr bool zero_pads(const RowOp& op, int vectors, bool is_whole) {
  if (!op.allows_padding || vectors == 0) return false;
  if (!is_whole && vectors == 4) return op.reads_columns || op.num_tiles > 1;
  return op.reads_columns && op.num_tiles == 1 && op.element_bytes < 4;
}

// For __launch_bounds__, blocks of kMaxRowThreads a multiprocessor. Without branches nvcc would
// have so many loads in flight that there is room for half of the warps only. 1 allows for as many
// registers as 0, nothing asked, but makes nvcc choose others: fewer of those for two tiles, up to
// a quarter more elsewhere. Two zero-padded tiles without columns are better with twice the warps,
// though nvcc spills for it: 156.9 us with 200 bytes spilled a thread, 197.2 with 115 registers and
// none (swiglu_quantize, 32768 x 4097 of bfloat16); one tile with columns 131.7 with 56 bytes,
// 142.2 with 127 registers (rms_norm_quantize). H200, 2026-11-27.
CUDAOPS_HOST_DEVICE constexpr int min_row_blocks(const RowOp& op, int vectors, bool is_whole) {
  if (zero_pads(op, vectors, is_whole)) return op.num_tiles == 1 || !op.reads_columns ? 2 : 1;
  // Both in flight would take 75 registers: 176.2 us for 161.2 (32768 x 4097 of bfloat16).
  // 2026-11-27.
  if (op.reads_two_columns && op.element_bytes < 4 && vectors == 4 && !is_whole) return 2;
  return op.num_tiles > 1 && vectors == 4 && !is_whole ? 1 : 0;
}

// The same of rows that are read in a loop: with nothing asked nvcc takes the registers of three
// blocks for two float tiles, and spills; asked for three, it takes as many and does not.
// 2026-11-26.
CUDAOPS_HOST_DEVICE constexpr int min_looped_blocks(const RowOp& op, bool is_whole) {
  return op.num_tiles == 2 && op.reads_columns && op.element_bytes == 4 && !is_whole ? 3 : 0;
}

// Of a row that is read in a loop, those of a thread whose loads are in flight at once: few rows
// would wait for each of them. 2026-11-26.
constexpr int kVectorsAtOnce = 4;

// Blocks that share such a row where an op may divide it: as many as have all of it in flight,
// while a multiprocessor gets two at most. cross_entropy's gradient of one row of 128256 bfloat16
// took 3.2 us for 10.0 by eight blocks, of 262144 3.5 for 18.3 by sixteen, of 16 rows of 128256 5.4
// for 12.9; four blocks a multiprocessor: 14.7 for 15.4 of 64 rows, 26.7 for 21.4 of 128. H200,
// 2026-11-27.
constexpr int64_t looped_blocks(int64_t num_vectors, int64_t num_rows, int multiprocessors) {
  const int64_t in_flight = kVectorsAtOnce * kMaxRowThreads;
  const int64_t wanted = (num_vectors + in_flight - 1) / in_flight;
  const int64_t most = 2 * multiprocessors / num_rows;
  return wanted < most ? wanted : (most > 1 ? most : 1);
}

// The table of all this, by the row's number of vectors. is_whole: else head and tail are peeled,
// two vectors each, and four threads have one more.
constexpr RowShape row_shape(const RowOp& op, int64_t num_vectors, bool is_whole) {
  const int64_t num_inner = is_whole ? num_vectors : (num_vectors > 5 ? num_vectors - 4 : 1);
  if (num_vectors <= kMaxWarpVectors) {
    int threads = is_whole ? 1 : (num_vectors > 2 ? 4 : 2);
    while (4 * threads < num_inner) threads *= 2;
    return {4, threads};
  }
  const int64_t by_four = (num_inner + 4 * 32 - 1) / (4 * 32) * 32;
  const int64_t by_eight = (num_inner + 8 * 32 - 1) / (8 * 32) * 32;
  if (op.num_tiles == 0) {
    return {0, static_cast<int>(by_four < kMaxRowThreads ? by_four : kMaxRowThreads)};
  }
  // Eight vectors a thread take less for a row's sums; of two tiles they leave too few registers,
  // and rows that aren't whole are more often faster with four. 2026-11-22.
  const bool prefers_eight = op.num_tiles == 1 && is_whole;
  const int most_by_four = prefers_eight ? kMaxThreadsByFour : kMaxRowThreads;
  // By half of the threads, which stand for the same virtual ones. Of whole rows 2026-11-23; of
  // others rms_norm_quantize took 116.9 us for 144.1 (16384 x 8191 of bfloat16), 115.7 for 157.8
  // (8192 x 16383), 109.2 for 136.4 (20000 x 6151), by groups of 128 138.7 for 163.8, 141.6 for
  // 176.6 and 130.7 for 154.4. H200, 2026-11-27.
  const bool takes_half =
      zero_pads(op, 8, is_whole) && by_four % 64 == 0 && (!is_whole || by_four <= 128);
  if (num_inner <= 4 * most_by_four && !takes_half) return {4, static_cast<int>(by_four)};
  if (num_inner <= 8 * kMaxRowThreads) return {8, static_cast<int>(by_eight)};
  return {RowShape::kLong, 0};
}

// Wide rows: more threads for each, at most one for each virtual thread. Only whole rows, which
// those of models are.
// For __launch_bounds__: 42 registers for two vectors, 64 for four. 2026-11-26.
CUDAOPS_HOST_DEVICE constexpr int max_wide_threads(int vectors) {
  return vectors == kVirtualVectors ? kMaxRowThreads : 2 * kMaxRowThreads;
}
CUDAOPS_HOST_DEVICE constexpr int min_wide_blocks(int vectors) {
  return vectors == kVirtualVectors ? 3 : 1;
}
// Four vectors a thread: for norms. Rows of softmax and cross_entropy with so many virtual threads
// wait for exponentials, and a merge of sums takes two of them. Of two tiles that are quantised
// too it was not measured. 2026-11-26.
CUDAOPS_HOST_DEVICE constexpr bool wide_rows_by_four(const RowOp& op) {
  return op.reads_columns && (op.num_tiles == 1 || (op.num_tiles == 2 && !op.allows_padding));
}
// Whole zero-padded rows of ops with shared memory of their own that have eight vectors a thread by
// the table are wide rows with half of them, whatever the number of rows: with eight nvcc spills 8
// bytes. rms_norm_quantize by groups of 128 took 141.3 us for 146.6 (32768 x 4104 of bfloat16) and
// 20.7 for 22.5 (4096). Other ops have eight: by row 99.8 us for 108.4 (32768 x 4096), 99.2 for
// 115.6 (16384 x 8192), 99.8 for 120.2 (8192 x 16384), with two blocks of a multiprocessor and
// unpack_apart(); without that, ptxas spilled 200 bytes and it took 199 to 202. H200, 2026-11-27.
CUDAOPS_HOST_DEVICE constexpr bool halves_staged_rows(const RowOp& op, int vectors) {
  return vectors == 4 * kVirtualVectors && zero_pads(op, vectors, true);
}
// Few rows that aren't whole: half of eight vectors a thread, twice the threads, which stand for
// the same virtual ones. rms_norm_quantize took 3.5 us for 6.4 (64 x 4097 of bfloat16), 21.7 for
// 23.5 (4096 x 4097), but 139.1 for 132.2 (32768 x 4097). H200, 2026-11-27.
constexpr int kMaxRaggedThreadsEach = 4608;  // of a multiprocessor
constexpr RowShape ragged_shape(const RowShape& shape, int64_t num_rows, int multiprocessors) {
  const int threads = 2 * shape.threads;
  if (shape.vectors != 4 * kVirtualVectors || threads > kMaxRowThreads) return shape;
  const bool are_few = num_rows <= int64_t{multiprocessors} * kMaxRaggedThreadsEach / threads;
  return are_few ? RowShape{shape.vectors / 2, threads} : shape;
}
// Parts of a warp. 2026-11-26.
CUDAOPS_HOST_DEVICE constexpr bool may_widen_short_rows(const RowOp& op) {
  return op.num_tiles > 0 && !op.allows_padding;
}
// Few rows: while a multiprocessor gets no more threads than so many, a bit more than it runs
// twice. 2026-11-26.
constexpr int kMaxWideThreadsEach = 4608;
// Two tiles by two vectors each: so few that their weights' loads don't get in the way of the
// others'. 2026-11-26.
constexpr int kMaxWideThreadsOfTwo = 768;
// Rows with fewer threads, parts of a warp, stay as they are.
constexpr int kMinWideThreads = 8;

// {0, 0}: the row stays as it is. Norms have two vectors a thread, or four of two tiles, whatever
// the number of rows: 0.2 to 4 % faster than with eight (4096 x 4096 to 16384 x 8192). 2026-11-26.
// Longer ones with one column have four: rms_norm took 257.5 us for 263.1 (16384 x 16384 of
// bfloat16), 130.3 for 132.7 (8192 x 8192 of float32). H200, 2026-11-27.
constexpr RowShape wide_shape(const RowOp& op, const RowShape& shape, int64_t num_rows,
                              int multiprocessors) {
  const int threads = shape.vectors / kVirtualVectors * shape.threads;
  const auto are_few = [&](int of_row, int limit) {
    return num_rows <= int64_t{multiprocessors} * limit / of_row;
  };
  if (shape.threads < 32) {
    const bool is_wide = may_widen_short_rows(op) && threads >= kMinWideThreads &&
                         are_few(threads, kMaxWideThreadsEach);
    return is_wide ? RowShape{kVirtualVectors, threads} : RowShape{0, 0};
  }
  if (shape.threads == 32 && shape.vectors == 4) return {0, 0};  // a warp, without barriers
  const bool is_norm = op.reads_columns && !op.allows_padding, has_two = op.num_tiles == 2;
  const bool by_two = (is_norm && !has_two) ||
                      are_few(threads, is_norm ? kMaxWideThreadsOfTwo : kMaxWideThreadsEach);
  if (threads <= kMaxRowThreads && by_two) return {kVirtualVectors, threads};
  const bool by_four =
      has_two ? shape.vectors == 2 * kVirtualVectors || are_few(threads / 2, kMaxWideThreadsOfTwo)
              : (is_norm && !op.reads_two_columns && threads / 2 <= kMaxRowThreads) ||
                    are_few(threads / 2, kMaxWideThreadsEach);
  if (wide_rows_by_four(op) && by_four) return {2 * kVirtualVectors, threads / 2};
  return {0, 0};
}

// Late columns: where many rows have a weight and a bias, both are loaded when a row's sums are
// known, not with the row: more warps or more vectors have room. layer_norm took 132.7 us for 143.8
// (16384 x 8192 of bfloat16, by four vectors a thread; by ncu 68 % of the issue slots for 75,
// memory at 82 % of its peak for 74), 59.0 for 68.8 (8192 x 7168), 130.2 for 136.1 (32768 x 4096,
// by two), 130.9 for 135.0 (16384 x 4096 of float32, by two), 7.8 for 9.8 (512 x 6144 of float32,
// by four). Few rows wait for their columns so: 2.74 us for 2.43 (128 x 4096). H200, 2026-11-27.
CUDAOPS_HOST_DEVICE constexpr bool may_load_columns_late(const RowOp& op) {
  return op.reads_two_columns && op.num_tiles == 1 && !op.allows_padding;
}
// For __launch_bounds__: 32 registers for two vectors, 40 for four; of 16 bits nvcc spills one or
// two of them. Four blocks only where a multiprocessor runs 2048 threads: ptxas warns elsewhere.
CUDAOPS_HOST_DEVICE constexpr int min_late_blocks([[maybe_unused]] int vectors) {
#if !CUDAOPS_HIP && defined(__CUDA_ARCH__) &&                                 \
    (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000 || \
     __CUDA_ARCH__ == 1030)
  if (vectors == kVirtualVectors) return 4;
#endif
  return 3;
}
// Threads that a multiprocessor runs with early columns by two vectors.
constexpr int kWideThreadsEach = 1536;
// From where on rows by four are many.
constexpr int kMinLateThreadsEach = 1200;

// Vectors a thread, fewer than the table's; 0: columns are loaded early.
constexpr int late_vectors(const RowOp& op, const RowShape& shape, int64_t num_rows,
                           int multiprocessors) {
  if (!may_load_columns_late(op) || shape.threads <= 32) return 0;
  const int by_two = shape.vectors / kVirtualVectors * shape.threads, by_four = by_two / 2;
  const bool is_long = shape.vectors == 4 * kVirtualVectors, is_float = op.element_bytes == 4;
  // Short rows of float are at 0.96 to 0.99 of a copy with early columns; late ones took 1 to 5 %
  // longer (2048 columns).
  if (!is_long && is_float) return 0;
  if (!is_long || (is_float && by_two <= kMaxRowThreads)) {
    // Those that take three rounds of blocks took up to 2 % longer (2048 x 4096), two rounds 6 %
    // less (1024 x 4096).
    const int64_t each_round = int64_t{multiprocessors} * kWideThreadsEach;
    const int64_t rounds = (num_rows * by_two + each_round - 1) / each_round;
    return rounds == 2 || rounds > 3 ? kVirtualVectors : 0;
  }
  const bool are_many = num_rows * by_four > int64_t{multiprocessors} * kMinLateThreadsEach;
  return by_four <= kMaxRowThreads && are_many ? 2 * kVirtualVectors : 0;
}

// ---------------------------------------------------------------------------------------------------
// Rows in the registers of a cluster: softmax and cross_entropy of vocabularies

// Vectors a thread keeps in shared memory beside those in registers: more bytes are in flight while
// others wait for their cluster. None where columns are read for each row: those come from the L1
// cache, which is the same memory. 2026-11-22. Order. Of floats a peeled vector takes the registers
// of one: with eight in registers beside it, cross_entropy's spilled and took 1.08 of the time of
// kernels that masked each vector; of 16 bits it took 0.83 to 0.95 with a spill. 2026-11-27.
CUDAOPS_HOST_DEVICE constexpr int stashed_vectors(const RowOp& op, bool is_whole) {
  if (op.num_tiles > 2 || op.reads_columns) return 0;
  if (op.num_tiles == 2) return 4;
  return is_whole || op.element_bytes < 4 ? 8 : 9;
}
CUDAOPS_HOST_DEVICE constexpr int cluster_vectors(const RowOp& op) {
  return (op.num_tiles == 1 ? 8 : 4) + stashed_vectors(op, true);
}
// Two tiles may make a third.
constexpr int num_stashes(const RowOp& op) { return op.num_tiles == 2 ? 3 : 1; }
// Blocks a multiprocessor, as far as registers allow: some load while others store. 2026-11-22.
CUDAOPS_HOST_DEVICE constexpr int min_cluster_blocks(const RowOp& op) {
  return op.num_tiles > 2 ? 1 : 2;
}

// Blocks of a row and threads of each; 0 blocks: the row is too long. Half of the threads a block
// while there are blocks enough: many small ones overlap better. Order.
struct ClusterShape {
  int blocks;
  int threads;
};
constexpr int kMaxClusterBlocks = 8;
constexpr ClusterShape cluster_shape(const RowOp& op, int64_t num_vectors) {
  const int64_t each = cluster_vectors(op);
  int blocks = 2;
  while (blocks < kMaxClusterBlocks && blocks * each * kMaxRowThreads / 2 < num_vectors)
    blocks *= 2;
  if (blocks * each * kMaxRowThreads < num_vectors) return {0, 0};
  return {blocks,
          static_cast<int>((num_vectors + 32 * each * blocks - 1) / (32 * each * blocks) * 32)};
}
// Rows of four blocks have two with twice the threads, of which each stands for two blocks in the
// order of sums, where that takes less time: softmax 530.3 us for 538.1 (4096 x 131072 of
// bfloat16), 516.9 for 529.4 (4096 x 128256), 23.7 for 25.5 (128 x 131072), cross_entropy_ 539.4
// for 549.0, 531.0 for 540.0, 24.9 for 26.9; but of 512 rows 79.2 for 77.7, and of 16 rows 10.2 for
// 8.4. Eight blocks: cross_entropy_ took 2 % longer (2048 x 262144), float32 0.6 %. H200,
// 2026-11-27.
CUDAOPS_HOST_DEVICE constexpr bool may_double_cluster_blocks(const RowOp& op) {
  return op.num_tiles == 1 && !op.reads_columns && op.element_bytes < 4;
}
constexpr bool doubles_cluster_blocks(const ClusterShape& shape, int64_t num_rows,
                                      int multiprocessors) {
  const bool are_some = 2 * num_rows >= multiprocessors && num_rows <= 2 * multiprocessors;
  return shape.blocks == 4 && (are_some || num_rows >= 7 * multiprocessors);
}

// ---------------------------------------------------------------------------------------------------
// Packed short rows: any op of row.h that names its arrays

constexpr int kPackedElements = 8;  // of a row, that a lane has. 2026-11-23. Order.
// So many of them every row has: no row is shorter than half of what its lanes have room for.
constexpr int kCertainElements = kPackedElements / 2;
constexpr int kPackedThreads = 128;
constexpr int kPackedWarps = kPackedThreads / 32;

// Columns: shorter rows are faster as vectors, many rows a warp. 2026-11-23.
constexpr int kMinPackedWidth = 33, kMaxPackedWidth = 32 * kPackedElements;
static_assert(kMinPackedWidth > 8 * kCertainElements, "the shortest have them all, of 8 lanes");
// Rows of which a warp has one at a time, and where that is worth it without sums of columns: just
// above 128 columns half of its elements are none. 2026-11-23.
constexpr int kMinWarpWidth = 16 * kPackedElements + 1, kMinGoodWarpWidth = 20 * kPackedElements;
// Whether rows that are quantised, one scale a row, are taken so. rms_norm_quantize of bfloat16
// took 337.7 us for 559.8 (4067200 x 33), 228.0 for 370.9 (2684352 x 50), 224.4 for 238.8 (833648 x
// 161) and 152.3 for 157.3 (526344 x 255), but 273.7 for 263.5 (2064888 x 65, to float8) and 151.2
// for 147.2 (1056832 x 127); with a residual 221.8 for 438.3 (2033600 x 33), 129.0 for 163.4
// (528416 x 127). Of float 191.1 for 205.2 (1056832 x 127) and 170.9 for 205.6 (526344 x 255), but
// 375.1 for 354.5 (4067200 x 33) and 327.4 for 210.3 (2064888 x 65). H200, 2026-11-27. Order.
constexpr bool packs_quantized_rows(const RowOp& op, int64_t width) {
  if (op.element_bytes == 4) return width >= 14 * kPackedElements;
  return op.num_tiles == 2 || width <= 8 * kPackedElements || width >= kMinGoodWarpWidth;
}

// ---------------------------------------------------------------------------------------------------
// Persistent loops: the backward passes of rms_norm and layer_norm

// More threads of a multiprocessor than these don't make it faster. 2026-11-22. Order.
constexpr int kMaxPersistentThreads = 1024;

// Vectors a thread of the loop that loads the next row into registers: with more it doesn't fit.
// 2026-11-22. Order.
constexpr int kMaxPrefetch = 2;
constexpr int kGroupThreads = 128;  // of a block with several rows

// Rows of up to so many vectors go through the ring in shared memory. 2026-11-22. Order.
constexpr int kMaxRingVectors = 2048;
// Of one sum a column a thread has one vector: one block or two of a multiprocessor do as well as
// more with two each, and leave fewer sums to add up. Of two inputs such a thread has 56 registers,
// so that three blocks fit of up to 384 vectors, and two of up to 575: 36.6 us for 44.7 of three
// blocks with two vectors a thread (8192 x 2624 of bfloat16), 39.8 for 49.3 (2880), 42.0 for 49.8
// (3072), and 56.8 for 61.0 (4352). With a residual's gradient two blocks, or from 513 to 575
// vectors two vectors a thread, for one block would fit. H200, 2026-11-27. Order.
constexpr int kMinVectorsByThree = 321, kMaxVectorsByThree = 384;
constexpr int kMinVectorsByTwo = 513, kMaxVectorsByTwo = 575;
// Longer rows are divided among the blocks of a group. An H200 was fastest with two blocks a
// multiprocessor, each with a slice of 512 vectors, and with one of 1024 where a row has more than
// 64 of those: layer_norm's gradient of 512 x 262144 float32 took 466 us for 533. Four blocks with
// slices of 256: 2 % slower. Rows that a block can have whole are not divided: 250 us for 219 (8192
// x 16384 of bfloat16). 2026-11-27. Order.
constexpr int kSliceVectors = 2;       // of a thread
constexpr int kMaxSliceThreads = 512;  // of a multiprocessor: as registers allow in layer_norm
constexpr int kMostSlicesEach = 2;     // of a multiprocessor
// For __launch_bounds__: with nothing asked nvcc takes 64 registers for float rows that aren't
// whole, with a residual's gradient, and spills; asked for one block, 104. 2026-11-27.
CUDAOPS_HOST_DEVICE constexpr int min_slice_blocks(bool is_whole) { return is_whole ? 0 : 1; }
constexpr int kMaxGroupBlocks = 64;  // with 128 a thread would have more registers
// Rows between the totals of a row and its gradient: so long the totals of the other blocks may
// take to come. As many again are worked on or in flight. With two of five stages or more it took
// 1 % longer, with eight stages as long. 2026-11-27.
constexpr int kSliceDelay = 3;
constexpr int kSliceStages = 2 * kSliceDelay;

struct SlicedShape {
  int blocks_each;  // of a multiprocessor
  int num_groups, group_blocks, num_threads;
  // A group takes its rows in so many passes, in each of them those that start at the same place in
  // a vector.
  int num_passes;
};
// `room`: vectors of a row for which a multiprocessor has the shared memory. period: after how many
// rows the next one starts at the same place in a vector, a power of two. num_groups is 0 where
// rows are too long. The last block may have less than the others.
constexpr SlicedShape sliced_shape(int64_t num_vectors, int multiprocessors, int64_t room,
                                   int64_t period) {
  constexpr int kOfWarp = 32 * kSliceVectors;
  for (int each = kMostSlicesEach; each > 0; --each) {
    const int64_t fit = room / (each * kOfWarp), most_warps = kMaxSliceThreads / 32 / each;
    const int64_t slice = (fit < most_warps ? fit : most_warps) * kOfWarp;
    if (slice == 0) continue;
    const int64_t blocks = each * multiprocessors;
    const int64_t needed = (num_vectors + slice - 1) / slice;
    if (needed > kMaxGroupBlocks || needed > blocks) continue;
    // Twice the passes where that leaves a tenth more groups: rms_norm's gradient of 1300 x 50257
    // took 143 us for 161 (bfloat16) and 240 for 264 (float32). With 8 % more of them 3000 x 20001
    // took as long, layer_norm's 3 % longer. H200, 2026-11-27.
    const int64_t most_groups = blocks / needed;
    int64_t multiple = period;
    while (multiple > most_groups) multiple /= 2;
    const int64_t half = multiple > 1 ? multiple / 2 : 1;
    if (10 * (most_groups / half * half) > 11 * (most_groups / multiple * multiple)) {
      multiple = half;
    }
    const int64_t groups = most_groups / multiple * multiple;
    // The blocks that are left over make the slices smaller.
    const int64_t of_group = blocks / groups < kMaxGroupBlocks ? blocks / groups : kMaxGroupBlocks;
    const int64_t warps = (num_vectors + of_group * kOfWarp - 1) / (of_group * kOfWarp);
    const int64_t used = (num_vectors + warps * kOfWarp - 1) / (warps * kOfWarp);
    return {each, static_cast<int>(groups), static_cast<int>(used), static_cast<int>(32 * warps),
            static_cast<int>(period / multiple)};
  }
  return {};
}
// When the totals of the other blocks are asked for. Early, they come while a row is worked on:
// layer_norm's gradient of 1024 x 131072 bfloat16 took 236 us for 247. Too early, they are not
// there and are asked for again: rms_norm's of 8192 x 16384 float32 took 425 us for 402 (H200).
// 2026-11-27.
CUDAOPS_HOST_DEVICE constexpr bool slices_ask_early(int num_totals, int element_bytes,
                                                    int group_blocks) {
  return group_blocks > 32 || (num_totals > 1 && element_bytes == 2);
}
// Rows whose totals are in memory: when a block writes a row's, the others have read those of
// 2 * kSliceDelay rows before.
constexpr int kExchangedRows = 8;
static_assert(kExchangedRows >= 2 * kSliceDelay,
              "totals would be overwritten before all have them");
// Stages are rows: one that is worked on, the next one, and one in flight. Where only two fit, the
// next one is in flight and waited for. More at once make an H200 slower by a tenth: reads hold up
// the writes. 2026-11-22. But a block that has a multiprocessor to itself has too little in flight:
// with four stages rms_norm's gradient took 68.6 us for 75.0 (8192 x 5120 of bfloat16), 88.9
// for 93.7 (7168) and 100.9 for 103.3 (8192), layer_norm's 84.4 for 89.4, 94.0 for 100.1 and 104.3
// for 107.4 (6144, 7168, 8192), but both 3 % more at 12288. H200, 2026-11-27.
constexpr int kMinStages = 2;
constexpr int kGoodStages = 3;
constexpr int kMaxStages = 4;
constexpr int kFewBytes = 32 << 10;  // of a stage
// Of this size on rows are fetched in the middle of an iteration, for the same reason. 2026-11-23.
constexpr int kLargeStage = 64 << 10;

// Of a block, as registers allow: 64 of them do for two vectors with one sum a column, 96 with two
// sums. 2026-11-22. Order.
CUDAOPS_HOST_DEVICE constexpr int max_ring_threads(int num_sums, int vectors) {
  if (vectors == 1) return 2 * kMaxRowThreads;
  if (vectors > 2) return kMaxRowThreads;
  return num_sums == 1 ? 2 * kMaxRowThreads : kMaxRowThreads + kMaxRowThreads / 4;
}

// Rows that aren't whole take longer to fetch, and all wait for the totals of the warp that does:
// in the middle of an iteration and one iteration earlier; not with one sum, whose 64 registers
// would spill. 2026-11-23.
CUDAOPS_HOST_DEVICE constexpr bool ring_fetches_late(int num_sums, bool is_whole) {
  return !is_whole && num_sums > 1;
}

// How the ring has a row: vectors a thread, and blocks of a multiprocessor at most, 0 for as many
// as most_blocks() says. Half as many blocks leave half the parts to the second kernel; not where
// that takes registers that are not there (ends of rows, two sums).
struct RingShape {
  int vectors;
  int blocks_each;
};
constexpr RingShape ring_shape(int num_sums, int num_inputs, bool is_whole, int64_t num_vectors) {
  if (is_whole && num_sums == 1) {
    const bool is_by_two = num_vectors >= kMinVectorsByTwo && num_vectors <= kMaxVectorsByTwo;
    const bool is_by_three = num_vectors >= kMinVectorsByThree && num_vectors <= kMaxVectorsByThree;
    if (num_inputs == 2 && (is_by_two || is_by_three)) return {1, is_by_two ? 2 : 3};
    if (num_vectors <= max_ring_threads(num_sums, 1) && !is_by_two) return {1, 0};
  }
  return {num_vectors <= 2 * max_ring_threads(num_sums, 2) ? 2 : 4, 0};
}

// Few rows have their sums in one launch, by the blocks of a cluster: each has a row (kWhole) or a
// part of all rows (kDivided), which takes 1.2 us a row. Gradients of bfloat16, by two launches and
// by one: rms_norm's 1 x 4096 3.9 and 1.9 us, 1 x 18432 8.0 and 3.9, 2 x 12288 6.4 and 3.8, 4 x
// 18432 8.3 and 8.3; whole 8 x 2880 3.7 and 3.3, 16 x 4096 5.2 and 4.6, 8 x 8192 5.6 and 5.9;
// 2 x 4096 whole 3.4 and divided 2.9. layer_norm's 1 x 18432 9.8 and 5.2; whole 16 x 4096 7.3 and
// 6.3, 8 x 5120 5.3 and 5.9. H200, 2026-11-27.
enum class FewRows { kNone, kWhole, kDivided };
constexpr int64_t kMaxFewRowVectors = 8192;
constexpr FewRows few_rows_way(int64_t num_rows, int64_t num_vectors, int num_sums) {
  const int64_t most_divided = num_vectors > 1024 ? 4 : (num_vectors > 384 ? 2 : 1);
  if (num_rows <= most_divided && num_vectors > kMaxWarpVectors) {
    return num_vectors <= kMaxFewRowVectors ? FewRows::kDivided : FewRows::kNone;
  }
  const int64_t most_whole = num_vectors <= 512 ? 16 : (num_sums == 1 ? 8 : 0);
  return num_vectors <= 1024 && num_rows <= most_whole ? FewRows::kWhole : FewRows::kNone;
}
// Of a block, for __launch_bounds__: a thread has the registers that it needs so. Longer rows of
// three arrays, whose slices need more, take the two launches.
CUDAOPS_HOST_DEVICE constexpr int max_few_row_threads(int vectors) {
  if (vectors == 1) return 2 * kMaxRowThreads;
  return vectors == 2 ? kMaxRowThreads : kMaxRowThreads / 4;
}

// While so few rows are worked on, the kernel that adds up their sums may be there already: 8 x
// 2880 to 64 x 2048 took 0.75 to 0.97 of the time so, but 256 x 5120 1.06. H200, 2026-11-27.
constexpr int64_t kMaxRowsBeforeSums = 64;

// Rows that a block sums of those that are read twice, and how many of them at once. 2026-11-22.
// Order.
constexpr int kTallRows = 256;
constexpr int kTallGroups = 8;

}  // namespace detail
}  // namespace cudaops_kernels
