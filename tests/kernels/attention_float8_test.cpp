// SPDX-License-Identifier: Apache-2.0
#include "attention_float8/attention_float8.h"

#include <cmath>

#include "op_test.h"

namespace {

using namespace cudaops::testing;
using namespace cudaops_kernels;
using namespace op_test;

// Which factors a call has.
enum class Factors { kNone, kOne, kByHead, kBySequence };

struct Shape {
  std::vector<std::pair<int64_t, int64_t>> lengths;  // of queries and keys, a pair each sequence
  int64_t heads, kv_heads, head_dim, head_dim_v;
  Factors factors = Factors::kBySequence;
  int64_t left = -1, right = -1;
  double softcap = 0;
  bool has_sinks = false;

  int64_t batch() const { return static_cast<int64_t>(lengths.size()); }
  bool is_varlen() const {
    return std::any_of(lengths.begin(), lengths.end(),
                       [&](const auto& pair) { return pair != lengths[0]; });
  }
  int64_t first_query(int64_t sequence) const {
    int64_t sum = 0;
    for (int64_t i = 0; i < sequence; ++i) sum += lengths[static_cast<size_t>(i)].first;
    return sum;
  }
  int64_t first_key(int64_t sequence) const {
    int64_t sum = 0;
    for (int64_t i = 0; i < sequence; ++i) sum += lengths[static_cast<size_t>(i)].second;
    return sum;
  }
  int64_t num_queries() const { return first_query(batch()); }
  int64_t num_keys() const { return first_key(batch()); }
};

const Shape kShapes[] = {
    {{{1, 1}}, 1, 1, 1, 1, Factors::kNone},
    {{{65, 67}, {65, 67}}, 2, 1, 40, 24},
    {{{70, 140}, {70, 140}}, 4, 2, 64, 64, Factors::kByHead, -1, 0},
    {{{40, 200}}, 4, 2, 96, 128, Factors::kOne, 40, 9},
    {{{20, 270}}, 1, 1, 256, 208, Factors::kBySequence, -1, -1, 3.0},
    {{{65, 20}}, 2, 1, 192, 128, Factors::kBySequence, -1, 0, 0, true},
    {{{40, 72}, {0, 5}, {70, 133}, {7, 0}, {3, 129}}, 4, 2, 128, 128},
    {{{40, 72}, {100, 33}}, 2, 2, 48, 16, Factors::kByHead, -1, 0, 2.0, true},
    {{{5, 9}, {30, 70}}, 1, 1, 72, 13, Factors::kNone, 20, 3},
};

std::string text_of(const Shape& shape) {
  std::string text;
  for (const auto& [seq_q, seq_k] : shape.lengths) {
    text += std::to_string(seq_q) + "x" + std::to_string(seq_k) + " ";
  }
  for (const int64_t number :
       {shape.heads, shape.kv_heads, shape.head_dim, shape.head_dim_v, shape.left, shape.right}) {
    text += std::to_string(number) + " ";
  }
  return text + std::to_string(shape.softcap);
}

// Numbers of e4m3fn from 2^-4 to 1.875 of either sign, and some of its zeros and smallest ones.
std::vector<uint8_t> random_bytes(uint64_t seed, int64_t count) {
  std::vector<uint8_t> bytes;
  for (const float x : Random(seed).uniform<float>(count, -1, 1)) {
    const auto magnitude = static_cast<int>(std::fabs(x) * 44);
    bytes.push_back(
        static_cast<uint8_t>((x < 0 ? 128 : 0) + (magnitude < 4 ? magnitude : magnitude + 20)));
  }
  return bytes;
}

std::vector<double> numbers_of(const std::vector<uint8_t>& bytes) {
  std::vector<double> numbers;
  for (const uint8_t byte : bytes) {
    const int exponent = byte >> 3 & 15, mantissa = byte & 7;
    const double size =
        exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
    numbers.push_back(byte < 128 ? size : -size);
  }
  return numbers;
}

// Everything in double. bounds: of an output, the sum of its weights times sizes of values.
struct Problem {
  Shape shape;
  std::vector<uint8_t> q, k, v;
  std::vector<double> q_numbers, k_numbers, v_numbers;
  std::vector<float> q_factors, k_factors, v_factors, sinks;
  std::vector<int32_t> cu_seqlens_q, cu_seqlens_k;
  std::vector<double> output, bounds, lse;

