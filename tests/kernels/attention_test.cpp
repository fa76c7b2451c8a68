// SPDX-License-Identifier: Apache-2.0
#include "attention/attention.h"

#include <cmath>

#include "common/philox.h"
#include "op_test.h"

namespace {

using namespace cudaops::testing;
using namespace cudaops_kernels;
using namespace op_test;

struct Shape {
  int64_t batch, seq_q, seq_k, heads, kv_heads, head_dim, head_dim_v;
  int64_t left = -1, right = -1;
  double softcap = 0;
  bool has_bias = false, has_sinks = false;
  double dropout_p = 0;

  int64_t num_scores() const { return batch * heads * seq_q * seq_k; }
};

const Shape kShapes[] = {
    {1, 1, 1, 1, 1, 1, 1},
    {2, 65, 67, 2, 1, 40, 24},
    {1, 130, 129, 2, 2, 64, 64, -1, 0},
    {1, 70, 200, 4, 2, 72, 128, 40, 9},
    {1, 20, 70, 1, 1, 256, 200, -1, -1, 3.0},
    {1, 33, 65, 2, 2, 16, 16, -1, -1, 0, true},
    {1, 65, 20, 2, 1, 128, 128, -1, 0, 2.0, true, true},
    {1, 150, 136, 2, 1, 64, 64, -1, 0, 0, true},
    {1, 70, 136, 2, 2, 128, 96, 100, 20, 0, true},
    {2, 66, 70, 2, 1, 32, 64, -1, -1, 0, false, false, 0.25},
    {1, 100, 150, 1, 1, 40, 72, 41, 9, 0, false, false, 0.5},
    {1, 20, 70, 2, 1, 256, 136, -1, 0, 2.0, true, true, 0.125},
};

constexpr int64_t kSeed = 0x123456789abcdef;

std::string text_of(const Shape& shape) {
  std::string text;
  for (const int64_t number : {shape.batch, shape.seq_q, shape.seq_k, shape.heads, shape.kv_heads,
                               shape.head_dim, shape.head_dim_v, shape.left, shape.right}) {
    text += std::to_string(number) + " ";
  }
  return text + std::to_string(shape.softcap) + " " + std::to_string(shape.dropout_p);
}

// Everything in double, all scores stored.
template <typename T>
struct Problem {
  Shape shape;
  std::vector<T> q, k, v, grad_output, bias;
  std::vector<float> sinks;
  std::vector<double> output, lse, grad_q, grad_k, grad_v, grad_bias, grad_sinks;

  explicit Problem(const Shape& s)
      : shape(s),
        q(Random(1).normal<T>(s.batch * s.seq_q * s.heads * s.head_dim)),
        k(Random(2).normal<T>(s.batch * s.seq_k * s.kv_heads * s.head_dim)),
        v(Random(3).normal<T>(s.batch * s.seq_k * s.kv_heads * s.head_dim_v)),
        grad_output(Random(4).normal<T>(s.batch * s.seq_q * s.heads * s.head_dim_v)),
        bias(Random(5).normal<T>(s.num_scores())),
        sinks(Random(6).normal<float>(s.heads)),
        output(grad_output.size()),
        lse(static_cast<size_t>(s.batch * s.heads * s.seq_q)),
        grad_q(q.size()),
        grad_k(k.size()),
        grad_v(v.size()),
        grad_bias(bias.size()),
        grad_sinks(sinks.size()) {}

  double scale() const { return 1 / std::sqrt(static_cast<double>(shape.head_dim)); }
  size_t row_q(int64_t b, int64_t i, int64_t h, int64_t width) const {
    return static_cast<size_t>(((b * shape.seq_q + i) * shape.heads + h) * width);
  }
  size_t row_k(int64_t b, int64_t j, int64_t h, int64_t width) const {
    const int64_t kv_head = h / (shape.heads / shape.kv_heads);
    return static_cast<size_t>(((b * shape.seq_k + j) * shape.kv_heads + kv_head) * width);
  }
  bool is_visible(int64_t i, int64_t j) const {
    const int64_t distance = j - (i + shape.seq_k - shape.seq_q);
    return (shape.left < 0 || distance >= -shape.left) &&
           (shape.right < 0 || distance <= shape.right);
  }

