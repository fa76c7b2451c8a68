// SPDX-License-Identifier: Apache-2.0
#include "../../tests/kernels/gelu_reference.h"
#include "bias_gelu/bias_gelu.h"
#include "pointwise_benchmark.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace {

using namespace op_benchmark;
using namespace op_test;
using namespace cudaops_kernels;

double value(GeluKind kind, double x) {
  return kind == GeluKind::kErf ? gelu_erf(x) : gelu_tanh(x);
}
double slope(GeluKind kind, double x) {
  return kind == GeluKind::kErf ? gelu_erf_slope(x) : gelu_tanh_slope(x);
}

template <typename T, GeluKind kKind>
void forward(benchmark::State& state) {
  const int64_t rows = state.range(0), width = state.range(1);
  const size_t array_bytes = static_cast<size_t>(rows * width) * sizeof(T);
  cudaops::benchmark::Case c;
  c.bytes = 2.0 * static_cast<double>(array_bytes);
  c.num_sets = cudaops::benchmark::cold_sets(c.bytes);
  const std::vector<T> of_input = values<T>(0), of_bias = values<T>(1);
  const DeviceSets input(c.num_sets, array_bytes, as_pattern(of_input));
  const DeviceSets bias(1, static_cast<size_t>(width) * sizeof(T), as_pattern(of_bias));
  const DeviceSets output(c.num_sets, array_bytes);
  c.launch = [&](int set, cudaStream_t stream) {
    launch_bias_gelu(BiasGelu{rows,
                              width,
                              kDType<T>,
                              kDType<T>,
                              kKind,
                              {input[set], width},
                              bias[0],
                              {output[set], width}},
                     stream);
  };
  c.verify = [&] {
    return wrong_rows<T>(output, rows, width, [&](int64_t row, int64_t column) {
      return value(kKind, element(of_input, row * width + column) + element(of_bias, column));
    });
  };
  cudaops::benchmark::run(state, c);
}

template <typename T, GeluKind kKind>
void backward(benchmark::State& state) {
  const int64_t rows = state.range(0), width = state.range(1);
  const size_t array_bytes = static_cast<size_t>(rows * width) * sizeof(T);
  const size_t row_bytes = static_cast<size_t>(width) * sizeof(T);
  cudaops::benchmark::Case c;
  c.bytes = 3.0 * static_cast<double>(array_bytes);
  c.num_sets = cudaops::benchmark::cold_sets(c.bytes);
  const std::vector<T> of_grad = values<T>(0), of_input = values<T>(1), of_bias = values<T>(2);
  const DeviceSets grad(c.num_sets, array_bytes, as_pattern(of_grad));
  const DeviceSets input(c.num_sets, array_bytes, as_pattern(of_input));
  const DeviceSets bias(1, row_bytes, as_pattern(of_bias));
  const DeviceSets grad_input(c.num_sets, array_bytes), grad_bias(1, row_bytes);
  BiasGeluBackward call{};
  call.num_rows = rows;
  call.width = width;
  call.dtype = call.bias_dtype = kDType<T>;
  call.kind = kKind;
  call.bias = bias[0];
  call.grad_bias = grad_bias[0];
  const DeviceSets workspace(1, static_cast<size_t>(bias_gelu_backward_workspace_bytes(call)));
  c.launch = [&](int set, cudaStream_t stream) {
    call.grad_output = {grad[set], width};
    call.input = {input[set], width};
    call.grad_input = {grad_input[set], width};
    launch_bias_gelu_backward(call, workspace[0], stream);
  };
  c.verify = [&]() -> std::string {
    const auto gradient = [&](int64_t row, int64_t column) {
      const int64_t i = row * width + column;
      return element(of_grad, i) * slope(kKind, element(of_input, i) + element(of_bias, column));
    };
    const std::string wrong = wrong_rows<T>(grad_input, rows, width, gradient);
    if (!wrong.empty()) return "grad_input, " + wrong;
    auto tolerance = cudaops::testing::DtypeOf<T>::kTolerance;
    tolerance.atol = 1e-5 * std::sqrt(static_cast<double>(rows));
    for (const int64_t column : {int64_t{0}, width / 2, width - 1}) {
      double sum = 0;
      for (int64_t row = 0; row < rows; ++row) sum += gradient(row, column);
      const auto compared = cudaops::testing::compare(
          grad_bias.to_host<T>(column, 1), [&](int64_t) { return sum; }, {}, tolerance);
      if (!compared.ok) return "grad_bias, " + std::to_string(column) + ": " + compared.text;
    }
    return "";
  };
  cudaops::benchmark::run(state, c);
}

template <typename T>
void bias_gelu_erf(benchmark::State& state) {
  forward<T, GeluKind::kErf>(state);
}
template <typename T>
void bias_gelu_tanh(benchmark::State& state) {
  forward<T, GeluKind::kTanh>(state);
}
template <typename T>
void bias_gelu_erf_backward(benchmark::State& state) {
  backward<T, GeluKind::kErf>(state);
}
template <typename T>
void bias_gelu_tanh_backward(benchmark::State& state) {
  backward<T, GeluKind::kTanh>(state);
}

BENCHMARK(bias_gelu_erf<BFloat16>)->Apply(row_shapes);
BENCHMARK(bias_gelu_tanh<BFloat16>)->Apply(row_shapes);
BENCHMARK(bias_gelu_erf<float>)->Apply(row_shapes);
BENCHMARK(bias_gelu_erf_backward<BFloat16>)->Apply(row_shapes);
BENCHMARK(bias_gelu_tanh_backward<BFloat16>)->Apply(row_shapes);
BENCHMARK(bias_gelu_erf_backward<float>)->Apply(row_shapes);

}  // namespace

#endif

CUDAOPS_BENCHMARK_MAIN()
