// SPDX-License-Identifier: Apache-2.0
// How rows are spread over threads. It decides in which order a row is added up, so that a change
// of the table changes the last bits of results: here it is on purpose or not at all.
#include <cudaops/testing.h>

#include "common/row/tuning_sm90.h"

namespace {

using cudaops_kernels::detail::cluster_shape;
using cudaops_kernels::detail::cluster_vectors;
using cudaops_kernels::detail::ClusterShape;
using cudaops_kernels::detail::doubles_cluster_blocks;
using cudaops_kernels::detail::halves_staged_rows;
using cudaops_kernels::detail::kMaxGroupBlocks;
using cudaops_kernels::detail::kMaxSliceThreads;
using cudaops_kernels::detail::kSliceVectors;
using cudaops_kernels::detail::late_vectors;
using cudaops_kernels::detail::max_wide_threads;
using cudaops_kernels::detail::may_double_cluster_blocks;
using cudaops_kernels::detail::num_virtual_threads;
using cudaops_kernels::detail::ragged_shape;
using cudaops_kernels::detail::row_shape;
using cudaops_kernels::detail::RowOp;
using cudaops_kernels::detail::RowShape;
using cudaops_kernels::detail::sliced_shape;
using cudaops_kernels::detail::SlicedShape;
using cudaops_kernels::detail::wide_shape;

// num_tiles, reads_columns, element_bytes, allows_padding
constexpr RowOp kNorm{1, true, 2, false}, kNormQuantize{1, true, 2, true},
    kAddNorm{2, true, 2, false}, kSoftmax{1, false, 4, false}, kGradient{0, false, 2, false};

struct Case {
  RowOp op;
  int64_t num_vectors;
  bool is_whole;
  RowShape expected;  // vectors a thread, threads
};

TEST(RowShape, IsTheOneThatWasMeasured) {
  const Case cases[] = {
      {kNorm, 1, true, {4, 1}},
      {kNorm, 2, false, {4, 2}},
      {kNorm, 3, false, {4, 4}},
      {kNorm, 128, true, {4, 32}},
      {kNorm, 128, false, {4, 32}},
      {kNorm, 129, true, {4, 64}},
      {kNorm, 256, true, {4, 64}},
      {kNorm, 261, false, {4, 96}},
      {kNorm, 512, true, {4, 128}},
      {kNorm, 512, false, {4, 128}},
      {kNorm, 513, true, {8, 96}},
      {kNorm, 516, false, {4, 128}},
      {kNorm, 2048, true, {8, 256}},
      {kNorm, 2052, false, {4, 512}},
      {kNorm, 2053, false, {8, 288}},
      {kNorm, 4096, true, {8, 512}},
      {kNorm, 4097, true, {-1, 0}},
      {kNorm, 4101, false, {-1, 0}},
      {kNormQuantize, 1, true, {4, 1}},
      {kNormQuantize, 2, false, {4, 2}},
      {kNormQuantize, 3, false, {4, 4}},
      {kNormQuantize, 128, true, {4, 32}},
      {kNormQuantize, 128, false, {4, 32}},
      {kNormQuantize, 129, true, {8, 32}},
      {kNormQuantize, 256, true, {8, 32}},
      {kNormQuantize, 261, false, {4, 96}},
      {kNormQuantize, 512, true, {8, 64}},
      {kNormQuantize, 512, false, {8, 64}},
      {kNormQuantize, 513, true, {8, 96}},
      {kNormQuantize, 516, false, {8, 64}},
      {kNormQuantize, 2048, true, {8, 256}},
      {kNormQuantize, 772, false, {8, 96}},
      {kNormQuantize, 900, false, {4, 224}},
      {kNormQuantize, 2052, false, {8, 256}},
      {kNormQuantize, 2053, false, {8, 288}},
      {kNormQuantize, 4096, true, {8, 512}},
      {kNormQuantize, 4097, true, {-1, 0}},
      {kNormQuantize, 4101, false, {-1, 0}},
      {kAddNorm, 1, true, {4, 1}},
      {kAddNorm, 2, false, {4, 2}},
      {kAddNorm, 3, false, {4, 4}},
      {kAddNorm, 128, true, {4, 32}},
      {kAddNorm, 128, false, {4, 32}},
      {kAddNorm, 129, true, {4, 64}},
      {kAddNorm, 256, true, {4, 64}},
      {kAddNorm, 261, false, {4, 96}},
      {kAddNorm, 512, true, {4, 128}},
      {kAddNorm, 512, false, {4, 128}},
      {kAddNorm, 513, true, {4, 160}},
      {kAddNorm, 516, false, {4, 128}},
      {kAddNorm, 2048, true, {4, 512}},
      {kAddNorm, 2052, false, {4, 512}},
      {kAddNorm, 2053, false, {8, 288}},
      {kAddNorm, 4096, true, {8, 512}},
      {kAddNorm, 4097, true, {-1, 0}},
      {kAddNorm, 4101, false, {-1, 0}},
      {kSoftmax, 1, true, {4, 1}},
      {kSoftmax, 2, false, {4, 2}},
      {kSoftmax, 3, false, {4, 4}},
      {kSoftmax, 128, true, {4, 32}},
      {kSoftmax, 128, false, {4, 32}},
      {kSoftmax, 129, true, {4, 64}},
      {kSoftmax, 256, true, {4, 64}},
      {kSoftmax, 261, false, {4, 96}},
      {kSoftmax, 512, true, {4, 128}},
      {kSoftmax, 512, false, {4, 128}},
      {kSoftmax, 513, true, {8, 96}},
      {kSoftmax, 516, false, {4, 128}},
      {kSoftmax, 2048, true, {8, 256}},
      {kSoftmax, 2052, false, {4, 512}},
      {kSoftmax, 2053, false, {8, 288}},
      {kSoftmax, 4096, true, {8, 512}},
      {kSoftmax, 4097, true, {-1, 0}},
      {kSoftmax, 4101, false, {-1, 0}},
      {kGradient, 1, true, {4, 1}},
      {kGradient, 2, false, {4, 2}},
      {kGradient, 3, false, {4, 4}},
      {kGradient, 128, true, {4, 32}},
      {kGradient, 128, false, {4, 32}},
      {kGradient, 129, true, {0, 64}},
      {kGradient, 256, true, {0, 64}},
      {kGradient, 261, false, {0, 96}},
      {kGradient, 512, true, {0, 128}},
      {kGradient, 512, false, {0, 128}},
      {kGradient, 513, true, {0, 160}},
      {kGradient, 516, false, {0, 128}},
      {kGradient, 2048, true, {0, 512}},
      {kGradient, 2052, false, {0, 512}},
      {kGradient, 2053, false, {0, 512}},
      {kGradient, 4096, true, {0, 512}},
      {kGradient, 4097, true, {0, 512}},
      {kGradient, 4101, false, {0, 512}},
  };
  for (const Case& c : cases) {
    const RowShape found = row_shape(c.op, c.num_vectors, c.is_whole);
    EXPECT_EQ(found.vectors, c.expected.vectors) << c.num_vectors << (c.is_whole ? " whole" : "");
    EXPECT_EQ(found.threads, c.expected.threads) << c.num_vectors << (c.is_whole ? " whole" : "");
  }
}

TEST(RowShape, HasRoomForTheWholeRow) {
  for (const RowOp& op : {kNorm, kNormQuantize, kAddNorm, kSoftmax, kGradient}) {
    for (int64_t num_vectors = 1; num_vectors < 5000; ++num_vectors) {
      for (const bool is_whole : {false, true}) {
        const RowShape shape = row_shape(op, num_vectors, is_whole);
        if (shape.vectors == RowShape::kLong) {
          EXPECT_GT(num_vectors, 4096);
          continue;
        }
        EXPECT_LE(shape.threads, 512);
        // Warps are whole, or parts of a power of two.
        EXPECT_TRUE(shape.threads % 32 == 0 || (shape.threads & (shape.threads - 1)) == 0);
        if (shape.vectors == 0) continue;  // a loop has room for any row
        // The first two and the last two vectors of a peeled row are four threads' own.
        const int64_t peeled = is_whole ? 0 : (num_vectors < 4 ? num_vectors : 4);
        EXPECT_GE(int64_t{shape.vectors} * shape.threads, num_vectors - peeled) << num_vectors;
        if (!is_whole) EXPECT_GE(shape.threads, num_vectors < 4 ? num_vectors : 4) << num_vectors;
      }
    }
  }
}

TEST(RowShape, FewLoopedRowsAreDivided) {
  using cudaops_kernels::detail::looped_blocks;
  EXPECT_EQ(looped_blocks(2048, 1, 132), 1);
  EXPECT_EQ(looped_blocks(2049, 1, 132), 2);
  EXPECT_EQ(looped_blocks(16032, 1, 132), 8);  // 128256 classes in 16 bits
  EXPECT_EQ(looped_blocks(16032, 64, 132), 4);
  EXPECT_EQ(looped_blocks(16032, 265, 132), 1);
  EXPECT_EQ(looped_blocks(1 << 20, 1, 132), 264);
}

// Few rows are spread over more threads, for the same virtual ones: the order of a sum is theirs.
TEST(RowShape, WideRowsHaveTheSameVirtualThreads) {
  constexpr int kMultiprocessors = 132;
  for (const RowOp& op : {kNorm, kNormQuantize, kAddNorm, kSoftmax}) {
    for (int64_t num_vectors = 1; num_vectors <= 4096; ++num_vectors) {
      const RowShape shape = row_shape(op, num_vectors, true);
      for (const int64_t num_rows : {1, 128, 512, 1024, 8192, 65536}) {
        const RowShape wide = wide_shape(op, shape, num_rows, kMultiprocessors);
        if (wide.vectors == 0) continue;
        EXPECT_EQ(wide.threads * num_virtual_threads(wide.vectors),
                  shape.threads * num_virtual_threads(shape.vectors))
            << num_vectors;
        EXPECT_LE(wide.threads, max_wide_threads(wide.vectors)) << num_vectors;
        EXPECT_GE(wide.threads, shape.threads) << num_vectors;
        EXPECT_GE(int64_t{wide.threads} * wide.vectors, num_vectors);
        // Parts of a warp add up in its order.
        EXPECT_EQ(wide.threads <= 32, shape.threads < 32) << num_vectors;
      }
    }
  }
}

TEST(RowShape, RowsOfModelsAreWide) {
  const auto expect = [](const RowOp& op, int64_t num_rows, int64_t num_vectors, int vectors,
                         int threads) {
    const RowShape wide = wide_shape(op, row_shape(op, num_vectors, true), num_rows, 132);
    EXPECT_EQ(wide.vectors, vectors) << num_rows << " rows of " << num_vectors;
    EXPECT_EQ(wide.threads, threads) << num_rows << " rows of " << num_vectors;
  };
  expect(kNorm, 128, 512, 2, 256);
  expect(kNorm, 1024, 512, 2, 256);
  expect(kNorm, 128, 2304, 4, 576);
  expect(kAddNorm, 128, 512, 2, 256);
  expect(kAddNorm, 512, 512, 4, 128);
  expect(kAddNorm, 1024, 512, 4, 128);
  expect(kNorm, 16384, 512, 2, 256);
  expect(kNorm, 16384, 2048, 4, 512);
  expect(kNorm, 16384, 2304, 0, 0);
  expect(kNormQuantize, 512, 513, 2, 384);
  expect(kNormQuantize, 16384, 513, 0, 0);
  expect(kNormQuantize, 8192, 64, 0, 0);
  expect(kAddNorm, 16384, 512, 4, 128);
  expect(kAddNorm, 128, 2304, 4, 576);
  expect(kAddNorm, 256, 2304, 0, 0);
  expect(kSoftmax, 1024, 512, 2, 256);
  expect(kSoftmax, 8192, 128, 0, 0);
  expect(kSoftmax, 8192, 64, 2, 32);
  expect(kSoftmax, 8192, 32, 2, 16);
}

// Many rows with a weight and a bias: more threads, too, for the same virtual ones.
TEST(RowShape, LateColumnsLeaveTheOrderOfSums) {
  constexpr RowOp kLayerNorm{1, true, 2, false, true}, kLayerNormFloat{1, true, 4, false, true};
  for (const RowOp& op : {kLayerNorm, kLayerNormFloat}) {
    for (int64_t num_vectors = 1; num_vectors <= 4096; ++num_vectors) {
      const RowShape shape = row_shape(op, num_vectors, true);
      for (const int64_t num_rows : {1, 512, 1024, 65536}) {
        const int vectors = late_vectors(op, shape, num_rows, 132);
        if (vectors == 0) continue;
        ASSERT_GT(num_rows, 1);
        const int threads = shape.vectors / vectors * shape.threads;
        ASSERT_EQ(threads * num_virtual_threads(vectors),
                  shape.threads * num_virtual_threads(shape.vectors))
            << num_vectors;
        ASSERT_TRUE(threads >= 64 && threads <= 512) << num_vectors;
      }
    }
  }
  const auto late = [](const RowOp& op, int64_t num_rows, int64_t num_vectors) {
    return late_vectors(op, row_shape(op, num_vectors, true), num_rows, 132);
  };
  EXPECT_EQ(late(kLayerNorm, 32768, 512), 2);
  EXPECT_EQ(late(kLayerNorm, 4096, 512), 2);
  EXPECT_EQ(late(kLayerNorm, 2048, 512), 0);
  EXPECT_EQ(late(kLayerNorm, 1024, 512), 2);
  EXPECT_EQ(late(kLayerNorm, 768, 512), 0);
  EXPECT_EQ(late(kLayerNorm, 16384, 128), 0);  // a warp, without barriers
  EXPECT_EQ(late(kLayerNorm, 16384, 1024), 4);
  EXPECT_EQ(late(kLayerNorm, 768, 1024), 4);
  EXPECT_EQ(late(kLayerNorm, 512, 1024), 0);
  EXPECT_EQ(late(kLayerNorm, 512, 2048), 4);
  EXPECT_EQ(late(kLayerNorm, 128, 2048), 0);
  EXPECT_EQ(late(kLayerNorm, 16384, 4096), 0);
  EXPECT_EQ(late(kLayerNormFloat, 16384, 512), 0);
  EXPECT_EQ(late(kLayerNormFloat, 16384, 1024), 2);
  EXPECT_EQ(late(kLayerNormFloat, 16384, 2048), 4);
  EXPECT_EQ(late(kNorm, 16384, 1024), 0);
}

// Where rows have half of the blocks with twice the threads, each of those stands for two.
TEST(RowShape, BlocksOfClustersAreDoubled) {
  static constexpr RowOp kSoftmax16{1, false, 2, false};
  const auto expect = [](int64_t num_rows, int64_t num_vectors, int blocks, int threads,
                         bool is_doubled) {
    const ClusterShape shape = cluster_shape(kSoftmax16, num_vectors);
    EXPECT_EQ(shape.blocks, blocks) << num_vectors;
    EXPECT_EQ(shape.threads, threads) << num_vectors;
    EXPECT_EQ(doubles_cluster_blocks(shape, num_rows, 132), is_doubled) << num_rows;
  };
  expect(4096, 8192, 2, 256, false);
  expect(4096, 16384, 4, 256, true);
  expect(512, 16384, 4, 256, false);
  expect(128, 16384, 4, 256, true);
  expect(16, 16384, 4, 256, false);
  expect(4096, 18992, 8, 160, false);
  expect(4096, 65536, 8, 512, false);
  expect(4096, 65537, 0, 0, false);
  for (int64_t num_vectors = 4097; num_vectors <= 65536; ++num_vectors) {
    const ClusterShape shape = cluster_shape(kSoftmax16, num_vectors);
    ASSERT_GE(int64_t{shape.blocks} * shape.threads * cluster_vectors(kSoftmax16), num_vectors);
    ASSERT_LE(shape.threads, 512);
    // Half of a block's warps take eight lanes.
    if (doubles_cluster_blocks(shape, 4096, 132)) ASSERT_LE(shape.threads, 256);
  }
  EXPECT_TRUE(may_double_cluster_blocks(kSoftmax16));
  EXPECT_FALSE(may_double_cluster_blocks(kNorm));
  EXPECT_FALSE(may_double_cluster_blocks(kSoftmax));
}

// Whole zero-padded rows of ops with shared memory of their own: half of the vectors, twice the
// threads, for the same virtual ones.
TEST(RowShape, StagedZeroPaddedRowsAreHalved) {
  for (int64_t num_vectors = 129; num_vectors <= 4096; ++num_vectors) {
    const RowShape shape = row_shape(kNormQuantize, num_vectors, true);
    if (!halves_staged_rows(kNormQuantize, shape.vectors)) continue;
    EXPECT_EQ(num_virtual_threads(shape.vectors), 2 * num_virtual_threads(shape.vectors / 2));
    EXPECT_LE(2 * shape.threads, max_wide_threads(shape.vectors / 2)) << num_vectors;
  }
  EXPECT_TRUE(halves_staged_rows(kNormQuantize, 8));
  EXPECT_FALSE(halves_staged_rows(kNormQuantize, 4));
  EXPECT_FALSE(halves_staged_rows(kNorm, 8));
  EXPECT_FALSE(halves_staged_rows(kAddNorm, 8));
  EXPECT_FALSE(halves_staged_rows(kSoftmax, 8));
}

// Few rows that aren't whole: the same virtual threads, so that a row's sum does not depend on the
// number of rows.
TEST(RowShape, FewRaggedRowsAreHalved) {
  constexpr int kMultiprocessors = 132;
  const auto found = [](const RowShape& shape, int64_t num_rows) {
    return ragged_shape(shape, num_rows, kMultiprocessors);
  };
  for (int64_t num_vectors = 1; num_vectors <= 4100; ++num_vectors) {
    for (const RowOp& op : {kNorm, kNormQuantize, kAddNorm, kSoftmax}) {
      const RowShape shape = row_shape(op, num_vectors, false), few = found(shape, 1);
      EXPECT_EQ(num_virtual_threads(few.vectors) * few.threads,
                num_virtual_threads(shape.vectors) * shape.threads)
          << num_vectors;
      EXPECT_EQ(few.vectors * few.threads, shape.vectors * shape.threads) << num_vectors;
      EXPECT_LE(few.threads, 512) << num_vectors;
    }
  }
  const auto expect = [&](const RowShape& shape, int64_t num_rows, int vectors, int threads) {
    EXPECT_EQ(found(shape, num_rows).vectors, vectors) << num_rows;
    EXPECT_EQ(found(shape, num_rows).threads, threads) << num_rows;
  };
  expect({8, 64}, 4752, 4, 128);
  expect({8, 64}, 4753, 8, 64);
  expect({8, 256}, 1, 4, 512);
  expect({8, 288}, 1, 8, 288);
  expect({4, 128}, 1, 4, 128);
  expect({RowShape::kLong, 0}, 1, RowShape::kLong, 0);
}

// Backward passes of long rows. Blocks wait for each other's totals, so all must fit the device at
// once, and each must have columns: a copy of none never comes.
TEST(RowShape, TheBlocksOfAGroupShareAllColumns) {
  // Multiprocessors, and vectors for which one has the memory: H200 (two inputs, three), H100 PCIe,
  // GPUs with less memory.
  for (const auto [number, room] : {std::pair{132, 1194}, std::pair{132, 796}, std::pair{114, 1194},
                                    std::pair{170, 512}, std::pair{48, 341}}) {
    int64_t longest = 0;
    for (int64_t num_vectors = 2049; num_vectors <= 150000; ++num_vectors) {
      for (const int64_t period : {1, 8}) {
        const SlicedShape shape = sliced_shape(num_vectors, number, room, period);
        if (shape.num_groups == 0) continue;
        longest = num_vectors;
        const int64_t slice = int64_t{kSliceVectors} * shape.num_threads;
        SCOPED_TRACE(num_vectors);
        ASSERT_TRUE(shape.group_blocks * slice >= num_vectors &&
                    (shape.group_blocks - 1) * slice < num_vectors);
        ASSERT_TRUE(shape.group_blocks <= kMaxGroupBlocks && shape.num_threads % 32 == 0);
        ASSERT_LE(shape.num_groups * shape.group_blocks, shape.blocks_each * number);
        ASSERT_TRUE(shape.blocks_each * shape.num_threads <= kMaxSliceThreads &&
                    shape.blocks_each * slice <= room);
        // The rows of a pass start at the same place in a vector.
        ASSERT_EQ(shape.num_groups * shape.num_passes % period, 0);
      }
    }
    EXPECT_GE(longest, 48 * 320) << number << " multiprocessors";
  }
  const auto expect = [](int64_t num_vectors, const SlicedShape& expected, int64_t period = 1) {
    const SlicedShape shape = sliced_shape(num_vectors, 132, 1194, period);
    EXPECT_EQ(shape.blocks_each, expected.blocks_each) << num_vectors;
    EXPECT_EQ(shape.num_groups, expected.num_groups) << num_vectors;
    EXPECT_EQ(shape.group_blocks, expected.group_blocks) << num_vectors;
    EXPECT_EQ(shape.num_threads, expected.num_threads) << num_vectors;
    EXPECT_EQ(shape.num_passes, expected.num_passes) << num_vectors;
  };
  expect(4096, {2, 33, 8, 256, 1});   // 32768 of bfloat16
  expect(16384, {2, 8, 32, 256, 1});  // 131072
  expect(18750, {2, 7, 37, 256, 1});  // 150000
  expect(32768, {2, 4, 64, 256, 1});  // 262144
  expect(40000, {1, 3, 42, 480, 1});  // slices smaller than they could be, on all multiprocessors
  expect(65536, {1, 2, 64, 512, 1});  // 262144 of float32
  expect(65537, {});
  expect(2049, {2, 48, 5, 224, 1}, 8);   // 16385 of bfloat16
  expect(6284, {2, 20, 13, 256, 2}, 8);  // 50257: twice the passes, 20 groups for 16
  expect(12502, {2, 8, 33, 192, 1}, 8);  // 100003
  expect(25002, {2, 4, 56, 224, 2}, 8);  // 200001
  expect(50002, {1, 2, 61, 416, 2}, 4);  // 200001 of float32
}

}  // namespace
