// SPDX-License-Identifier: Apache-2.0
#include "layer_norm/layer_norm.h"
#include "row_benchmark.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace {

using namespace op_benchmark;
using namespace cudaops_kernels;
using cudaops::benchmark::DeviceSets;

constexpr float kEps = 1e-5f;

template <typename T>
void layer_norm(benchmark::State& state) {
  const int64_t rows = state.range(0), width = state.range(1), n = rows * width;
  const size_t array_bytes = static_cast<size_t>(n) * sizeof(T);
  const size_t column_bytes = static_cast<size_t>(width) * sizeof(T);
  cudaops::benchmark::Case c;
  c.bytes = 2.0 * static_cast<double>(array_bytes);
  c.num_sets = cudaops::benchmark::cold_sets(c.bytes);
  const DeviceSets input(c.num_sets, array_bytes, as_pattern(values<T>(0)));
  const DeviceSets output(c.num_sets, array_bytes);
  const DeviceSets weight(1, column_bytes, as_pattern(values<T>(2)));
  const DeviceSets bias(1, column_bytes, as_pattern(values<T>(3)));
  const DeviceSets mean(1, static_cast<size_t>(rows) * sizeof(float));
  const DeviceSets rstd(1, static_cast<size_t>(rows) * sizeof(float));
  c.launch = [&](int set, cudaStream_t stream) {
    LayerNorm call{};
    call.num_rows = rows;
    call.width = width;
    call.dtype = call.weight_dtype = kDType<T>;
    call.input = {input[set], width};
    call.weight = weight[0];
    call.bias = bias[0];
    call.output = {output[set], width};
    call.mean = static_cast<float*>(mean[0]);
    call.rstd = static_cast<float*>(rstd[0]);
    call.eps = kEps;
    launch_layer_norm(call, stream);
  };
  c.verify = [&]() -> std::string {
    const std::vector<double> scale = exact_row<T>(weight, 0, width);
    const std::vector<double> shift = exact_row<T>(bias, 0, width);
    auto tolerance = cudaops::testing::DtypeOf<T>::kTolerance;
    tolerance.atol = 1e-5;
    for (const int64_t row : checked_rows(rows)) {
      const std::vector<double> x = exact_row<T>(input, row, width);
      double sum = 0, squares = 0;
      for (const double value : x) sum += value;
      const double centre = sum / static_cast<double>(width);
      for (const double value : x) squares += (value - centre) * (value - centre);
      const double r = 1 / std::sqrt(squares / static_cast<double>(width) + kEps);
      const auto compared = cudaops::testing::compare(
          output.to_host<T>(row * width, width),
          [&](int64_t at) {
            const size_t i = static_cast<size_t>(at);
            return (x[i] - centre) * r * scale[i] + shift[i];
          },
          {}, tolerance);
      if (!compared.ok) return "row " + std::to_string(row) + ": " + compared.text;
    }
    return "";
  };
  cudaops::benchmark::run(state, c);
}

template <typename T>
void layer_norm_backward(benchmark::State& state) {
  const int64_t rows = state.range(0), width = state.range(1), n = rows * width;
  const size_t array_bytes = static_cast<size_t>(n) * sizeof(T);
  const size_t column_bytes = static_cast<size_t>(width) * sizeof(T);
  cudaops::benchmark::Case c;
  c.bytes = 3.0 * static_cast<double>(array_bytes);
  c.num_sets = cudaops::benchmark::cold_sets(c.bytes);
  const DeviceSets grad(c.num_sets, array_bytes, as_pattern(values<T>(0)));
  const DeviceSets input(c.num_sets, array_bytes, as_pattern(values<T>(1)));
  const DeviceSets grad_input(c.num_sets, array_bytes);
  const DeviceSets weight(1, column_bytes, as_pattern(values<T>(2)));
  const DeviceSets grad_weight(1, column_bytes), grad_bias(1, column_bytes);
  // Any numbers will do: the formula is checked with the same ones.
  const std::vector<float> one{1.0f}, half{0.5f};
  const DeviceSets rstd(1, static_cast<size_t>(rows) * sizeof(float), as_pattern(one));
  const DeviceSets mean(1, static_cast<size_t>(rows) * sizeof(float), as_pattern(half));
  LayerNormBackward call{};
  call.num_rows = rows;
  call.width = width;
  call.dtype = call.weight_dtype = kDType<T>;
  call.weight = weight[0];
  call.mean = static_cast<const float*>(mean[0]);
  call.rstd = static_cast<const float*>(rstd[0]);
  call.grad_weight = grad_weight[0];
  call.grad_bias = grad_bias[0];
  const DeviceSets workspace(1, static_cast<size_t>(layer_norm_backward_workspace_bytes(call)));
  c.launch = [&](int set, cudaStream_t stream) {
    call.grad_output = {grad[set], width};
    call.input = {input[set], width};
    call.grad_input = {grad_input[set], width};
    launch_layer_norm_backward(call, workspace[0], stream);
  };
  c.verify = [&]() -> std::string {
    const std::vector<double> scale = exact_row<T>(weight, 0, width);
    auto tolerance = cudaops::testing::DtypeOf<T>::kTolerance;
    tolerance.atol = 1e-5;
    for (const int64_t row : checked_rows(rows)) {
      const std::vector<double> g = exact_row<T>(grad, row, width);
      std::vector<double> x = exact_row<T>(input, row, width);
      double mean_h = 0, mean_product = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        x[i] -= 0.5;
        mean_h += g[i] * scale[i] / static_cast<double>(width);
        mean_product += g[i] * scale[i] * x[i] / static_cast<double>(width);
      }
      const auto compared = cudaops::testing::compare(
          grad_input.to_host<T>(row * width, width),
          [&](int64_t at) {
            const size_t i = static_cast<size_t>(at);
            return g[i] * scale[i] - mean_h - x[i] * mean_product;
          },
          {}, tolerance);
      if (!compared.ok) return "row " + std::to_string(row) + ": " + compared.text;
    }
    return "";
  };
  cudaops::benchmark::run(state, c);
}

BENCHMARK(layer_norm<BFloat16>)->Apply(row_shapes);
BENCHMARK(layer_norm<float>)->Apply(row_shapes);
BENCHMARK(layer_norm_backward<BFloat16>)->Apply(row_shapes);
BENCHMARK(layer_norm_backward<float>)->Apply(row_shapes);

}  // namespace

#endif

CUDAOPS_BENCHMARK_MAIN()