  explicit Problem(const Shape& s)
      : shape(s),
        q(random_bytes(1, s.num_queries() * s.heads * s.head_dim)),
        k(random_bytes(2, s.num_keys() * s.kv_heads * s.head_dim)),
        v(random_bytes(3, s.num_keys() * s.kv_heads * s.head_dim_v)),
        q_numbers(numbers_of(q)),
        k_numbers(numbers_of(k)),
        v_numbers(numbers_of(v)),
        q_factors(Random(4).uniform<float>(num_factors(), 0.5, 2)),
        k_factors(Random(5).uniform<float>(num_factors(), 0.5, 2)),
        v_factors(Random(6).uniform<float>(num_factors(), 0.5, 2)),
        sinks(Random(7).normal<float>(s.heads)),
        output(static_cast<size_t>(s.num_queries() * s.heads * s.head_dim_v)),
        bounds(output.size()),
        lse(static_cast<size_t>(s.num_queries() * s.heads)) {
    for (int64_t i = 0; i <= s.batch(); ++i) {
      cu_seqlens_q.push_back(static_cast<int32_t>(s.first_query(i)));
      cu_seqlens_k.push_back(static_cast<int32_t>(s.first_key(i)));
    }
    for (int64_t b = 0; b < s.batch(); ++b) {
      for (int64_t h = 0; h < s.heads; ++h) {
        for (int64_t i = 0; i < s.lengths[static_cast<size_t>(b)].first; ++i) solve_row(b, h, i);
      }
    }
  }

  int64_t num_factors() const {
    return shape.factors == Factors::kBySequence ? shape.batch() * shape.kv_heads
           : shape.factors == Factors::kByHead   ? shape.kv_heads
                                                 : 1;
  }
  double factor(const std::vector<float>& factors, int64_t b, int64_t kv_head) const {
    if (shape.factors == Factors::kNone) return 1;
    if (shape.factors == Factors::kOne) return double{factors[0]};
    const int64_t first = shape.factors == Factors::kBySequence ? b * shape.kv_heads : 0;
    return double{factors[static_cast<size_t>(first + kv_head)]};
  }
  // Weights that differ much from each other.
  double scale() const { return 2 / std::sqrt(static_cast<double>(shape.head_dim)); }

  size_t line_of(int64_t b, int64_t h, int64_t i) const {
    const Shape& s = shape;
    const int64_t line = s.is_varlen() ? h * s.num_queries() + s.first_query(b) + i
                                       : (b * s.heads + h) * s.lengths[0].first + i;
    return static_cast<size_t>(line);
  }