  // What dropout multiplies a weight with.
  double kept(int64_t b, int64_t h, int64_t i, int64_t j) const {
    if (shape.dropout_p == 0) return 1;
    const uint64_t row = static_cast<uint64_t>((i >> 4 << 3) + (i & 7));
    const uint64_t column = static_cast<uint64_t>((j >> 4 << 2) + (j >> 1 & 3));
    const Philox random = philox(kSeed, row + (column << 32),
                                 static_cast<uint64_t>(h) + (static_cast<uint64_t>(b) << 32));
    const uint32_t word = random.words[(i & 8) / 4 + (j & 8) / 8];
    const uint32_t bits = j & 1 ? word >> 16 : word & 0xffff;
    return bits < shape.dropout_p * 65536 ? 0 : 1 / (1 - shape.dropout_p);
  }

  // rounded_output: what the backward pass is given.
  void solve(const std::vector<T>& rounded_output) {
    const Shape& s = shape;
    for (int64_t b = 0; b < s.batch; ++b) {
      for (int64_t h = 0; h < s.heads; ++h) {
        for (int64_t i = 0; i < s.seq_q; ++i) solve_row(b, h, i, rounded_output);
      }
    }
  }

  void solve_row(int64_t b, int64_t h, int64_t i, const std::vector<T>& rounded_output) {
    const Shape& s = shape;
    const size_t at_q = row_q(b, i, h, s.head_dim), at_out = row_q(b, i, h, s.head_dim_v);
    const size_t line = static_cast<size_t>((b * s.heads + h) * s.seq_q + i);
    std::vector<double> scores(static_cast<size_t>(s.seq_k)), slopes(scores.size(), 1.0);
    double largest = s.has_sinks ? double{sinks[static_cast<size_t>(h)]} : -INFINITY;
    for (int64_t j = 0; j < s.seq_k; ++j) {
      const size_t key = static_cast<size_t>(j), at_k = row_k(b, j, h, s.head_dim);
      double score = 0;
      for (size_t d = 0; d < static_cast<size_t>(s.head_dim); ++d) {
        score += exact(q[at_q + d]) * exact(k[at_k + d]);
      }
      score *= scale();
      if (s.softcap != 0) {
        const double t = std::tanh(score / s.softcap);
        score = s.softcap * t;
        slopes[key] = 1 - t * t;
      }
      if (s.has_bias) score += exact(bias[line * scores.size() + key]);
      scores[key] = is_visible(i, j) ? score : -INFINITY;
      largest = std::fmax(largest, scores[key]);
    }
    double sum = s.has_sinks ? std::exp(sinks[static_cast<size_t>(h)] - largest) : 0;
    for (const double score : scores) sum += score == -INFINITY ? 0 : std::exp(score - largest);
    lse[line] = sum == 0 ? -INFINITY : largest + std::log(sum);
    double delta = 0;
    for (size_t d = 0; d < static_cast<size_t>(s.head_dim_v); ++d) {
      output[at_out + d] = 0;
      delta += exact(grad_output[at_out + d]) * exact(rounded_output[at_out + d]);
    }
    for (int64_t j = 0; j < s.seq_k; ++j) {
      const size_t key = static_cast<size_t>(j);
      const size_t at_k = row_k(b, j, h, s.head_dim), at_v = row_k(b, j, h, s.head_dim_v);
      if (scores[key] == -INFINITY) continue;
      const double weight = std::exp(scores[key] - lse[line]), factor = kept(b, h, i, j);
      double derivative = -delta;
      for (size_t d = 0; d < static_cast<size_t>(s.head_dim_v); ++d) {
        output[at_out + d] += factor * weight * exact(v[at_v + d]);
        derivative += factor * exact(grad_output[at_out + d]) * exact(v[at_v + d]);
        grad_v[at_v + d] += factor * weight * exact(grad_output[at_out + d]);
      }
      derivative *= weight;
      grad_bias[line * scores.size() + key] = derivative;
      derivative *= slopes[key] * scale();
      for (size_t d = 0; d < static_cast<size_t>(s.head_dim); ++d) {
        grad_q[at_q + d] += derivative * exact(k[at_k + d]);
        grad_k[at_k + d] += derivative * exact(q[at_q + d]);
      }
    }
    if (s.has_sinks) {
      const size_t head = static_cast<size_t>(h);
      grad_sinks[head] -= std::exp(sinks[head] - lse[line]) * delta;
    }
  }
};

// The arrays of a call, in the memory of a device. Heads stand before the sequence, and sequences a
// row further apart than need be.
template <typename T, template <typename> class Buffer>
struct Arrays {
  const Shape& s;
  Buffer<T> q, k, v, grad_output, bias, output, grad_q, grad_k, grad_v;
  Buffer<float> sinks, lse, delta, grad_bias, grad_sinks;
  Buffer<int64_t> seed;

