// SPDX-License-Identifier: Apache-2.0
#include "attention_decode/attention_decode.h"

#include <cmath>

#include "common/quantized.h"
#include "op_test.h"

namespace {

using namespace cudaops::testing;
using namespace cudaops_kernels;
using namespace op_test;

struct Shape {
  std::vector<int32_t> lengths;
  int64_t q_length, num_heads, num_kv_heads, head_dim, page_size;
  int64_t window_left = -1;
  float softcap = 0;
  bool has_sinks = false;

  int64_t num_batches() const { return static_cast<int64_t>(lengths.size()); }
  int64_t num_outputs() const { return num_batches() * q_length * num_heads * head_dim; }
  int64_t blocks_per_sequence() const {
    int64_t most = 1;
    for (const int32_t length : lengths) {
      most = std::max<int64_t>(most, (length + page_size - 1) / page_size);
    }
    return most;
  }
  int64_t num_blocks() const { return num_batches() * blocks_per_sequence(); }
};

const Shape kShapes[] = {
    {{1}, 1, 1, 1, 64, 16},
    {{130, 0, 17}, 1, 4, 2, 64, 16},
    {{40, 3, 700}, 3, 8, 1, 128, 64, 100},
    {{65, 64}, 2, 2, 2, 80, 32, -1, 2.0f},
    {{33, 129}, 9, 6, 3, 256, 16, -1, 0, true},
    {{50}, 1, 2, 1, 33, 7, 5, 3.0f, true},
    {{130, 5}, 1, 24, 24, 64, 16},
    {{2200}, 1, 1, 1, 64, 16},
    {{100}, 16, 4, 2, 128, 64},
    {{300, 40}, 8, 8, 2, 64, 16},
};

std::string text_of(const Shape& shape) {
  std::string text;
  for (const int32_t length : shape.lengths) text += std::to_string(length) + ",";
  for (const int64_t number : {shape.q_length, shape.num_heads, shape.num_kv_heads, shape.head_dim,
                               shape.page_size, shape.window_left}) {
    text += " " + std::to_string(number);
  }
  return text;
}

// Arrays on the host; block i of a sequence is the i-th but from the end.
template <typename T>
struct Problem {
  Shape shape;
  bool has_float8;
  std::vector<T> q, k, v;
  std::vector<uint8_t> k8, v8;
  std::vector<int32_t> table;
  std::vector<float> sinks, k_scale, v_scale;

  Problem(const Shape& s, bool float8)
      : shape(s),
        has_float8(float8),
        q(Random(1).normal<T>(s.num_outputs())),
        k(Random(2).normal<T>(s.num_blocks() * s.page_size * s.num_kv_heads * s.head_dim)),
        v(Random(3).normal<T>(static_cast<int64_t>(k.size()))),
        sinks(Random(4).normal<float>(s.num_heads)),
        k_scale(Random(5).uniform<float>(s.num_kv_heads, 0.5, 2)),
        v_scale(Random(6).uniform<float>(s.num_kv_heads, 0.5, 2)) {
    for (int64_t i = 0; i < s.num_blocks(); ++i) {
      table.push_back(static_cast<int32_t>(s.num_blocks() - 1 - i));
    }
    for (const T& x : k) k8.push_back(nearest_float8(static_cast<float>(exact(x))));
    for (const T& x : v) v8.push_back(nearest_float8(static_cast<float>(exact(x))));
  }

  double number(const std::vector<T>& cache, const std::vector<uint8_t>& float8,
                const std::vector<float>& scale, int64_t batch, int64_t key, int64_t head,
                int64_t d) const {
    const Shape& s = shape;
    const int64_t block =
        table[static_cast<size_t>(batch * s.blocks_per_sequence() + key / s.page_size)];
    const size_t at = static_cast<size_t>(
        ((block * s.page_size + key % s.page_size) * s.num_kv_heads + head) * s.head_dim + d);
    if (!has_float8) return exact(cache[at]);
    return double{float8_to_float(float8[at])} * scale[static_cast<size_t>(head)];
  }

  // A row's output and lse.
  std::vector<double> solve(int64_t batch, int64_t token, int64_t head, double* lse) const {
    const Shape& s = shape;
    const int64_t kv_head = head / (s.num_heads / s.num_kv_heads);
    const int64_t position = s.lengths[static_cast<size_t>(batch)] - s.q_length + token;
    const int64_t first = s.window_left < 0 ? 0 : std::max<int64_t>(0, position - s.window_left);
    const int64_t row = ((batch * s.q_length + token) * s.num_heads + head) * s.head_dim;
    std::vector<double> scores, output(static_cast<size_t>(s.head_dim));
    const double sink = s.has_sinks ? double{sinks[static_cast<size_t>(head)]} : -INFINITY;
    double largest = sink;
    for (int64_t key = first; key <= position; ++key) {
      double score = 0;
      for (int64_t d = 0; d < s.head_dim; ++d) {
        score +=
            exact(q[static_cast<size_t>(row + d)]) * number(k, k8, k_scale, batch, key, kv_head, d);
      }
      score *= 0.125;
      if (s.softcap > 0) score = double{s.softcap} * std::tanh(score / double{s.softcap});
      scores.push_back(score);
      largest = std::fmax(largest, score);
    }
    if (largest == -INFINITY) {
      *lse = -INFINITY;
      return output;
    }
    double total = std::exp(sink - largest);
    for (double& score : scores) total += score = std::exp(score - largest);
    for (size_t i = 0; i < scores.size(); ++i) {
      for (int64_t d = 0; d < s.head_dim; ++d) {
        output[static_cast<size_t>(d)] +=
            scores[i] / total *
            number(v, v8, v_scale, batch, first + static_cast<int64_t>(i), kv_head, d);
      }
    }
    *lse = largest + std::log(total);
    return output;
  }

