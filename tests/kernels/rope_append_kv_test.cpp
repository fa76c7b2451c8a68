// SPDX-License-Identifier: Apache-2.0
#include "rope_append_kv/rope_append_kv.h"

#include <cmath>

#include "common/quantized.h"
#include "op_test.h"

namespace {

using namespace cudaops::testing;
using namespace cudaops_kernels;
using namespace op_test;

constexpr int64_t kPages = 2, kPageSize = 16, kBlocks = 5;
constexpr int64_t kHeads = 3, kKvHeads = 2;
// Two sequences; -1: padding; 40: no page for it.
const std::vector<int32_t> kPositions{0, 31, -1, 7, 40, 16};
const std::vector<int32_t> kTable{4, 0, 2, 1};
constexpr int64_t kBatches = 2, kTokens = 3;

struct Shape {
  int64_t head_dim, rotary_dim;
  bool interleaved, float8;
};
const Shape kShapes[] = {{64, 64, false, false}, {64, 32, true, false}, {80, 48, false, true},
                         {33, 6, true, true},    {1, 0, false, false},  {16, 16, true, true}};

template <typename T>
struct Problem {
  Shape shape;
  std::vector<T> q, k, v;
  std::vector<float> cos, sin, scales;

  explicit Problem(const Shape& s)
      : shape(s),
        q(Random(1).normal<T>(kBatches * kTokens * kHeads * s.head_dim)),
        k(Random(2).normal<T>(kBatches * kTokens * kKvHeads * s.head_dim)),
        v(Random(3).normal<T>(kBatches * kTokens * kKvHeads * s.head_dim)),
        scales(Random(4).uniform<float>(kKvHeads, 0.5, 2)) {
    for (int64_t position = 0; position < kPages * kPageSize; ++position) {
      for (int64_t i = 0; i < s.rotary_dim / 2; ++i) {
        const double angle = static_cast<double>(position) / static_cast<double>(1 + i);
        cos.push_back(static_cast<float>(std::cos(angle)));
        sin.push_back(static_cast<float>(std::sin(angle)));
      }
    }
  }

  int64_t cache_size() const { return kBlocks * kPageSize * kKvHeads * shape.head_dim; }

  // Element d of a head of `from` at this position; NaN where the tables end.
  double rotated(const std::vector<T>& from, int64_t row, int64_t d, int64_t position) const {
    const auto at = [&](int64_t i) {
      return exact(from[static_cast<size_t>(row * shape.head_dim + i)]);
    };
    const int64_t half = shape.rotary_dim / 2;
    if (d >= shape.rotary_dim || position < 0) return at(d);
    if (position >= kPages * kPageSize) return NAN;
    const int64_t pair = shape.interleaved ? d / 2 : d % half;
    const bool is_second = shape.interleaved ? d % 2 == 1 : d >= half;
    const size_t entry = static_cast<size_t>(position * half + pair);
    const double a = at(shape.interleaved ? 2 * pair : pair);
    const double b = at(shape.interleaved ? 2 * pair + 1 : pair + half);
    const double c = cos[entry], s = sin[entry];
    return is_second ? b * c + a * s : a * c - b * s;
  }

  void check(const std::vector<T>& q_out, const std::vector<T>& k_cache,
             const std::vector<T>& v_cache, const std::vector<uint8_t>& k8,
             const std::vector<uint8_t>& v8) const {
    EXPECT_TRUE(close(q_out, [&](int64_t i) {
      const int64_t row = i / shape.head_dim, token = row / kHeads;
      return rotated(q, row, i % shape.head_dim, kPositions[static_cast<size_t>(token)]);
    }));
    // NaN, as buffers begin, wherever nothing is written.
    std::vector<double> wanted_k(static_cast<size_t>(cache_size()), NAN), wanted_v = wanted_k;
    for (int64_t token = 0; token < kBatches * kTokens; ++token) {
      const int64_t position = kPositions[static_cast<size_t>(token)];
      if (position < 0 || position >= kPages * kPageSize) continue;
      const int64_t block =
          kTable[static_cast<size_t>(token / kTokens * kPages + position / kPageSize)];
      for (int64_t i = 0; i < kKvHeads * shape.head_dim; ++i) {
        const size_t at = static_cast<size_t>(
            (block * kPageSize + position % kPageSize) * kKvHeads * shape.head_dim + i);
        const int64_t row = token * kKvHeads + i / shape.head_dim, d = i % shape.head_dim;
        wanted_k[at] = rotated(k, row, d, position);
        wanted_v[at] = rotated(v, row, d, -1);
      }
    }
    if (!shape.float8) {
      EXPECT_TRUE(close(k_cache, wanted_k));
      EXPECT_TRUE(close(v_cache, wanted_v));
      return;
    }
    for (const auto& [actual, wanted] : {std::pair(&k8, &wanted_k), std::pair(&v8, &wanted_v)}) {
      for (size_t i = 0; i < actual->size(); ++i) {
        if (std::isnan((*wanted)[i])) {
          ASSERT_EQ((*actual)[i], 0xff) << i;
          continue;
        }
        const size_t head = i / static_cast<size_t>(shape.head_dim) % kKvHeads;
        const double x = (*wanted)[i] / scales[head];
        // Half a step of float8's three bits, or of its subnormals.
        const double step = std::fmax(std::fabs(x) / 16, 1.0 / 1024) * 1.0001;
        ASSERT_NEAR(double{float8_to_float((*actual)[i])}, x, step) << i;
      }
    }
  }
};

template <typename T, template <typename> class Buffer>
struct Arrays {
  const Problem<T>& problem;
  Buffer<T> q, k, v, q_out, k_cache, v_cache;
  Buffer<uint8_t> k8, v8;
  Buffer<float> cos, sin, scales;
  Buffer<int32_t> positions, table;

