// SPDX-License-Identifier: Apache-2.0
#include "rope/rope.h"

#include <cmath>

#include "op_test.h"

namespace {

using namespace cudaops::testing;
using namespace cudaops_kernels;
using namespace op_test;

struct Shape {
  int64_t batches, tokens, q_heads, k_heads, head_dim, rotary_dim;
};

enum class Positions { kNone, kInt32, kInt64 };

// How q and k lie, each with `gap` elements behind each head and the first `offset` elements behind
// a multiple of 256 bytes; heads_first: [batch, head, token, head_dim].
struct Layout {
  int64_t gap = 0;
  int64_t offset = 0;
  bool heads_first = false;

  RopeStrides strides(const Shape& shape, int64_t heads) const {
    const int64_t head = shape.head_dim + gap;
    const int64_t batch = shape.tokens * heads * head;
    if (heads_first) return {batch, head, shape.tokens * head};
    return {batch, heads * head, head};
  }
};

// Queries or keys: [batch, token, head, head_dim] as a list, and as it lies in memory.
template <typename T>
struct TestHeads {
  Shape shape;
  int64_t heads;
  std::vector<T> values;

  TestHeads(uint64_t stream, const Shape& of_shape, int64_t num_heads)
      : shape(of_shape),
        heads(num_heads),
        values(Random(stream).normal<T>(of_shape.batches * of_shape.tokens * num_heads *
                                        of_shape.head_dim)) {}

  template <typename Visit>
  void for_all(const Layout& layout, const Visit& visit) const {
    const RopeStrides strides = layout.strides(shape, heads);
    size_t index = 0;
    for (int64_t b = 0; b < shape.batches; ++b) {
      for (int64_t t = 0; t < shape.tokens; ++t) {
        for (int64_t h = 0; h < heads; ++h) {
          const int64_t first = b * strides.batch + t * strides.token + h * strides.head;
          for (int64_t i = 0; i < shape.head_dim; ++i) {
            visit(index++, static_cast<size_t>(first + i));
          }
        }
      }
    }
  }
  std::vector<T> laid_out(const Layout& layout) const {
    const int64_t size = shape.batches * shape.tokens * heads * (shape.head_dim + layout.gap);
    std::vector<T> memory(static_cast<size_t>(size), poison<T>());
    for_all(layout, [&](size_t index, size_t place) { memory[place] = values[index]; });
    return memory;
  }
  std::vector<T> gathered(const std::vector<T>& memory, const Layout& layout) const {
    std::vector<T> result(values.size());
    for_all(layout, [&](size_t index, size_t place) { result[index] = memory[place]; });
    return result;
  }
};

template <typename T, typename Table>
struct Problem {
  Shape shape;
  bool interleaved, backward;
  Positions kind;
  int64_t num_positions;
  TestHeads<T> q, k;
  std::vector<Table> cos, sin;
  std::vector<int64_t> positions;

  Problem(const Shape& of_shape, bool of_neighbours, bool by_negative_angle, Positions of_kind)
      : shape(of_shape),
        interleaved(of_neighbours),
        backward(by_negative_angle),
        kind(of_kind),
        num_positions(shape.tokens + 5),
        q(1, shape, shape.q_heads),
        k(2, shape, shape.k_heads) {
    const int64_t pairs = shape.rotary_dim / 2;
    Random random(3);
    for (int64_t i = 0; i < num_positions * pairs; ++i) {
      const double angle = random.uniform(-4, 4);
      cos.push_back(rounded<Table>(std::cos(angle)));
      sin.push_back(rounded<Table>(std::sin(angle)));
    }
    for (int64_t i = 0; i < shape.batches * shape.tokens; ++i) {
      const bool given = kind != Positions::kNone;
      positions.push_back(given ? (7 * i + 3) % num_positions : i % shape.tokens);
    }
  }

  std::vector<double> wanted(const TestHeads<T>& heads) const {
    const int64_t pairs = shape.rotary_dim / 2;
    std::vector<double> result;
    for (size_t i = 0; i < heads.values.size(); ++i) {
      const int64_t place = static_cast<int64_t>(i) % shape.head_dim;
      const size_t head = i - static_cast<size_t>(place);
      if (place >= shape.rotary_dim) {
        result.push_back(exact(heads.values[i]));
        continue;
      }
      const int64_t pair = interleaved ? place / 2 : place % pairs;
      const bool is_second = interleaved ? place % 2 == 1 : place >= pairs;
      const int64_t first = interleaved ? 2 * pair : pair;
      const int64_t second = interleaved ? first + 1 : pair + pairs;
      const double a = exact(heads.values[head + static_cast<size_t>(first)]);
      const double b = exact(heads.values[head + static_cast<size_t>(second)]);
      const int64_t token = static_cast<int64_t>(i) / shape.head_dim / heads.heads;
      const int64_t position = positions[static_cast<size_t>(token)];
      if (position < 0 || position >= num_positions) {
        result.push_back(std::nan(""));
        continue;
      }
      const size_t at = static_cast<size_t>(position * pairs + pair);
      const double c = exact(cos[at]), s = (backward ? -1 : 1) * exact(sin[at]);
      result.push_back(is_second ? b * c + a * s : a * c - b * s);
    }
    return result;
  }

