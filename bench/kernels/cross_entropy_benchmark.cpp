// SPDX-License-Identifier: Apache-2.0
#include "cross_entropy/cross_entropy.h"
#include "row_benchmark.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace {

using namespace op_benchmark;
using namespace cudaops_kernels;
using cudaops::benchmark::DeviceSets;

// Rows × classes: the vocabularies of language models, one that lets no row but the first start at
// 16 bytes, and a small case.
void shapes(cudaops::benchmark::Registered registered) {
  cudaops::benchmark::timed_on_gpu(registered);
  registered->ArgNames({"rows", "width"});
  for (const auto& shape : {std::pair<int64_t, int64_t>{64, 4096},
                            {8192, 32000},
                            {8192, 50257},
                            {4096, 128256},
                            {1024, 128256},
                            {4096, 152064},
                            {1024, 262144},
                            {65536, 1000}}) {
    registered->Args({shape.first, shape.second});
  }
}

enum class Pass { kLoss, kBoth, kBackward };

// Each set's logits stay as they are, so that every launch does the same: the gradient of kBoth
// goes to memory of its own, which moves as many bytes.
template <typename T, Pass kPass>
void measure(benchmark::State& state) {
  const int64_t rows = state.range(0), width = state.range(1), n = rows * width;
  const size_t array_bytes = static_cast<size_t>(n) * sizeof(T);
  cudaops::benchmark::Case c;
  c.bytes = (kPass == Pass::kLoss ? 1.0 : 2.0) * static_cast<double>(array_bytes);
  c.num_sets = cudaops::benchmark::cold_sets(c.bytes);
  const DeviceSets logits(c.num_sets, array_bytes, as_pattern(values<T>(0)));
  const DeviceSets grad(c.num_sets, kPass == Pass::kLoss ? 0 : array_bytes);
  const std::vector<int64_t> targets{7, 11, 2, 901};
  const DeviceSets target(1, static_cast<size_t>(rows) * sizeof(int64_t), as_pattern(targets));
  const DeviceSets row_loss(1, static_cast<size_t>(rows) * sizeof(float));
  const DeviceSets lse(1, static_cast<size_t>(rows) * sizeof(float));
  const DeviceSets loss(1, sizeof(float));
  const DeviceSets workspace(1, static_cast<size_t>(cross_entropy_workspace_bytes()));
  CrossEntropyProblem problem{};
  problem.num_rows = rows;
  problem.num_classes = width;
  problem.dtype = kDType<T>;
  problem.target = target[0];
  problem.ignore_index = -100;
  problem.reduction = Reduction::kMean;
  const auto forward = [&](int set, Rows grad_logits, cudaStream_t stream) {
    CrossEntropy call{};
    call.problem = problem;
    call.problem.logits = {logits[set], width};
    call.row_loss = static_cast<float*>(row_loss[0]);
    call.lse = static_cast<float*>(lse[0]);
    call.loss = static_cast<float*>(loss[0]);
    call.grad_logits = grad_logits;
    launch_cross_entropy(call, workspace[0], stream);
  };
  // For backward its lse, once: all sets hold the same.
  forward(0, {nullptr, 0}, nullptr);
  const DeviceSets one(1, sizeof(float), as_pattern(std::vector<float>{1.0f}));
  c.launch = [&](int set, cudaStream_t stream) {
    if (kPass == Pass::kLoss) return forward(set, {nullptr, 0}, stream);
    if (kPass == Pass::kBoth) return forward(set, {grad[set], width}, stream);
    CrossEntropyBackward backward{};
    backward.problem = problem;
    backward.problem.logits = {logits[set], width};
    backward.grad_loss = static_cast<const float*>(one[0]);
    backward.lse = static_cast<const float*>(lse[0]);
    backward.grad_logits = {grad[set], width};
    launch_cross_entropy_backward(backward, workspace[0], stream);
  };
  c.verify = [&]() -> std::string {
    auto tolerance = cudaops::testing::DtypeOf<T>::kTolerance;
    tolerance.atol = 1e-9;
    for (const int64_t row : checked_rows(rows)) {
      const std::vector<double> x = exact_row<T>(logits, row, width);
      const int64_t t = targets[static_cast<size_t>(row % 4)];
      double sum = 0;
      for (const double value : x) sum += std::exp(value);
      if (kPass != Pass::kBackward) {
        const double wanted = std::log(sum) - x[static_cast<size_t>(t)];
        const auto compared = cudaops::testing::compare(row_loss.to_host<float>(row, 1),
                                                        [&](int64_t) { return wanted; });
        if (!compared.ok) return "row " + std::to_string(row) + ": " + compared.text;
      }
      if (kPass == Pass::kLoss) continue;
      const auto compared = cudaops::testing::compare(
          grad.to_host<T>(row * width, width),
          [&](int64_t i) {
            return (std::exp(x[static_cast<size_t>(i)]) / sum - (i == t ? 1 : 0)) /
                   static_cast<double>(rows);
          },
          {}, tolerance);
      if (!compared.ok) return "row " + std::to_string(row) + ": " + compared.text;
    }
    return "";
  };
  cudaops::benchmark::run(state, c);
}

template <typename T>
void cross_entropy(benchmark::State& state) {
  measure<T, Pass::kLoss>(state);
}
template <typename T>
void cross_entropy_with_gradient(benchmark::State& state) {
  measure<T, Pass::kBoth>(state);
}
template <typename T>
void cross_entropy_backward(benchmark::State& state) {
  measure<T, Pass::kBackward>(state);
}

BENCHMARK(cross_entropy<BFloat16>)->Apply(shapes);
BENCHMARK(cross_entropy<float>)->Apply(shapes);
BENCHMARK(cross_entropy_with_gradient<BFloat16>)->Apply(shapes);
BENCHMARK(cross_entropy_with_gradient<float>)->Apply(shapes);
BENCHMARK(cross_entropy_backward<BFloat16>)->Apply(shapes);

}  // namespace

#endif

CUDAOPS_BENCHMARK_MAIN()
