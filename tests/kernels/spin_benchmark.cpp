// SPDX-License-Identifier: Apache-2.0
// The smallest benchmark: its time must be the one the kernel was asked for.
#include <cudaops/benchmark.h>

#include "spin.h"

#if defined(CUDAOPS_TESTS_WITH_CUDA)

namespace {

void spin(benchmark::State& state) {
  cudaops::benchmark::Case spin_case;
  spin_case.launch = [&](int, cudaStream_t stream) {
    cudaops_tests::launch_spin(state.range(0) * 1000, stream);
  };
  spin_case.verify = [] { return std::string(); };
  cudaops::benchmark::run(state, spin_case);
}

BENCHMARK(spin)->Apply(cudaops::benchmark::timed_on_gpu)->ArgName("us")->Arg(20)->Arg(1000);

}  // namespace

#endif

CUDAOPS_BENCHMARK_MAIN()