  void solve_row(int64_t b, int64_t h, int64_t i) {
    const Shape& s = shape;
    const auto [seq_q, seq_k] = s.lengths[static_cast<size_t>(b)];
    const int64_t kv_head = h / (s.heads / s.kv_heads);
    const int64_t row = (s.first_query(b) + i) * s.heads + h;
    const double factor_qk = factor(q_factors, b, kv_head) * factor(k_factors, b, kv_head);
    const double factor_v = factor(v_factors, b, kv_head);
    const double sink = s.has_sinks ? double{sinks[static_cast<size_t>(h)]} : -INFINITY;
    std::vector<double> scores(static_cast<size_t>(seq_k), -INFINITY);
    double largest = sink;
    for (int64_t j = 0; j < seq_k; ++j) {
      const int64_t distance = j - (i + seq_k - seq_q);
      if (s.left >= 0 && distance < -s.left) continue;
      if (s.right >= 0 && distance > s.right) continue;
      const int64_t key = (s.first_key(b) + j) * s.kv_heads + kv_head;
      double score = 0;
      for (int64_t d = 0; d < s.head_dim; ++d) {
        score += q_numbers[static_cast<size_t>(row * s.head_dim + d)] *
                 k_numbers[static_cast<size_t>(key * s.head_dim + d)];
      }
      score *= scale() * factor_qk;
      if (s.softcap != 0) score = s.softcap * std::tanh(score / s.softcap);
      scores[static_cast<size_t>(j)] = score;
      largest = std::fmax(largest, score);
    }
    if (largest == -INFINITY) {
      lse[line_of(b, h, i)] = -INFINITY;
      return;
    }
    double sum = std::exp(sink - largest);
    for (double& score : scores) sum += score = std::exp(score - largest);
    lse[line_of(b, h, i)] = largest + std::log(sum);
    for (int64_t j = 0; j < seq_k; ++j) {
      const int64_t key = (s.first_key(b) + j) * s.kv_heads + kv_head;
      const double weight = scores[static_cast<size_t>(j)] / sum * factor_v;
      for (int64_t d = 0; d < s.head_dim_v; ++d) {
        const double value = weight * v_numbers[static_cast<size_t>(key * s.head_dim_v + d)];
        output[static_cast<size_t>(row * s.head_dim_v + d)] += value;
        bounds[static_cast<size_t>(row * s.head_dim_v + d)] += std::fabs(value);
      }
    }
  }
};

// The arrays of a call, in the memory of a device.
template <typename T, template <typename> class Buffer>
struct Arrays {
  const Problem& problem;
  Buffer<uint8_t> q, k, v;
  Buffer<float> q_factors, k_factors, v_factors, sinks, lse;
  Buffer<int32_t> cu_seqlens_q, cu_seqlens_k;
  Buffer<T> output;

  Arrays(const Problem& of, int64_t offset)
      : problem(of),
        q(of.q, offset),
        k(of.k, offset),
        v(of.v, offset),
        q_factors(of.q_factors),
        k_factors(of.k_factors),
        v_factors(of.v_factors),
        sinks(of.sinks),
        lse(static_cast<int64_t>(of.lse.size())),
        cu_seqlens_q(of.cu_seqlens_q),
        cu_seqlens_k(of.cu_seqlens_k),
        output(static_cast<int64_t>(of.output.size()), offset) {}

  AttentionFloat8 call() {
    const Shape& s = problem.shape;
    AttentionFloat8 call{};
    Attention& own = call.attention;
    own.dtype = kDType<T>;
    own.batch = s.batch();
    for (const auto& [seq_q, seq_k] : s.lengths) {
      own.seq_q = std::max(own.seq_q, seq_q);
      own.seq_k = std::max(own.seq_k, seq_k);
    }
    own.heads = s.heads;
    own.kv_heads = s.kv_heads;
    own.head_dim = s.head_dim;
    own.head_dim_v = s.head_dim_v;
    const auto strides = [](auto* data, int64_t seq, int64_t heads, int64_t width) {
      return AttentionTensor{data, seq * heads * width, heads * width, width};
    };
    own.q = strides(q.data(), own.seq_q, s.heads, s.head_dim);
    own.k = strides(k.data(), own.seq_k, s.kv_heads, s.head_dim);
    own.v = strides(v.data(), own.seq_k, s.kv_heads, s.head_dim_v);
    const int64_t row = s.heads * s.head_dim_v;
    own.output = {output.data(), own.seq_q * row, row, s.head_dim_v};
    own.lse = lse.data();
    own.scale = problem.scale();
    own.window_left = s.left;
    own.window_right = s.right;
    own.softcap = s.softcap;
    if (s.has_sinks) own.sinks = sinks.data();
    if (s.is_varlen()) {
      own.cu_seqlens_q = cu_seqlens_q.data();
      own.cu_seqlens_k = cu_seqlens_k.data();
      own.total_q = s.num_queries();
      own.total_k = s.num_keys();
    }
    const auto descale = [&](const float* data) -> AttentionDescale {
      if (s.factors == Factors::kNone) return {nullptr, 0, 0};
      return {data, s.factors == Factors::kBySequence ? s.kv_heads : 0,
              s.factors == Factors::kOne ? 0 : 1};
    };
    call.q_descale = descale(q_factors.data());
    call.k_descale = descale(k_factors.data());
    call.v_descale = descale(v_factors.data());
    return call;
  }

