// SPDX-License-Identifier: Apache-2.0
#include "pointwise_benchmark.h"
#include "rope/rope.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace {

using namespace op_benchmark;
using namespace cudaops_kernels;

constexpr int64_t kMostPositions = 4096;

// What decoding and training of language models have, grouped queries and not; partial rotary; the
// awkward head sizes.
void shapes(cudaops::benchmark::Registered registered) {
  cudaops::benchmark::timed_on_gpu(registered);
  registered->ArgNames({"batch", "seq", "q", "k", "dim", "rotary"});
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{4, 4096, 32, 8, 128, 128},
                                         {4, 4096, 32, 32, 128, 128},
                                         {16, 4096, 32, 8, 128, 128},
                                         {1, 64, 32, 8, 128, 128},
                                         {64, 1, 32, 8, 128, 128},
                                         {8, 4096, 32, 8, 64, 64},
                                         {8, 4096, 32, 8, 80, 32},
                                         {8, 4096, 32, 8, 80, 80},
                                         {8, 4096, 32, 8, 96, 96},
                                         {8, 4096, 32, 8, 72, 72},
                                         {8, 4096, 32, 8, 66, 66}}) {
    registered->Args(shape);
  }
}

// What a benchmark varies: pairs, positions given or not, direction, q and k in one array (as one
// matrix product gives them, with values behind the keys) or in two.
struct Variant {
  bool interleaved = false;
  bool positions = false;
  bool backward = false;
  bool fused = false;
  bool in_place = false;
};

template <typename T, typename Table>
void time_rope(benchmark::State& state, const Variant& variant) {
  Rope call{};
  call.num_batches = state.range(0);
  call.seq_length = state.range(1);
  call.q.num_heads = state.range(2);
  call.k.num_heads = state.range(3);
  call.head_dim = state.range(4);
  call.rotary_dim = state.range(5);
  call.num_positions = kMostPositions;
  call.dtype = kDType<T>;
  call.table_dtype = kDType<Table>;
  call.position_type = PositionType::kInt64;
  call.interleaved = variant.interleaved;
  call.backward = variant.backward;
  const int64_t tokens = call.num_batches * call.seq_length, pairs = call.rotary_dim / 2;
  const int64_t q_width = call.q.num_heads * call.head_dim;
  const int64_t k_width = call.k.num_heads * call.head_dim;
  const int64_t fused_width = q_width + 2 * k_width;
  const auto strides = [&](int64_t width) {
    return RopeStrides{call.seq_length * width, width, call.head_dim};
  };
  const int64_t q_stride = variant.fused ? fused_width : q_width;
  const int64_t k_stride = variant.fused ? fused_width : k_width;
  call.q.input_strides = strides(q_stride);
  call.k.input_strides = strides(k_stride);
  call.q.output_strides = variant.in_place ? call.q.input_strides : strides(q_width);
  call.k.output_strides = variant.in_place ? call.k.input_strides : strides(k_width);

  const int64_t moved = variant.in_place ? call.rotary_dim : call.head_dim;
  cudaops::benchmark::Case c;
  c.bytes =
      2.0 * sizeof(T) * static_cast<double>(tokens * (call.q.num_heads + call.k.num_heads) * moved);
  c.num_sets = cudaops::benchmark::cold_sets(c.bytes);
  const auto bytes = [](int64_t elements, size_t size) {
    return static_cast<size_t>(elements) * size;
  };
  const std::vector<T> of_q = values<T>(0), of_k = variant.fused ? of_q : values<T>(1);
  const DeviceSets q(c.num_sets, bytes(tokens * q_stride, sizeof(T)), as_pattern(of_q));
  const DeviceSets k(c.num_sets, variant.fused ? 0 : bytes(tokens * k_width, sizeof(T)),
                     as_pattern(of_k));
  const DeviceSets q_out(c.num_sets, variant.in_place ? 0 : bytes(tokens * q_width, sizeof(T)));
  const DeviceSets k_out(c.num_sets, variant.in_place ? 0 : bytes(tokens * k_width, sizeof(T)));
  // Angles as models have them.
  std::vector<Table> of_cos, of_sin;
  for (int64_t position = 0; position < kMostPositions; ++position) {
    for (int64_t pair = 0; pair < pairs; ++pair) {
      const double angle =
          static_cast<double>(position) *
          std::pow(10000.0, -static_cast<double>(pair) / static_cast<double>(pairs));
      of_cos.push_back(cudaops::testing::rounded<Table>(std::cos(angle)));
      of_sin.push_back(cudaops::testing::rounded<Table>(std::sin(angle)));
    }
  }
  const size_t table_bytes = of_cos.size() * sizeof(Table);
  const DeviceSets cos(1, table_bytes, as_pattern(of_cos)), sin(1, table_bytes, as_pattern(of_sin));
  call.cos = cos[0];
  call.sin = sin[0];
  std::vector<int64_t> of_positions;
  for (int64_t i = 0; i < tokens; ++i)
    of_positions.push_back((i % call.seq_length + 5 * (i / call.seq_length)) % kMostPositions);
  const size_t positions_bytes = of_positions.size() * sizeof(int64_t);
  const DeviceSets positions(1, positions_bytes, as_pattern(of_positions));
  if (variant.positions) call.positions = positions[0];

  c.launch = [&](int set, cudaStream_t stream) {
    call.q.input = q[set];
    call.k.input = variant.fused ? static_cast<const T*>(q[set]) + q_width : k[set];
    call.q.output = variant.in_place ? q[set] : q_out[set];
    call.k.output = variant.in_place ? const_cast<void*>(call.k.input) : k_out[set];
    launch_rope(call, stream);
  };
  c.verify = [&]() -> std::string {
    const auto wrong = [&](const DeviceSets& out, int64_t out_stride, int64_t out_first,
                           int64_t width, const std::vector<T>& input, int64_t in_stride,
                           int64_t in_first) {
      auto tolerance = cudaops::testing::DtypeOf<T>::kTolerance;
      tolerance.atol = 1e-5;
      for (const int64_t row : checked_rows(tokens)) {
        const int64_t position =
            variant.positions ? of_positions[static_cast<size_t>(row)] : row % call.seq_length;
        const auto compared = cudaops::testing::compare(
            out.to_host<T>(row * out_stride + out_first, width),
            [&](int64_t i) {
              const int64_t place = i % call.head_dim;
              const auto x = [&](int64_t at) {
                return element(input, row * in_stride + in_first + i - place + at);
              };
              if (place >= call.rotary_dim) return x(place);
              const int64_t pair = variant.interleaved ? place / 2 : place % pairs;
              const bool second = variant.interleaved ? place % 2 == 1 : place >= pairs;
              const size_t at = static_cast<size_t>(position * pairs + pair);
              const double cosine = cudaops::testing::exact(of_cos[at]);
              const double sine = (call.backward ? -1 : 1) * cudaops::testing::exact(of_sin[at]);
              const double a = x(variant.interleaved ? 2 * pair : pair);
              const double b = x(variant.interleaved ? 2 * pair + 1 : pair + pairs);
              return second ? b * cosine + a * sine : a * cosine - b * sine;
            },
            {}, tolerance);
        if (!compared.ok) return "token " + std::to_string(row) + ": " + compared.text;
      }
      return std::string();
    };
    // In place one launch has rotated set 0 once when this runs.
    const DeviceSets& q_written = variant.in_place ? q : q_out;
    const DeviceSets& k_written = variant.in_place ? (variant.fused ? q : k) : k_out;
    const int64_t k_first = variant.fused ? q_width : 0;
    const std::string wrong_q =
        wrong(q_written, variant.in_place ? q_stride : q_width, 0, q_width, of_q, q_stride, 0);
    if (!wrong_q.empty()) return "q, " + wrong_q;
    const std::string wrong_k =
        wrong(k_written, variant.in_place ? k_stride : k_width, variant.in_place ? k_first : 0,
              k_width, of_k, k_stride, k_first);
    return wrong_k.empty() ? "" : "k, " + wrong_k;
  };
  cudaops::benchmark::run(state, c);
}

