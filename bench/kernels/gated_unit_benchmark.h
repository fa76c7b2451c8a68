// SPDX-License-Identifier: Apache-2.0
// What the benchmarks of swiglu and geglu share.
#pragma once

#include "common/gated_unit.h"
#include "pointwise_benchmark.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace op_benchmark {

using cudaops_kernels::GatedUnit;
using cudaops_kernels::GatedUnitBackward;

// In double.
struct Activation {
  double (*value)(double);
  double (*slope)(double);
};

// gate and up: arrays of their own, or the halves of each row of one.
enum class Halves { kNo, kYes };

// launch(GatedUnit, stream)
template <typename T, Halves kHalves, typename Launch>
void time_forward(benchmark::State& state, const Activation& activation, const Launch& launch) {
  const int64_t rows = state.range(0), width = state.range(1);
  const int64_t stride = kHalves == Halves::kYes ? 2 * width : width;
  const size_t array_bytes = static_cast<size_t>(rows * width) * sizeof(T);
  cudaops::benchmark::Case c;
  c.bytes = 3.0 * static_cast<double>(array_bytes);
  c.num_sets = cudaops::benchmark::cold_sets(c.bytes);
  const std::vector<T> of_gate = values<T>(0);
  const std::vector<T> of_up = kHalves == Halves::kYes ? of_gate : values<T>(1);
  const DeviceSets gate(c.num_sets, static_cast<size_t>(rows * stride) * sizeof(T),
                        as_pattern(of_gate));
  const DeviceSets up(c.num_sets, kHalves == Halves::kYes ? 0 : array_bytes, as_pattern(of_up));
  const DeviceSets output(c.num_sets, array_bytes);
  c.launch = [&](int set, cudaStream_t stream) {
    const void* const up_data =
        kHalves == Halves::kYes ? static_cast<const T*>(gate[set]) + width : up[set];
    launch(
        GatedUnit{
            rows, width, kDType<T>, {gate[set], stride}, {up_data, stride}, {output[set], width}},
        stream);
  };
  c.verify = [&] {
    return wrong_rows<T>(output, rows, width, [&](int64_t row, int64_t column) {
      const int64_t i = row * stride + column;
      return activation.value(element(of_gate, i)) * element(of_up, i + stride - width);
    });
  };
  cudaops::benchmark::run(state, c);
}

// launch(GatedUnitBackward, stream)
template <typename T, typename Launch>
void time_backward(benchmark::State& state, const Activation& activation, const Launch& launch) {
  const int64_t rows = state.range(0), width = state.range(1);
  const size_t array_bytes = static_cast<size_t>(rows * width) * sizeof(T);
  cudaops::benchmark::Case c;
  c.bytes = 5.0 * static_cast<double>(array_bytes);
  c.num_sets = cudaops::benchmark::cold_sets(c.bytes);
  const std::vector<T> of_grad = values<T>(0), of_gate = values<T>(1), of_up = values<T>(2);
  const DeviceSets grad(c.num_sets, array_bytes, as_pattern(of_grad));
  const DeviceSets gate(c.num_sets, array_bytes, as_pattern(of_gate));
  const DeviceSets up(c.num_sets, array_bytes, as_pattern(of_up));
  const DeviceSets grad_gate(c.num_sets, array_bytes), grad_up(c.num_sets, array_bytes);
  c.launch = [&](int set, cudaStream_t stream) {
    launch(GatedUnitBackward{rows,
                             width,
                             kDType<T>,
                             {grad[set], width},
                             {gate[set], width},
                             {up[set], width},
                             {grad_gate[set], width},
                             {grad_up[set], width}},
           stream);
  };
  c.verify = [&] {
    const std::string wrong =
        wrong_rows<T>(grad_gate, rows, width, [&](int64_t row, int64_t column) {
          const int64_t i = row * width + column;
          return element(of_grad, i) * element(of_up, i) * activation.slope(element(of_gate, i));
        });
    if (!wrong.empty()) return "grad_gate, " + wrong;
    return wrong_rows<T>(grad_up, rows, width, [&](int64_t row, int64_t column) {
      const int64_t i = row * width + column;
      return element(of_grad, i) * activation.value(element(of_gate, i));
    });
  };
  cudaops::benchmark::run(state, c);
}

}  // namespace op_benchmark

#endif  // CUDAOPS_BENCH_WITH_CUDA
