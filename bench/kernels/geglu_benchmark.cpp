// SPDX-License-Identifier: Apache-2.0
#include "../../tests/kernels/gelu_reference.h"
#include "gated_unit_benchmark.h"
#include "geglu/geglu.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace {

using namespace op_benchmark;
using namespace op_test;
using cudaops_kernels::GeluKind;

template <GeluKind kKind>
const Activation kGelu = kKind == GeluKind::kErf ? Activation{gelu_erf, gelu_erf_slope}
                                                 : Activation{gelu_tanh, gelu_tanh_slope};

template <typename T, GeluKind kKind>
void forward(benchmark::State& state) {
  time_forward<T, Halves::kNo>(state, kGelu<kKind>, [](const GatedUnit& call, cudaStream_t stream) {
    cudaops_kernels::launch_geglu(call, kKind, stream);
  });
}

template <typename T, GeluKind kKind>
void backward(benchmark::State& state) {
  time_backward<T>(state, kGelu<kKind>, [](const GatedUnitBackward& call, cudaStream_t stream) {
    cudaops_kernels::launch_geglu_backward(call, kKind, stream);
  });
}

template <typename T>
void geglu_erf(benchmark::State& state) {
  forward<T, GeluKind::kErf>(state);
}
template <typename T>
void geglu_tanh(benchmark::State& state) {
  forward<T, GeluKind::kTanh>(state);
}
template <typename T>
void geglu_erf_backward(benchmark::State& state) {
  backward<T, GeluKind::kErf>(state);
}
template <typename T>
void geglu_tanh_backward(benchmark::State& state) {
  backward<T, GeluKind::kTanh>(state);
}

BENCHMARK(geglu_erf<BFloat16>)->Apply(row_shapes);
BENCHMARK(geglu_tanh<BFloat16>)->Apply(row_shapes);
BENCHMARK(geglu_erf_backward<BFloat16>)->Apply(row_shapes);
BENCHMARK(geglu_tanh_backward<BFloat16>)->Apply(row_shapes);

}  // namespace

#endif

CUDAOPS_BENCHMARK_MAIN()