template <typename T, typename Table>
void rope(benchmark::State& state) {
  time_rope<T, Table>(state, {});
}
template <typename T, typename Table>
void rope_interleaved(benchmark::State& state) {
  Variant variant;
  variant.interleaved = true;
  time_rope<T, Table>(state, variant);
}
template <typename T, typename Table>
void rope_with_positions(benchmark::State& state) {
  Variant variant;
  variant.positions = true;
  time_rope<T, Table>(state, variant);
}
template <typename T, typename Table>
void rope_backward(benchmark::State& state) {
  Variant variant;
  variant.backward = true;
  time_rope<T, Table>(state, variant);
}
template <typename T, typename Table>
void rope_in_place_of_fused(benchmark::State& state) {
  Variant variant;
  variant.fused = variant.in_place = variant.positions = true;
  time_rope<T, Table>(state, variant);
}

BENCHMARK(rope<BFloat16, float>)->Apply(shapes);
BENCHMARK(rope<BFloat16, BFloat16>)->Apply(shapes);
BENCHMARK(rope<float, float>)->Apply(shapes);
BENCHMARK(rope_interleaved<BFloat16, float>)->Apply(shapes);
BENCHMARK(rope_with_positions<BFloat16, float>)->Apply(shapes);
BENCHMARK(rope_backward<BFloat16, float>)->Apply(shapes);
BENCHMARK(rope_in_place_of_fused<BFloat16, BFloat16>)->Apply(shapes);

}  // namespace

#endif

CUDAOPS_BENCHMARK_MAIN()