  // run(Rope); Buffer is HostBuffer or DeviceBuffer. Not in place the outputs have no gaps and
  // start at offset_out.
  template <template <typename> class Buffer, typename Run>
  void check(const Layout& layout, bool in_place, int64_t offset_out, const Run& run) const {
    SCOPED_TRACE(::testing::Message()
                 << shape.batches << " x " << shape.tokens << " tokens, " << shape.q_heads << " + "
                 << shape.k_heads << " heads of " << shape.head_dim << ", rotary "
                 << shape.rotary_dim << ", interleaved " << interleaved << ", backward " << backward
                 << ", gap " << layout.gap << ", offsets " << layout.offset << ", " << offset_out
                 << ", heads first " << layout.heads_first << ", in place " << in_place);
    Buffer<T> q_in(q.laid_out(layout), layout.offset), k_in(k.laid_out(layout), layout.offset);
    Buffer<T> q_new(in_place ? 0 : static_cast<int64_t>(q.values.size()), offset_out);
    Buffer<T> k_new(in_place ? 0 : static_cast<int64_t>(k.values.size()), offset_out);
    const Buffer<Table> cos_in(cos), sin_in(sin);
    const Buffer<int64_t> wide(positions);
    const Buffer<int32_t> narrow(std::vector<int32_t>(positions.begin(), positions.end()));
    const Layout plain;
    const Layout& out = in_place ? layout : plain;
    Buffer<T>&q_out = in_place ? q_in : q_new, &k_out = in_place ? k_in : k_new;
    Rope call{};
    call.num_batches = shape.batches;
    call.seq_length = shape.tokens;
    call.head_dim = shape.head_dim;
    call.rotary_dim = shape.rotary_dim;
    call.num_positions = num_positions;
    call.dtype = kDType<T>;
    call.table_dtype = kDType<Table>;
    call.interleaved = interleaved;
    call.backward = backward;
    call.q = {shape.q_heads, q_in.data(), layout.strides(shape, shape.q_heads), q_out.data(),
              out.strides(shape, shape.q_heads)};
    call.k = {shape.k_heads, k_in.data(), layout.strides(shape, shape.k_heads), k_out.data(),
              out.strides(shape, shape.k_heads)};
    call.cos = cos_in.data();
    call.sin = sin_in.data();
    if (kind == Positions::kInt32) call.positions = narrow.data();
    if (kind == Positions::kInt64) call.positions = wide.data();
    call.position_type = kind == Positions::kInt32 ? PositionType::kInt32 : PositionType::kInt64;
    run(call);
    Tolerance tolerance = DtypeOf<T>::kTolerance;
    tolerance.atol = std::max(tolerance.atol, 2e-6);  // a difference of two terms around 4
    const std::vector<T> q_memory = q_out.to_host(), k_memory = k_out.to_host();
    EXPECT_TRUE(close(q.gathered(q_memory, out), wanted(q), {{"q", q.values}}, tolerance));
    EXPECT_TRUE(close(k.gathered(k_memory, out), wanted(k), {{"k", k.values}}, tolerance));
    EXPECT_TRUE(q_out.guards_intact() && k_out.guards_intact());
    for (const std::vector<T>& memory : {q_memory, k_memory}) {
      if (in_place && layout.gap > 0 && !memory.empty()) EXPECT_TRUE(is_poison(memory.back()));
    }
  }
};

// Shapes around vectors, halves, blocks and their edges; every kind of pairs, tables, positions.
template <typename T, template <typename> class Buffer, typename Run>
void check_shapes(const Run& run) {
  int count = 0;
  for (const auto& [head_dim, rotary_dim] : {std::pair<int64_t, int64_t>{128, 128},
                                             {64, 64},
                                             {80, 32},
                                             {80, 80},
                                             {96, 96},
                                             {72, 72},
                                             {66, 66},
                                             {68, 68},
                                             {68, 64},
                                             {2, 2},
                                             {1, 0},
                                             {16, 0},
                                             {33, 2},
                                             {40, 16},
                                             {24, 16},
                                             {1026, 1024},
                                             {130, 128}}) {
    for (const auto& [q_heads, k_heads] :
         {std::pair<int64_t, int64_t>{4, 1}, {3, 3}, {1, 0}, {0, 2}, {32, 8}}) {
      const Shape shape{2, 5, q_heads, k_heads, head_dim, rotary_dim};
      for (const bool interleaved : {false, true}) {
        const Positions kind = static_cast<Positions>(count % 3);
        const bool backward = count % 2 == 1, in_place = count % 5 == 0;
        Problem<T, T>(shape, interleaved, backward, kind)
            .template check<Buffer>({}, in_place, 0, run);
        Problem<T, float>(shape, interleaved, !backward, kind)
            .template check<Buffer>({}, !in_place, 0, run);
        ++count;
      }
    }
  }
}

template <typename T, template <typename> class Buffer, typename Run>
void check_layouts(const Run& run) {
  for (const int64_t rotary_dim : {64, 32}) {
    const Shape shape{3, 4, 5, 2, 64, rotary_dim};
    for (const bool interleaved : {false, true}) {
      const Problem<T, T> problem(shape, interleaved, false, Positions::kNone);
      for (const int64_t gap : {0, 1, 2, 4, 8, 64}) {
        for (const int64_t offset : {0, 1, 2, 4, 7, 8}) {
          for (const bool heads_first : {false, true}) {
            const Layout layout{gap, offset, heads_first};
            problem.template check<Buffer>(layout, true, 0, run);
            problem.template check<Buffer>(layout, false, gap + offset, run);
          }
        }
      }
    }
  }
}

// The cases of shapes.json that have heads of some elements.
template <typename T, template <typename> class Buffer, typename Run>
void check_cases(const Run& run) {
  int count = 0;
  for (const std::vector<std::vector<int64_t>>& of_case : shapes_of("rope").cases) {
    const std::vector<int64_t>& q = of_case[0];
    const size_t last = q.size() - 1;
    if (q[last] == 0) continue;
    const std::vector<int64_t> batches(q.begin(), q.end() - 3);
    const Shape shape{num_elements(batches), q[last - 2], q[last - 1],
                      of_case[1][0],         q[last],     of_case[2][0]};
    for (const bool interleaved : {false, true}) {
      const Positions kind = static_cast<Positions>(count++ % 3);
      Problem<T, T>(shape, interleaved, false, kind).template check<Buffer>({}, false, 0, run);
      Problem<T, float>(shape, interleaved, true, kind).template check<Buffer>({}, true, 0, run);
    }
  }
}

// Batches of one token, one batch, many tokens, none at all.
template <typename T, template <typename> class Buffer, typename Run>
void check_counts(const Run& run) {
  for (const auto& [batches, tokens] :
       {std::pair<int64_t, int64_t>{1, 1}, {70, 1}, {1, 300}, {9, 33}, {0, 3}, {3, 0}}) {
    for (const int64_t head_dim : {8, 66, 128}) {
      const Shape shape{batches, tokens, 3, 1, head_dim, head_dim};
      for (const Positions kind : {Positions::kNone, Positions::kInt32, Positions::kInt64}) {
        const Problem<T, float> problem(shape, false, false, kind);
        problem.template check<Buffer>({}, false, 0, run);
        problem.template check<Buffer>({8, 0, true}, true, 0, run);
      }
    }
  }
  const Problem<T, float> without_heads({2, 3, 0, 0, 66, 66}, false, false, Positions::kNone);
  without_heads.template check<Buffer>({}, false, 0, run);
}

// NaN where the tables have no row, also just outside; everything else as ever.
template <typename T, template <typename> class Buffer, typename Run>
void check_positions_out_of_range(const Run& run) {
  for (const int64_t head_dim : {128, 66}) {
    for (const Positions kind : {Positions::kInt32, Positions::kInt64}) {
      for (const bool interleaved : {false, true}) {
        const Shape shape{2, 6, 2, 1, head_dim, head_dim - 2};
        Problem<T, T> of_own(shape, interleaved, true, kind);
        Problem<T, float> of_float(shape, interleaved, false, kind);
        of_own.positions[0] = of_float.positions[0] = -1;
        of_own.positions[4] = of_float.positions[4] = of_own.num_positions;
        of_own.positions[7] = of_float.positions[7] = 0x7fffffff;
        of_own.positions[9] = of_float.positions[9] =
            kind == Positions::kInt64 ? int64_t{1} << 62 : -0x7fffffff;
        of_own.template check<Buffer>({}, false, 0, run);
        of_float.template check<Buffer>({}, true, 0, run);
      }
    }
  }
}

const auto on_cpu = [](const Rope& call) { rope_cpu(call, scattered_for); };

template <typename T>
class RopeCpu : public ::testing::Test {};
TYPED_TEST_SUITE(RopeCpu, Types, TypeNames);

TYPED_TEST(RopeCpu, IsRightForAllShapes) {
  check_shapes<TypeParam, HostBuffer>(on_cpu);
  check_cases<TypeParam, HostBuffer>(on_cpu);
}
TYPED_TEST(RopeCpu, IsRightForAllLayouts) { check_layouts<TypeParam, HostBuffer>(on_cpu); }
TYPED_TEST(RopeCpu, IsRightForAllCounts) { check_counts<TypeParam, HostBuffer>(on_cpu); }
TYPED_TEST(RopeCpu, GivesNanWithoutARow) {
  check_positions_out_of_range<TypeParam, HostBuffer>(on_cpu);
}

#if defined(CUDAOPS_KERNELS_WITH_CUDA)

const auto on_gpu = [](const Rope& call) { launch_rope(call, nullptr); };

template <typename T>
class RopeGpu : public ::testing::Test {};
TYPED_TEST_SUITE(RopeGpu, Types, TypeNames);

TYPED_TEST(RopeGpu, IsRightForAllShapes) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  check_shapes<TypeParam, DeviceBuffer>(on_gpu);
  check_cases<TypeParam, DeviceBuffer>(on_gpu);
}
TYPED_TEST(RopeGpu, IsRightForAllLayouts) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  check_layouts<TypeParam, DeviceBuffer>(on_gpu);
}
TYPED_TEST(RopeGpu, IsRightForAllCounts) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  check_counts<TypeParam, DeviceBuffer>(on_gpu);
}
TYPED_TEST(RopeGpu, GivesNanWithoutARow) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  check_positions_out_of_range<TypeParam, DeviceBuffer>(on_gpu);
}

