// SPDX-License-Identifier: Apache-2.0
#include "quantized_benchmark.h"
#include "rms_norm_quantize/rms_norm_quantize.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace {

using namespace op_benchmark;
using namespace cudaops_kernels;

constexpr float kEps = 1e-6f;

// group: 0 for whole rows.
template <typename T, QuantizedType kType, bool kResidual>
void quantize(benchmark::State& state, int64_t group) {
  const int64_t rows = state.range(0), width = state.range(1), n = rows * width;
  const size_t array_bytes = static_cast<size_t>(n) * sizeof(T);
  const BlockGrid grid{1, rows, width, 1, group == 0 ? width : group};
  cudaops::benchmark::Case c;
  c.bytes = (kResidual ? 3.0 : 1.0) * static_cast<double>(array_bytes) + static_cast<double>(n) +
            4.0 * static_cast<double>(grid.num_blocks());
  c.num_sets = cudaops::benchmark::cold_sets(c.bytes);
  const DeviceSets input(c.num_sets, array_bytes, as_pattern(values<T>(0)));
  const size_t residual_bytes = kResidual ? array_bytes : 0;
  const DeviceSets residual(c.num_sets, residual_bytes, as_pattern(values<T>(1)));
  const DeviceSets residual_out(c.num_sets, residual_bytes);
  const DeviceSets weight(1, static_cast<size_t>(width) * sizeof(T), as_pattern(values<T>(2)));
  const DeviceSets output(c.num_sets, static_cast<size_t>(n));
  const DeviceSets scale(1, static_cast<size_t>(grid.num_blocks()) * sizeof(float));
  RmsNormQuantize call{};
  call.norm.num_rows = rows;
  call.norm.width = width;
  call.norm.dtype = call.norm.weight_dtype = kDType<T>;
  call.norm.weight = weight[0];
  call.norm.eps = kEps;
  call.grid = grid;
  call.type = kType;
  call.scale = static_cast<float*>(scale[0]);
  call.strides = dense(grid);
  const DeviceSets workspace(1, static_cast<size_t>(rms_norm_quantize_workspace_bytes(call)));
  c.launch = [&](int set, cudaStream_t stream) {
    call.norm.input = {input[set], width};
    if (kResidual) {
      call.norm.residual = {residual[set], width};
      call.norm.residual_out = {residual_out[set], width};
    }
    call.output = {output[set], width};
    launch_rms_norm_quantize(call, workspace[0], stream);
  };
  c.verify = [&] {
    const std::vector<double> of_columns = exact_row<T>(weight, 0, width);
    std::vector<double> x;
    double rstd = 0;
    const auto begin = [&](int64_t row) {
      x = exact_row<T>(kResidual ? residual_out : input, row, width);
      double squares = 0;
      for (const double value : x) squares += value * value;
      rstd = 1 / std::sqrt(squares / static_cast<double>(width) + kEps);
    };
    return wrong_fused_bytes(output, scale, grid, kType, begin, [&](int64_t, int64_t column) {
      return x[static_cast<size_t>(column)] * rstd * of_columns[static_cast<size_t>(column)];
    });
  };
  cudaops::benchmark::run(state, c);
}

template <typename T>
void rms_norm_quantize_rows_int8(benchmark::State& state) {
  quantize<T, QuantizedType::kInt8, false>(state, 0);
}
template <typename T>
void rms_norm_quantize_groups_float8(benchmark::State& state) {
  quantize<T, QuantizedType::kFloat8, false>(state, 128);
}
template <typename T>
void fused_add_rms_norm_quantize_rows_float8(benchmark::State& state) {
  quantize<T, QuantizedType::kFloat8, true>(state, 0);
}

BENCHMARK(rms_norm_quantize_rows_int8<BFloat16>)->Apply(row_shapes);
BENCHMARK(rms_norm_quantize_groups_float8<BFloat16>)->Apply(row_shapes);
BENCHMARK(fused_add_rms_norm_quantize_rows_float8<BFloat16>)->Apply(row_shapes);
BENCHMARK(rms_norm_quantize_rows_int8<float>)->Apply(row_shapes);

}  // namespace

#endif

CUDAOPS_BENCHMARK_MAIN()