  Arrays(const Problem<T>& problem, int64_t offset)
      : s(problem.shape),
        q(problem.q, offset),
        k(problem.k, offset),
        v(problem.v, offset),
        grad_output(problem.grad_output, offset),
        bias(problem.bias, offset),
        output(static_cast<int64_t>(problem.output.size()), offset),
        grad_q(static_cast<int64_t>(problem.q.size()), offset),
        grad_k(static_cast<int64_t>(problem.k.size()), offset),
        grad_v(static_cast<int64_t>(problem.v.size()), offset),
        sinks(problem.sinks),
        lse(static_cast<int64_t>(problem.lse.size())),
        delta(static_cast<int64_t>(problem.lse.size())),
        grad_bias(static_cast<int64_t>(problem.bias.size())),
        grad_sinks(s.heads),
        seed(std::vector<int64_t>{kSeed}) {}

  template <typename Tensor, typename Data>
  static Tensor tensor(Data* data, int64_t seq, int64_t heads, int64_t width) {
    return {data, seq * heads * width, heads * width, width};
  }

  Attention forward() {
    Attention call{};
    call.dtype = kDType<T>;
    call.batch = s.batch;
    call.seq_q = s.seq_q;
    call.seq_k = s.seq_k;
    call.heads = s.heads;
    call.kv_heads = s.kv_heads;
    call.head_dim = s.head_dim;
    call.head_dim_v = s.head_dim_v;
    call.q = tensor<AttentionTensor>(q.data(), s.seq_q, s.heads, s.head_dim);
    call.k = tensor<AttentionTensor>(k.data(), s.seq_k, s.kv_heads, s.head_dim);
    call.v = tensor<AttentionTensor>(v.data(), s.seq_k, s.kv_heads, s.head_dim_v);
    call.output = tensor<AttentionOutput>(output.data(), s.seq_q, s.heads, s.head_dim_v);
    call.lse = lse.data();
    call.scale = 1 / std::sqrt(static_cast<double>(s.head_dim));
    call.window_left = s.left;
    call.window_right = s.right;
    call.softcap = s.softcap;
    if (s.has_bias) {
      call.bias = bias.data();
      call.bias_dtype = kDType<T>;
      call.bias_batch_stride = s.heads * s.seq_q * s.seq_k;
      call.bias_head_stride = s.seq_q * s.seq_k;
      call.bias_query_stride = s.seq_k;
      call.bias_key_stride = 1;
    }
    if (s.has_sinks) call.sinks = sinks.data();
    call.dropout_p = s.dropout_p;
    if (s.dropout_p > 0) call.seed = seed.data();
    return call;
  }