  // rounding: of q, k and v. coarse: of weights.
  void check(double rounding, double coarse) {
    const std::vector<double> found = exact(output.to_host());
    const double of_weights = 1e-5 + 16 * rounding + coarse;
    size_t wrong = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      const double allowed = of_weights * problem.bounds[i] +
                             DtypeOf<T>::kTolerance.rtol * std::fabs(problem.output[i]);
      if (std::fabs(found[i] - problem.output[i]) <= allowed) continue;
      if (wrong++ == 0) {
        ADD_FAILURE() << "output " << i << ": " << found[i] << ", wanted " << problem.output[i]
                      << " within " << allowed;
      }
    }
    EXPECT_EQ(wrong, 0u) << "of " << found.size() << " outputs";
    const double of_scores = 2e-5 + 16 * rounding + coarse / 32;
    EXPECT_TRUE(close(lse.to_host(), problem.lse, {}, Tolerance{of_scores, of_scores, 64}));
    EXPECT_TRUE(output.guards_intact() && lse.guards_intact());
  }

 private:
  static std::vector<double> exact(const std::vector<T>& values) {
    std::vector<double> numbers;
    for (const T& value : values) numbers.push_back(cudaops::testing::exact(value));
    return numbers;
  }
};

template <typename T>
class AttentionFloat8Cpu : public ::testing::Test {};
TYPED_TEST_SUITE(AttentionFloat8Cpu, Types, TypeNames);

TYPED_TEST(AttentionFloat8Cpu, IsRightForAllShapes) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(text_of(shape));
    const Problem problem(shape);
    Arrays<TypeParam, HostBuffer> arrays(problem, 1);
    attention_float8_cpu(arrays.call(), scattered_for);
    arrays.check(0, 0);
  }
}

#if defined(CUDAOPS_KERNELS_WITH_CUDA)

template <typename T>
class AttentionFloat8Gpu : public ::testing::Test {};
TYPED_TEST_SUITE(AttentionFloat8Gpu, Types, TypeNames);

TYPED_TEST(AttentionFloat8Gpu, IsRightForAllShapesAndAlignments) {
  using T = TypeParam;
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const Shape& shape : kShapes) {
    const Problem problem(shape);
    for (const int64_t offset : {0, 1, 4}) {
      if (is_left_out()) continue;
      SCOPED_TRACE(text_of(shape) + " offset " + std::to_string(offset));
      Arrays<T, DeviceBuffer> arrays(problem, offset);
      const AttentionFloat8 call = arrays.call();
      DeviceBuffer<uint8_t> workspace(attention_float8_workspace_bytes(call), 128);
      launch_attention_float8(call, workspace.data(), nullptr);
      // The tensor cores' float8 takes no rounding of q, k and v, but one of weights to three bits.
      const bool has_products = has_attention_for_hopper() && sizeof(T) == 2 && offset == 0 &&
                                shape.head_dim % 16 == 0 && shape.head_dim_v % 16 == 0;
      constexpr double kRounding = kDType<T> == DType::kFloat16    ? 0x1p-11
                                   : kDType<T> == DType::kBFloat16 ? 0x1p-8
                                                                   : 0;
      arrays.check(has_products ? 0 : kRounding, has_products ? 0x1p-4 : 0);
      EXPECT_TRUE(workspace.guards_intact());
    }
  }
}

#endif

}  // namespace
