// SPDX-License-Identifier: Apache-2.0
// Attention's forward pass for sm_90a by the tiles for short and for long sequences, 16384 tokens
// of bfloat16; attention_tiles.py makes the table of which calls take which.
#include "attention/attention.h"
#include "op_benchmark.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

#include <cstdio>

namespace {

// Without a kernel nothing was measured and nothing compared: ctest looks for this line.
void skip(benchmark::State& state, const char* reason) {
  static const int printed = std::printf("SKIPPED: %s\n", reason);
  static_cast<void>(printed);
  state.SkipWithError(reason);
}

}  // namespace

#if defined(CUDAOPS_ATTENTION_WITH_SM90)

#include <cmath>

#include "attention/attention_sm90.h"

namespace {

using namespace op_benchmark;
using namespace cudaops_kernels;
using cudaops::benchmark::DeviceSets;

constexpr int64_t kTokens = 16384;
constexpr double kCap = 30;

enum class Terms { kNone, kSoftcap, kBias };
constexpr const char* kTermsNames[] = {"none", "softcap", "bias"};
struct Which {
  int64_t head_dim, head_dim_v;
  Terms terms;
  bool causal;
  int64_t seq;
  AttentionSm90Tiles tiles;
};

// Normal numbers as DeviceSets repeats them.
const std::vector<BFloat16>& numbers(uint64_t stream) {
  static const std::vector<BFloat16> all[] = {values<BFloat16>(0), values<BFloat16>(1),
                                              values<BFloat16>(2)};
  return all[stream];
}
double number(uint64_t stream, int64_t index) {
  return cudaops::testing::exact(numbers(stream)[static_cast<size_t>(index % kPeriod)]);
}
const std::vector<float>& biases() {
  static const std::vector<float> all = values<float>(3);
  return all;
}

// The output of a query of the first head, in float64. Heads are [batch, heads, seq, head_dim].
std::vector<double> exact(const Which& which, double scale, int64_t query) {
  const int64_t seen = which.causal ? query + 1 : which.seq;
  std::vector<double> output(static_cast<size_t>(which.head_dim_v));
  double sum = 0;
  for (int64_t key = 0; key < seen; ++key) {
    double score = 0;
    for (int64_t d = 0; d < which.head_dim; ++d) {
      score += number(0, query * which.head_dim + d) * number(1, key * which.head_dim + d);
    }
    score *= scale;
    if (which.terms == Terms::kSoftcap) score = kCap * std::tanh(score / kCap);
    if (which.terms == Terms::kBias) {
      score +=
          static_cast<double>(biases()[static_cast<size_t>((query * which.seq + key) % kPeriod)]);
    }
    const double weight = std::exp(score);
    sum += weight;
    for (int64_t d = 0; d < which.head_dim_v; ++d) {
      output[static_cast<size_t>(d)] += weight * number(2, key * which.head_dim_v + d);
    }
  }
  for (double& value : output) value /= sum;
  return output;
}

void measure(benchmark::State& state, const Which& which) {
  const int64_t heads = 2048 / which.head_dim, batch = kTokens / which.seq;
  const auto bytes = [&](int64_t columns) {
    return static_cast<size_t>(kTokens * heads * columns) * sizeof(BFloat16);
  };
  const size_t bias_bytes =
      which.terms == Terms::kBias ? static_cast<size_t>(which.seq * which.seq) * sizeof(float) : 0;
  cudaops::benchmark::Case c;
  c.num_sets = cudaops::benchmark::cold_sets(
      static_cast<double>(2 * bytes(which.head_dim) + 2 * bytes(which.head_dim_v) + bias_bytes));
  const DeviceSets q(c.num_sets, bytes(which.head_dim), as_pattern(numbers(0)));
  const DeviceSets k(c.num_sets, bytes(which.head_dim), as_pattern(numbers(1)));
  const DeviceSets v(c.num_sets, bytes(which.head_dim_v), as_pattern(numbers(2)));
  const DeviceSets output(c.num_sets, bytes(which.head_dim_v));
  const DeviceSets bias(c.num_sets, bias_bytes, as_pattern(biases()));
  c.flops = static_cast<double>(2 * kTokens * heads * which.seq) *
            static_cast<double>(which.head_dim + which.head_dim_v) / (which.causal ? 2 : 1);
  const double scale = 1 / std::sqrt(static_cast<double>(which.head_dim));
  const auto described = [&](int set) {
    const int64_t rows = heads * which.seq, d = which.head_dim, dv = which.head_dim_v;
    Attention call{};
    call.dtype = DType::kBFloat16;
    call.batch = batch;
    call.seq_q = call.seq_k = which.seq;
    call.heads = call.kv_heads = heads;
    call.head_dim = d;
    call.head_dim_v = dv;
    call.q = {q[set], rows * d, d, which.seq * d};
    call.k = {k[set], rows * d, d, which.seq * d};
    call.v = {v[set], rows * dv, dv, which.seq * dv};
    call.output = {output[set], rows * dv, dv, which.seq * dv};
    call.scale = scale;
    call.window_right = which.causal ? 0 : -1;
    if (which.terms == Terms::kSoftcap) call.softcap = kCap;
    if (which.terms == Terms::kBias) {
      call.bias = bias[set];
      call.bias_dtype = DType::kFloat32;
      call.bias_query_stride = which.seq;
      call.bias_key_stride = 1;
    }
    return call;
  };
  if (!attention_sm90_serves_forward(described(0))) {
    skip(state, "this GPU has no kernel for sm_90a");
    return;
  }
  c.launch = [&](int set, cudaStream_t stream) {
    launch_attention_sm90_by(which.tiles, described(set), stream);
  };
  c.verify = [&]() -> std::string {
    for (const int64_t query : {int64_t{0}, which.seq / 2 + 1, which.seq - 1}) {
      const std::vector<double> wanted = exact(which, scale, query);
      const auto compared = cudaops::testing::compare(
          output.to_host<BFloat16>(query * which.head_dim_v, which.head_dim_v),
          [&](int64_t i) { return wanted[static_cast<size_t>(i)]; }, {}, {1e-2, 2e-3, 1});
      if (!compared.ok) return "query " + std::to_string(query) + ": " + compared.text;
    }
    return "";
  };
  cudaops::benchmark::run(state, c);
}

bool add_all() {
  for (const auto& dims : {std::pair<int64_t, int64_t>{64, 64},
                           {96, 96},
                           {128, 128},
                           {192, 128},
                           {192, 192},
                           {256, 256}}) {
    for (const Terms terms : {Terms::kNone, Terms::kSoftcap, Terms::kBias}) {
      for (const bool causal : {false, true}) {
        for (const int64_t seq : {256, 512, 1024, 2048, 4096, 8192}) {
          for (const auto tiles : {AttentionSm90Tiles::kShort, AttentionSm90Tiles::kLong}) {
            const Which which = {dims.first, dims.second, terms, causal, seq, tiles};
            const std::string name =
                "attention/head_dim:" + std::to_string(dims.first) +
                "/head_dim_v:" + std::to_string(dims.second) +
                "/terms:" + kTermsNames[static_cast<int>(terms)] +
                "/mask:" + (causal ? "causal" : "none") + "/seq:" + std::to_string(seq) +
                "/tiles:" + (tiles == AttentionSm90Tiles::kShort ? "short" : "long");
            ::benchmark::RegisterBenchmark(name.c_str(), [which](::benchmark::State& state) {
              measure(state, which);
            })->Apply(cudaops::benchmark::timed_on_gpu);
          }
        }
      }
    }
  }
  return true;
}

const bool kAdded = add_all();

}  // namespace

#else

const auto* const kNone = benchmark::RegisterBenchmark("attention", [](benchmark::State& state) {
  skip(state, "this build has no kernel for sm_90a");
});

#endif
#endif

CUDAOPS_BENCHMARK_MAIN()
