// SPDX-License-Identifier: Apache-2.0
#include "rms_norm/rms_norm.h"
#include "row_benchmark.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace {

using namespace op_benchmark;
using namespace cudaops_kernels;
using cudaops::benchmark::DeviceSets;

constexpr float kEps = 1e-6f;

double rstd_of(const std::vector<double>& x) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  return 1 / std::sqrt(squares / static_cast<double>(x.size()) + kEps);
}

template <typename T, bool kResidual>
void forward(benchmark::State& state) {
  const int64_t rows = state.range(0), width = state.range(1), n = rows * width;
  const size_t array_bytes = static_cast<size_t>(n) * sizeof(T);
  cudaops::benchmark::Case c;
  c.bytes = (kResidual ? 4.0 : 2.0) * static_cast<double>(array_bytes);
  c.num_sets = cudaops::benchmark::cold_sets(c.bytes);
  const auto pattern = as_pattern(values<T>(0));
  const size_t residual_bytes = kResidual ? array_bytes : 0;
  const DeviceSets input(c.num_sets, array_bytes, pattern), output(c.num_sets, array_bytes);
  const DeviceSets residual(c.num_sets, residual_bytes, as_pattern(values<T>(1)));
  const DeviceSets residual_out(c.num_sets, residual_bytes);
  const DeviceSets weight(1, static_cast<size_t>(width) * sizeof(T), as_pattern(values<T>(2)));
  const DeviceSets rstd(1, static_cast<size_t>(rows) * sizeof(float));
  c.launch = [&](int set, cudaStream_t stream) {
    RmsNorm call{};
    call.num_rows = rows;
    call.width = width;
    call.dtype = call.weight_dtype = kDType<T>;
    call.input = {input[set], width};
    if (kResidual) {
      call.residual = {residual[set], width};
      call.residual_out = {residual_out[set], width};
    }
    call.weight = weight[0];
    call.output = {output[set], width};
    call.rstd = static_cast<float*>(rstd[0]);
    call.eps = kEps;
    launch_rms_norm(call, stream);
  };
  c.verify = [&]() -> std::string {
    const std::vector<double> scale = exact_row<T>(weight, 0, width);
    for (const int64_t row : checked_rows(rows)) {
      const std::vector<double> x = exact_row<T>(kResidual ? residual_out : input, row, width);
      const double r = rstd_of(x);
      const auto compared = cudaops::testing::compare(
          output.to_host<T>(row * width, width),
          [&](int64_t i) { return x[static_cast<size_t>(i)] * r * scale[static_cast<size_t>(i)]; });
      if (!compared.ok) return "row " + std::to_string(row) + ": " + compared.text;
    }
    return "";
  };
  cudaops::benchmark::run(state, c);
}

template <typename T, bool kResidual>
void backward(benchmark::State& state) {
  const int64_t rows = state.range(0), width = state.range(1), n = rows * width;
  const size_t array_bytes = static_cast<size_t>(n) * sizeof(T);
  cudaops::benchmark::Case c;
  c.bytes = (kResidual ? 4.0 : 3.0) * static_cast<double>(array_bytes);
  c.num_sets = cudaops::benchmark::cold_sets(c.bytes);
  const DeviceSets grad(c.num_sets, array_bytes, as_pattern(values<T>(0)));
  const DeviceSets x(c.num_sets, array_bytes, as_pattern(values<T>(1)));
  const DeviceSets grad_residual(c.num_sets, kResidual ? array_bytes : 0, as_pattern(values<T>(3)));
  const DeviceSets grad_x(c.num_sets, array_bytes);
  const DeviceSets weight(1, static_cast<size_t>(width) * sizeof(T), as_pattern(values<T>(2)));
  const DeviceSets grad_weight(1, static_cast<size_t>(width) * sizeof(T));
  const std::vector<float> one{1.0f};
  const DeviceSets rstd(1, static_cast<size_t>(rows) * sizeof(float), as_pattern(one));
  RmsNormBackward call{};
  call.num_rows = rows;
  call.width = width;
  call.dtype = call.weight_dtype = kDType<T>;
  call.weight = weight[0];
  call.rstd = static_cast<const float*>(rstd[0]);
  call.grad_weight = grad_weight[0];
  const DeviceSets workspace(1, static_cast<size_t>(rms_norm_backward_workspace_bytes(call)));
  c.launch = [&](int set, cudaStream_t stream) {
    call.grad_output = {grad[set], width};
    call.x = {x[set], width};
    if (kResidual) call.grad_residual_out = {grad_residual[set], width};
    call.grad_x = {grad_x[set], width};
    launch_rms_norm_backward(call, workspace[0], stream);
  };
  c.verify = [&]() -> std::string {
    const std::vector<double> scale = exact_row<T>(weight, 0, width);
    auto tolerance = cudaops::testing::DtypeOf<T>::kTolerance;
    tolerance.atol = 1e-5;
    for (const int64_t row : checked_rows(rows)) {
      const std::vector<double> g = exact_row<T>(grad, row, width), v = exact_row<T>(x, row, width);
      std::vector<double> more(static_cast<size_t>(width));
      if (kResidual) more = exact_row<T>(grad_residual, row, width);
      double mean = 0;
      for (size_t i = 0; i < v.size(); ++i) mean += g[i] * scale[i] * v[i];
      mean /= static_cast<double>(width);
      const auto compared = cudaops::testing::compare(
          grad_x.to_host<T>(row * width, width),
          [&](int64_t at) {
            const size_t i = static_cast<size_t>(at);
            return g[i] * scale[i] - v[i] * mean + more[i];
          },
          {}, tolerance);
      if (!compared.ok) return "row " + std::to_string(row) + ": " + compared.text;
    }
    return "";
  };
  cudaops::benchmark::run(state, c);
}

template <typename T>
void rms_norm(benchmark::State& state) {
  forward<T, false>(state);
}
template <typename T>
void fused_add_rms_norm(benchmark::State& state) {
  forward<T, true>(state);
}
template <typename T>
void rms_norm_backward(benchmark::State& state) {
  backward<T, false>(state);
}
template <typename T>
void fused_add_rms_norm_backward(benchmark::State& state) {
  backward<T, true>(state);
}

BENCHMARK(rms_norm<BFloat16>)->Apply(row_shapes);
BENCHMARK(rms_norm<float>)->Apply(row_shapes);
BENCHMARK(fused_add_rms_norm<BFloat16>)->Apply(row_shapes);
BENCHMARK(rms_norm_backward<BFloat16>)->Apply(row_shapes);
BENCHMARK(fused_add_rms_norm_backward<BFloat16>)->Apply(row_shapes);
BENCHMARK(rms_norm_backward<float>)->Apply(row_shapes);

}  // namespace

#endif

CUDAOPS_BENCHMARK_MAIN()