// The widest head, and more threads a token than a block has.
TYPED_TEST(RopeGpu, IsRightForLongHeads) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t head_dim : {16384, 100002, 262144}) {
    const Problem<TypeParam, float> problem({1, 2, 2, 1, head_dim, head_dim}, false, false,
                                            Positions::kInt64);
    problem.template check<DeviceBuffer>({}, false, 0, on_gpu);
  }
}

// q and its output beyond 2^31 elements each; k marks what lies behind them.
TEST(RopeGpuLarge, IsRightBeyond32Bits) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  if (!large_arrays_wanted()) GTEST_SKIP() << "CUDAOPS_TEST_LARGE is not set";
  const int64_t heads = 32, head_dim = 128, width = heads * head_dim;
  const int64_t tokens = kLargeSize / width + 3;
  const std::vector<BFloat16> last = Random(1).normal<BFloat16>(width);
  DeviceBuffer<BFloat16> q(tokens * width);
  const int64_t first = (tokens - 1) * width;
  CUDAOPS_GPU_CALL(Memcpy, q.data() + first, last.data(), last.size() * sizeof(BFloat16),
                   CUDAOPS_GPU(MemcpyHostToDevice));
  const std::vector<float> cos_row(head_dim / 2, 0.6f), sin_row(head_dim / 2, 0.8f);
  const DeviceBuffer<float> cos(cos_row), sin(sin_row);
  const DeviceBuffer<int64_t> positions(std::vector<int64_t>(static_cast<size_t>(tokens), 0));
  const RopeStrides strides{0, width, head_dim};
  Rope call{};
  call.num_batches = 1;
  call.seq_length = tokens;
  call.head_dim = call.rotary_dim = head_dim;
  call.num_positions = 1;
  call.dtype = DType::kBFloat16;
  call.position_type = PositionType::kInt64;
  call.q = {heads, q.data(), strides, q.data(), strides};
  call.cos = cos.data();
  call.sin = sin.data();
  call.positions = positions.data();
  launch_rope(call, nullptr);
  EXPECT_TRUE(close(q.to_host(first, width), [&](int64_t i) {
    const int64_t place = i % head_dim, pairs = head_dim / 2;
    const double x = exact(last[static_cast<size_t>(i)]);
    if (place < pairs) return x * 0.6f - exact(last[static_cast<size_t>(i + pairs)]) * 0.8f;
    return x * 0.6f + exact(last[static_cast<size_t>(i - pairs)]) * 0.8f;
  }));
  EXPECT_TRUE(q.guards_intact());
}

TEST(RopeGpuErrors, NamesTablesWithoutRows) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  Rope call{};
  call.num_batches = call.seq_length = 1;
  call.head_dim = call.rotary_dim = 2;
  try {
    launch_rope(call, nullptr);
    FAIL() << "nothing was refused";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "rope: wanted at least one row for cos and sin, found none.");
  }
}

#endif

}  // namespace