  AttentionBackward backward() {
    AttentionBackward call{};
    call.forward = forward();
    call.grad_output = tensor<AttentionTensor>(grad_output.data(), s.seq_q, s.heads, s.head_dim_v);
    call.grad_q = tensor<AttentionOutput>(grad_q.data(), s.seq_q, s.heads, s.head_dim);
    call.grad_k = tensor<AttentionOutput>(grad_k.data(), s.seq_k, s.kv_heads, s.head_dim);
    call.grad_v = tensor<AttentionOutput>(grad_v.data(), s.seq_k, s.kv_heads, s.head_dim_v);
    call.delta = delta.data();
    if (s.has_bias) {
      call.grad_bias = grad_bias.data();
      call.grad_bias_dtype = DType::kFloat32;
    }
    if (s.has_sinks) call.grad_sinks = grad_sinks.data();
    return call;
  }

  // rounding: of a weight to 16 bits, as factors of tensor cores are.
  void check(Problem<T>& problem, double rounding) {
    problem.solve(output.to_host());
    // Sums of numbers around 1 in float32, rounded to T. As many weights of a sum as count are a
    // few: it is off by a few roundings of numbers around 1.
    const Tolerance sums{2 * DtypeOf<T>::kTolerance.rtol, 2e-5 + 8 * rounding,
                         DtypeOf<T>::kTolerance.ulps};
    const Tolerance floats{1e-5, 2e-5, 64};
    EXPECT_TRUE(close(output.to_host(), problem.output, {}, sums));
    EXPECT_TRUE(close(lse.to_host(), problem.lse, {}, floats));
    EXPECT_TRUE(close(grad_q.to_host(), problem.grad_q, {}, sums));
    EXPECT_TRUE(close(grad_k.to_host(), problem.grad_k, {}, sums));
    EXPECT_TRUE(close(grad_v.to_host(), problem.grad_v, {}, sums));
    if (s.has_bias) EXPECT_TRUE(close(grad_bias.to_host(), problem.grad_bias, {}, floats));
    if (s.has_sinks) EXPECT_TRUE(close(grad_sinks.to_host(), problem.grad_sinks, {}, floats));
    EXPECT_TRUE(output.guards_intact() && lse.guards_intact() && grad_q.guards_intact() &&
                grad_k.guards_intact() && grad_v.guards_intact() && grad_bias.guards_intact() &&
                grad_sinks.guards_intact() && delta.guards_intact());
  }
};

template <typename T>
class AttentionCpu : public ::testing::Test {};
TYPED_TEST_SUITE(AttentionCpu, Types, TypeNames);

TYPED_TEST(AttentionCpu, IsRightForAllShapes) {
  using T = TypeParam;
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(text_of(shape));
    Problem<T> problem(shape);
    Arrays<T, HostBuffer> arrays(problem, 1);
    attention_cpu(arrays.forward(), scattered_for);
    attention_backward_cpu(arrays.backward(), scattered_for);
    arrays.check(problem, 0);
  }
}

#if defined(CUDAOPS_KERNELS_WITH_CUDA)

template <typename T>
class AttentionGpu : public ::testing::Test {};
TYPED_TEST_SUITE(AttentionGpu, Types, TypeNames);

TYPED_TEST(AttentionGpu, IsRightForAllShapesAndAlignments) {
  using T = TypeParam;
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const Shape& shape : kShapes) {
    for (const int64_t offset : {0, 1, 3}) {
      if (is_left_out()) continue;
      SCOPED_TRACE(text_of(shape) + " offset " + std::to_string(offset));
      Problem<T> problem(shape);
      Arrays<T, DeviceBuffer> arrays(problem, offset);
      const Attention forward = arrays.forward();
      DeviceBuffer<uint8_t> forward_workspace(attention_workspace_bytes(forward));
      launch_attention(forward, forward_workspace.data(), nullptr);
      const AttentionBackward backward = arrays.backward();
      DeviceBuffer<uint8_t> workspace(attention_backward_workspace_bytes(backward));
      launch_attention_backward(backward, workspace.data(), nullptr);
      constexpr double kRounding = kDType<T> == DType::kFloat16 ? 0x1p-11 : 0x1p-8;
      arrays.check(problem, sizeof(T) == 2 ? kRounding : 0);
      EXPECT_TRUE(forward_workspace.guards_intact());
      EXPECT_TRUE(workspace.guards_intact());
    }
  }
}

#endif

}  // namespace
