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

// Part of a row by a formula, with column(i) for its column's number. Out: what outputs are of.
template <typename T, typename Out, typename Formula, typename Column>
inline __attribute__((always_inline)) void run_part(const Formula& formula,
                                                    const PointwiseCallOf<Formula>& call,
                                                    int64_t row, int64_t begin, int64_t end,
                                                    const Column& column) {
  const T* inputs[Formula::kNumInputs];
  Out* outputs[Formula::kNumOutputs];
  for (int j = 0; j < Formula::kNumInputs; ++j) inputs[j] = call.inputs[j].template row<T>(row);
  for (int j = 0; j < Formula::kNumOutputs; ++j)
    outputs[j] = call.outputs[j].template row<Out>(row);
#pragma GCC ivdep
  for (int64_t i = begin; i < end; ++i) {
    float x[Formula::kNumInputs], y[Formula::kNumOutputs];
    for (int j = 0; j < Formula::kNumInputs; ++j) x[j] = to_float(inputs[j][i]);
    formula(x, column(i), y);
    for (int j = 0; j < Formula::kNumOutputs; ++j) outputs[j][i] = from_float<Out>(y[j]);
  }
}

#if defined(__x86_64__)
template <typename T, typename Out, typename Formula, typename Column>
__attribute__((flatten, target("avx2,fma"))) void run_part_avx2(
    const Formula& formula, const PointwiseCallOf<Formula>& call, int64_t row, int64_t begin,
    int64_t end, const Column& column) {
  run_part<T, Out>(formula, call, row, begin, end, column);
}

template <typename T, typename Out, typename Formula, typename Column>
__attribute__((flatten,
               target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512"))) void
run_part_avx512(const Formula& formula, const PointwiseCallOf<Formula>& call, int64_t row,
                int64_t begin, int64_t end, const Column& column) {
  run_part<T, Out>(formula, call, row, begin, end, column);
}
#endif

template <typename T, typename Out, typename Formula, typename Column>
void run_part_by_cpu(const Formula& formula, const PointwiseCallOf<Formula>& call, int64_t row,
                     int64_t begin, int64_t end, const Column& column) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return run_part_avx512<T, Out>(formula, call, row, begin, end, column);
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return run_part_avx2<T, Out>(formula, call, row, begin, end, column);
  }
#endif
  run_part<T, Out>(formula, call, row, begin, end, column);
}

// The same with the call's own columns.
template <typename T, typename Out, typename Formula>
void run_part_with_columns(const Formula& formula, const PointwiseCallOf<Formula>& call,
                           int64_t row, int64_t begin, int64_t end) {
  if constexpr (Formula::kReadsColumn) {
    if (call.columns != nullptr) {
      with_columns<T>(call.columns, call.columns_dtype, [&](auto column) {
        run_part_by_cpu<T, Out>(formula, call, row, begin, end, column);
      });
      return;
    }
  }
  run_part_by_cpu<T, Out>(formula, call, row, begin, end, [](int64_t) { return 0.0f; });
}

template <typename Formula>
struct RunPointwise {
  template <typename T>
  static void run(const Formula& formula, const PointwiseCallOf<Formula>& call,
                  ParallelFor parallel_for) {
    for_row_parts(parallel_for, call.num_rows, call.width,
                  [&](int64_t row, int64_t begin, int64_t end) {
                    run_part_with_columns<T, T>(formula, call, row, begin, end);
                  });
  }
};

// Sums over the rows, in their order, of an output that is not rounded before.
template <typename Formula>
struct SumPointwise {
  static_assert(Formula::kNumOutputs == 1, "sums of one output only");
  template <typename T>
  static void run(const Formula& formula, const PointwiseCallOf<Formula>& call, void* sums,
                  DType sums_dtype, ParallelFor parallel_for) {
    constexpr int64_t kColumns = 256;  // together in the cache, and whole cache lines of a row
    const int64_t num_chunks = (call.width + kColumns - 1) / kColumns;
    const int64_t grain = call.num_rows >= 128 ? 1 : 128 / (call.num_rows + 1) + 1;
    run_parallel(parallel_for, 0, num_chunks, grain, [&](int64_t first, int64_t last) {
      for (int64_t chunk = first; chunk < last; ++chunk) {
        const int64_t begin = chunk * kColumns;
        const int64_t size = begin + kColumns < call.width ? kColumns : call.width - begin;
        float row_of_output[kColumns];
        double totals[kColumns] = {};
        PointwiseCallOf<Formula> part = call;
        for (ConstRows& rows : part.inputs) rows.data = rows.row<T>(0) + begin;
        part.outputs[0] = {row_of_output, 0};
        if (call.columns != nullptr) {
          part.columns =
              static_cast<const char*>(call.columns) + begin * size_of(call.columns_dtype);
        }
        for (int64_t row = 0; row < call.num_rows; ++row) {
          run_part_with_columns<T, float>(formula, part, row, 0, size);
          for (int64_t i = 0; i < size; ++i) totals[i] += row_of_output[i];
        }
        for_host_type<StoreColumns>(sums_dtype, static_cast<const double*>(totals), begin,
                                    begin + size, sums);
      }
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

// sums: `width` elements of sums_dtype; call's output is not written.
template <typename Formula>
void sum_pointwise_on_cpu(const Formula& formula, const PointwiseCallOf<Formula>& call, DType dtype,
                          void* sums, DType sums_dtype, ParallelFor parallel_for) {
  for_host_type<detail::SumPointwise<Formula>>(dtype, formula, call, sums, sums_dtype,
                                               parallel_for);
}

}  // namespace cudaops_kernels
