// SPDX-License-Identifier: Apache-2.0
#include "row_benchmark.h"
#include "softmax/softmax.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace {

using namespace op_benchmark;
using namespace cudaops_kernels;
using cudaops::benchmark::DeviceSets;

constexpr float kScale = 0.5f;

// What a causal row doesn't see is not read: bytes are those that are.
double moved_bytes(int64_t rows, int64_t width, bool causal, size_t array_bytes, int num_reads) {
  double share = 1;
  if (causal) share = 1 - static_cast<double>(rows - 1) / 2 / static_cast<double>(width);
  return (num_reads * share + 1) * static_cast<double>(array_bytes);
}

template <typename T, bool kCausal>
void forward(benchmark::State& state) {
  const int64_t rows = state.range(0), width = state.range(1), n = rows * width;
  const size_t array_bytes = static_cast<size_t>(n) * sizeof(T);
  cudaops::benchmark::Case c;
  c.bytes = moved_bytes(rows, width, kCausal, array_bytes, 1);
  c.num_sets = cudaops::benchmark::cold_sets(c.bytes);
  const DeviceSets input(c.num_sets, array_bytes, as_pattern(values<T>(0)));
  const DeviceSets output(c.num_sets, array_bytes);
  c.launch = [&](int set, cudaStream_t stream) {
    Softmax call{};
    call.num_rows = rows;
    call.width = width;
    call.dtype = kDType<T>;
    call.input = {input[set], width};
    call.output = {output[set], width};
    call.scale = kScale;
    call.num_queries = kCausal ? rows : 0;
    launch_softmax(call, stream);
  };
  c.verify = [&]() -> std::string {
    for (const int64_t row : checked_rows(rows)) {
      std::vector<double> wanted = exact_row<T>(input, row, width);
      double sum = 0;
      for (int64_t i = 0; i < width; ++i) {
        double& value = wanted[static_cast<size_t>(i)];
        value = kCausal && i > row + width - rows ? 0 : std::exp(kScale * value);
        sum += value;
      }
      const auto compared = cudaops::testing::compare(
          output.to_host<T>(row * width, width),
          [&](int64_t i) { return wanted[static_cast<size_t>(i)] / sum; });
      if (!compared.ok) return "row " + std::to_string(row) + ": " + compared.text;
    }
    return "";
  };
  cudaops::benchmark::run(state, c);
}

template <typename T>
void softmax(benchmark::State& state) {
  forward<T, false>(state);
}
template <typename T>
void softmax_causal(benchmark::State& state) {
  forward<T, true>(state);
}

// `output` is no softmax: the formula does not care.
template <typename T>
void softmax_backward(benchmark::State& state) {
  const int64_t rows = state.range(0), width = state.range(1), n = rows * width;
  const size_t array_bytes = static_cast<size_t>(n) * sizeof(T);
  cudaops::benchmark::Case c;
  c.bytes = moved_bytes(rows, width, false, array_bytes, 2);
  c.num_sets = cudaops::benchmark::cold_sets(c.bytes);
  const DeviceSets grad(c.num_sets, array_bytes, as_pattern(values<T>(0)));
  const DeviceSets output(c.num_sets, array_bytes, as_pattern(values<T>(1)));
  const DeviceSets grad_input(c.num_sets, array_bytes);
  c.launch = [&](int set, cudaStream_t stream) {
    SoftmaxBackward call{};
    call.num_rows = rows;
    call.width = width;
    call.dtype = kDType<T>;
    call.grad_output = {grad[set], width};
    call.output = {output[set], width};
    call.grad_input = {grad_input[set], width};
    call.scale = kScale;
    launch_softmax_backward(call, stream);
  };
  c.verify = [&]() -> std::string {
    auto tolerance = cudaops::testing::DtypeOf<T>::kTolerance;
    tolerance.atol = 1e-6 * std::sqrt(static_cast<double>(width));  // of the sum of `width` terms
    for (const int64_t row : checked_rows(rows)) {
      const std::vector<double> g = exact_row<T>(grad, row, width);
      const std::vector<double> y = exact_row<T>(output, row, width);
      double sum = 0;
      for (size_t i = 0; i < g.size(); ++i) sum += g[i] * y[i];
      const auto compared = cudaops::testing::compare(
          grad_input.to_host<T>(row * width, width),
          [&](int64_t at) {
            const size_t i = static_cast<size_t>(at);
            return kScale * y[i] * (g[i] - sum);
          },
          {}, tolerance);
      if (!compared.ok) return "row " + std::to_string(row) + ": " + compared.text;
    }
    return "";
  };
  cudaops::benchmark::run(state, c);
}

void shapes(cudaops::benchmark::Registered registered) {
  row_shapes(registered);
  for (const auto& shape :
       {std::pair<int64_t, int64_t>{8192, 1024}, {4096, 16384}, {4096, 131072}}) {
    registered->Args({shape.first, shape.second});
  }
}
void square_shapes(cudaops::benchmark::Registered registered) {
  cudaops::benchmark::timed_on_gpu(registered);
  registered->ArgNames({"rows", "width"});
  for (const int64_t width : {2048, 8192, 16384}) registered->Args({width, width});
}

BENCHMARK(softmax<BFloat16>)->Apply(shapes);
BENCHMARK(softmax<float>)->Apply(shapes);
BENCHMARK(softmax_causal<BFloat16>)->Apply(square_shapes);
BENCHMARK(softmax_backward<BFloat16>)->Apply(shapes);
BENCHMARK(softmax_backward<float>)->Apply(shapes);

}  // namespace

#endif

CUDAOPS_BENCHMARK_MAIN()