  Arrays(const Problem<T>& p, int64_t offset)
      : problem(p),
        q(p.q, offset),
        k(p.k, offset),
        v(p.v, offset),
        q_out(static_cast<int64_t>(p.q.size()), offset),
        k_cache(p.cache_size(), offset),
        v_cache(p.cache_size(), offset),
        k8(std::vector<uint8_t>(static_cast<size_t>(p.cache_size()), 0xff), offset),
        v8(std::vector<uint8_t>(static_cast<size_t>(p.cache_size()), 0xff), offset),
        cos(p.cos),
        sin(p.sin),
        scales(p.scales),
        positions(kPositions),
        table(kTable) {}

  RopeAppendKv call() {
    const Shape& s = problem.shape;
    const auto heads = [&](const Buffer<T>& buffer, int64_t count) {
      return TokenHeads{buffer.data(),
                        {kTokens * count * s.head_dim, count * s.head_dim, s.head_dim}};
    };
    const auto cache = [&](void* data, const float* scale) {
      const int64_t token = kKvHeads * s.head_dim;
      return WrittenCache{data, kPageSize * token, token, s.head_dim, scale, 1};
    };
    RopeAppendKv result{};
    result.num_batches = kBatches;
    result.seq_length = kTokens;
    result.num_heads = kHeads;
    result.num_kv_heads = kKvHeads;
    result.head_dim = s.head_dim;
    result.rotary_dim = s.rotary_dim;
    result.num_positions = kPages * kPageSize;
    result.num_blocks = kBlocks;
    result.page_size = kPageSize;
    result.blocks_per_sequence = kPages;
    result.dtype = kDType<T>;
    result.table_dtype = DType::kFloat32;
    result.position_type = PositionType::kInt32;
    result.interleaved = s.interleaved;
    result.has_float8_cache = s.float8;
    result.q = heads(q, kHeads);
    result.k = heads(k, kKvHeads);
    result.v = heads(v, kKvHeads);
    result.q_out = q_out.data();
    result.k_cache = s.float8 ? cache(k8.data(), scales.data()) : cache(k_cache.data(), nullptr);
    result.v_cache = s.float8 ? cache(v8.data(), scales.data()) : cache(v_cache.data(), nullptr);
    result.cos = cos.data();
    result.sin = sin.data();
    result.positions = positions.data();
    result.block_table = table.data();
    return result;
  }

  void check() const {
    problem.check(q_out.to_host(), k_cache.to_host(), v_cache.to_host(), k8.to_host(),
                  v8.to_host());
    EXPECT_TRUE(q_out.guards_intact() && k_cache.guards_intact() && v_cache.guards_intact());
    EXPECT_TRUE(k8.guards_intact() && v8.guards_intact());
  }
};

template <typename T>
class RopeAppendKvCpu : public ::testing::Test {};
TYPED_TEST_SUITE(RopeAppendKvCpu, Types, TypeNames);

TYPED_TEST(RopeAppendKvCpu, IsRightForAllShapes) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(shape.head_dim);
    const Problem<TypeParam> problem(shape);
    Arrays<TypeParam, HostBuffer> arrays(problem, 1);
    rope_append_kv_cpu(arrays.call(), scattered_for);
    arrays.check();
  }
}

#if defined(CUDAOPS_KERNELS_WITH_CUDA)

template <typename T>
class RopeAppendKvGpu : public ::testing::Test {};
TYPED_TEST_SUITE(RopeAppendKvGpu, Types, TypeNames);

TYPED_TEST(RopeAppendKvGpu, IsRightForAllShapesAndAlignments) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const Shape& shape : kShapes) {
    for (const int64_t offset : {0, 1, 4}) {
      SCOPED_TRACE(shape.head_dim);
      const Problem<TypeParam> problem(shape);
      Arrays<TypeParam, DeviceBuffer> arrays(problem, offset);
      launch_rope_append_kv(arrays.call(), nullptr);
      arrays.check();
    }
  }
}

#endif

}  // namespace
