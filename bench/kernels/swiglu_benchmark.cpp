// SPDX-License-Identifier: Apache-2.0
#include "gated_unit_benchmark.h"
#include "swiglu/swiglu.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace {

using namespace op_benchmark;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

const Activation kSilu{
    [](double x) { return x * logistic(x); },
    [](double x) { return logistic(x) * (1 + x * (1 - logistic(x))); },
};

template <typename T, Halves kHalves = Halves::kNo>
void swiglu(benchmark::State& state) {
  time_forward<T, kHalves>(state, kSilu, [](const GatedUnit& call, cudaStream_t stream) {
    cudaops_kernels::launch_swiglu(call, stream);
  });
}

template <typename T>
void swiglu_of_halves(benchmark::State& state) {
  swiglu<T, Halves::kYes>(state);
}

template <typename T>
void swiglu_backward(benchmark::State& state) {
  time_backward<T>(state, kSilu, [](const GatedUnitBackward& call, cudaStream_t stream) {
    cudaops_kernels::launch_swiglu_backward(call, stream);
  });
}

BENCHMARK(swiglu<BFloat16>)->Apply(row_shapes);
BENCHMARK(swiglu<Float16>)->Apply(row_shapes);
BENCHMARK(swiglu<float>)->Apply(row_shapes);
BENCHMARK(swiglu_of_halves<BFloat16>)->Apply(row_shapes);
BENCHMARK(swiglu_backward<BFloat16>)->Apply(row_shapes);
BENCHMARK(swiglu_backward<float>)->Apply(row_shapes);

}  // namespace

#endif

CUDAOPS_BENCHMARK_MAIN()
