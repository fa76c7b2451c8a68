// SPDX-License-Identifier: Apache-2.0
// Pointwise ops on the CPU: threads over elements, loops that vectorise, compiled for what x86-64
// CPUs have and chosen at run time.
#pragma once

#include "cpu_rows.h"
#include "pointwise.h"

namespace cudaops_kernels {

// body(row, begin, end) for parts of rows that cover all of them, shared out by elements: one long
// row is worth as many threads as many short ones.
template <typename Body>
void for_row_parts(ParallelFor parallel_for, int64_t num_rows, int64_t width, const Body& body) {
  constexpr int64_t kGrain = 32768;
  run_parallel(parallel_for, 0, num_rows * width, kGrain, [&](int64_t first, int64_t last) {
    int64_t row = first / width, begin = first % width;
    while (first < last) {
      const int64_t end = begin + (last - first) < width ? begin + (last - first) : width;
      body(row, begin, end);
      first += end - begin;
      begin = 0;
      ++row;
    }
  });
}

namespace detail {

// Part of a row by a formula, with column(i) for its column's number.
template <typename T, typename Formula, typename Column>
inline __attribute__((always_inline)) void run_part(const Formula& formula,
                                                    const PointwiseCallOf<Formula>& call,
                                                    int64_t row, int64_t begin, int64_t end,
                                                    const Column& column) {
  const T* inputs[Formula::kNumInputs];
  T* outputs[Formula::kNumOutputs];
  for (int j = 0; j < Formula::kNumInputs; ++j) inputs[j] = call.inputs[j].template row<T>(row);
  for (int j = 0; j < Formula::kNumOutputs; ++j) outputs[j] = call.outputs[j].template row<T>(row);
#pragma GCC ivdep
  for (int64_t i = begin; i < end; ++i) {
    float x[Formula::kNumInputs], y[Formula::kNumOutputs];
    for (int j = 0; j < Formula::kNumInputs; ++j) x[j] = to_float(inputs[j][i]);
    formula(x, column(i), y);
    for (int j = 0; j < Formula::kNumOutputs; ++j) outputs[j][i] = from_float<T>(y[j]);
  }
}

#if defined(__x86_64__)
template <typename T, typename Formula, typename Column>
__attribute__((flatten, target("avx2,fma"))) void run_part_avx2(
    const Formula& formula, const PointwiseCallOf<Formula>& call, int64_t row, int64_t begin,
    int64_t end, const Column& column) {
  run_part<T>(formula, call, row, begin, end, column);
}

template <typename T, typename Formula, typename Column>
__attribute__((flatten,
               target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512"))) void
run_part_avx512(const Formula& formula, const PointwiseCallOf<Formula>& call, int64_t row,
                int64_t begin, int64_t end, const Column& column) {
  run_part<T>(formula, call, row, begin, end, column);
}
#endif

template <typename T, typename Formula, typename Column>
void run_part_by_cpu(const Formula& formula, const PointwiseCallOf<Formula>& call, int64_t row,
                     int64_t begin, int64_t end, const Column& column) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return run_part_avx512<T>(formula, call, row, begin, end, column);
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return run_part_avx2<T>(formula, call, row, begin, end, column);
  }
#endif
  run_part<T>(formula, call, row, begin, end, column);
}

template <typename Formula>
struct RunPointwise {
  template <typename T>
  static void run(const Formula& formula, const PointwiseCallOf<Formula>& call,
                  ParallelFor parallel_for) {
    for_row_parts(
        parallel_for, call.num_rows, call.width, [&](int64_t row, int64_t begin, int64_t end) {
          if (call.columns == nullptr) {
            run_part_by_cpu<T>(formula, call, row, begin, end, [](int64_t) { return 0.0f; });
            return;
          }
          with_columns<T>(call.columns, call.columns_dtype, [&](auto column) {
            run_part_by_cpu<T>(formula, call, row, begin, end, column);
          });
        });
  }
};

}  // namespace detail

template <typename Formula>
void run_pointwise_on_cpu(const Formula& formula, const PointwiseCallOf<Formula>& call, DType dtype,
                          ParallelFor parallel_for) {
  for_host_type<detail::RunPointwise<Formula>>(dtype, formula, with_fewest_rows(call),
                                               parallel_for);
}

}  // namespace cudaops_kernels