  void check(const std::vector<T>& output, const std::vector<float>& lse, double rounding) const {
    const Shape& s = shape;
    std::vector<double> wanted, wanted_lse(lse.size());
    for (int64_t batch = 0; batch < s.num_batches(); ++batch) {
      for (int64_t token = 0; token < s.q_length; ++token) {
        for (int64_t head = 0; head < s.num_heads; ++head) {
          const int64_t at = (batch * s.num_heads + head) * s.q_length + token;
          const std::vector<double> row =
              solve(batch, token, head, &wanted_lse[static_cast<size_t>(at)]);
          wanted.insert(wanted.end(), row.begin(), row.end());
        }
      }
    }
    // Weights of a GPU's products are rounded to 16 bits.
    const Tolerance values{DtypeOf<T>::kTolerance.rtol + rounding, 2e-5 + 3 * rounding,
                           DtypeOf<T>::kTolerance.ulps};
    EXPECT_TRUE(close(output, wanted, {}, values));
    EXPECT_TRUE(close(lse, wanted_lse, {}, Tolerance{1e-5, 1e-4, 64}));
  }
};

template <typename T, template <typename> class Buffer>
struct Arrays {
  const Problem<T>& problem;
  Buffer<T> q, k, v, output;
  Buffer<uint8_t> k8, v8;
  Buffer<int32_t> table, lengths;
  Buffer<float> sinks, k_scale, v_scale, lse;

  Arrays(const Problem<T>& p, int64_t offset)
      : problem(p),
        q(p.q, offset),
        k(p.k, offset),
        v(p.v, offset),
        output(p.shape.num_outputs(), offset),
        k8(p.k8, offset),
        v8(p.v8, offset),
        table(p.table),
        lengths(p.shape.lengths),
        sinks(p.sinks),
        k_scale(p.k_scale),
        v_scale(p.v_scale),
        lse(p.shape.num_outputs() / p.shape.head_dim) {}

  AttentionDecode call() {
    const Shape& s = problem.shape;
    AttentionDecode result{};
    result.num_batches = s.num_batches();
    result.q_length = s.q_length;
    result.num_heads = s.num_heads;
    result.num_kv_heads = s.num_kv_heads;
    result.head_dim = s.head_dim;
    result.num_blocks = s.num_blocks();
    result.page_size = s.page_size;
    result.blocks_per_sequence = s.blocks_per_sequence();
    result.dtype = kDType<T>;
    result.has_float8_cache = problem.has_float8;
    result.q = q.data();
    result.q_head_stride = s.head_dim;
    result.q_token_stride = s.num_heads * s.head_dim;
    result.q_batch_stride = s.q_length * result.q_token_stride;
    const int64_t token = s.num_kv_heads * s.head_dim;
    result.k = {k.data(), s.page_size * token, token, s.head_dim, nullptr, 0};
    result.v = {v.data(), s.page_size * token, token, s.head_dim, nullptr, 0};
    if (problem.has_float8) {
      result.k = {k8.data(), s.page_size * token, token, s.head_dim, k_scale.data(), 1};
      result.v = {v8.data(), s.page_size * token, token, s.head_dim, v_scale.data(), 1};
    }
    result.block_table = table.data();
    result.block_table_stride = s.blocks_per_sequence();
    result.lengths = lengths.data();
    if (s.has_sinks) result.sinks = sinks.data();
    result.scale = 0.125f;
    result.softcap = s.softcap;
    result.window_left = s.window_left;
    result.output = output.data();
    result.lse = lse.data();
    return result;
  }

  void check(double rounding) const {
    problem.check(output.to_host(), lse.to_host(), rounding);
    EXPECT_TRUE(output.guards_intact() && lse.guards_intact());
  }
};

template <typename T>
class AttentionDecodeCpu : public ::testing::Test {};
TYPED_TEST_SUITE(AttentionDecodeCpu, Types, TypeNames);

TYPED_TEST(AttentionDecodeCpu, IsRightForAllShapes) {
  for (const Shape& shape : kShapes) {
    for (const bool float8 : {false, true}) {
      SCOPED_TRACE(text_of(shape));
      const Problem<TypeParam> problem(shape, float8);
      Arrays<TypeParam, HostBuffer> arrays(problem, 1);
      attention_decode_cpu(arrays.call(), scattered_for);
      arrays.check(0);
    }
  }
}

#if defined(CUDAOPS_KERNELS_WITH_CUDA)

template <typename T>
class AttentionDecodeGpu : public ::testing::Test {};
TYPED_TEST_SUITE(AttentionDecodeGpu, Types, TypeNames);

TYPED_TEST(AttentionDecodeGpu, IsRightForAllShapesAndAlignments) {
  using T = TypeParam;
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const Shape& shape : kShapes) {
    for (const bool float8 : {false, true}) {
      for (const int64_t offset : {0, 1}) {
        if (is_left_out()) continue;
        SCOPED_TRACE(text_of(shape) + " offset " + std::to_string(offset));
        const Problem<T> problem(shape, float8);
        Arrays<T, DeviceBuffer> arrays(problem, offset);
        const AttentionDecode call = arrays.call();
        const DeviceBuffer<uint8_t> workspace(attention_decode_workspace_bytes(call));
        launch_attention_decode(call, const_cast<uint8_t*>(workspace.data()), nullptr);
        arrays.check(sizeof(T) == 2 ? (kDType<T> == DType::kFloat16 ? 1e-3 : 8e-3) : 0);
        EXPECT_TRUE(workspace.guards_intact());
      }
    }
  }
}

#endif

}  // namespace
