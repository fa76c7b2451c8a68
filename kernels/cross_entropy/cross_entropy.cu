// SPDX-License-Identifier: Apache-2.0
// cross_entropy on CUDA devices: the loss, with or without the gradient. Together they move
// 2 * sizeof(T) bytes an element, the loss alone 1: each row is read once and stays in registers.
#include "cross_entropy_forward.cuh"

namespace cudaops_kernels {
namespace cross_entropy {
namespace {

// counts[part]: its rows that count.
__global__ void __launch_bounds__(kThreads)
    count_targets_kernel(const CrossEntropyProblem problem, int* counts) {
  const Part part(problem.num_rows);
  const int count = sum_of_block(count_rows(problem, part.begin + threadIdx.x, part.end, kThreads));
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

struct LossSums {
  const CrossEntropyProblem problem;
  const float* row_loss;
  int* counts;
  double* sums;
  float* loss;

  __device__ __forceinline__ bool is_mean() const { return problem.reduction == Reduction::kMean; }
  __device__ __forceinline__ void finish(double sum, int64_t count) const {
    *loss = static_cast<float>(is_mean() ? sum / static_cast<double>(count) : sum);
  }
};

// sums[part] of row_loss and counts[part]; the loss itself where there is one part. It starts while
// the rows' last blocks run; targets were there before those.
__global__ void __launch_bounds__(kThreads) sum_losses_kernel(const LossSums call) {
  const Part part(call.problem.num_rows);
  int count = 0;
  if (call.is_mean()) {
    count = sum_of_block(count_rows(call.problem, part.begin + threadIdx.x, part.end, kThreads));
  }
  wait_for_kernels_before();
  let_next_kernel_start();
  double sum = 0;
#pragma unroll 8
  for (int64_t index = part.begin + threadIdx.x; index < part.end; index += kThreads) {
    sum += call.row_loss[index];
  }
  sum = sum_of_block(sum);
  if (threadIdx.x != 0) return;
  if (gridDim.x == 1) {
    call.finish(sum, count);
  } else {
    call.sums[blockIdx.x] = sum;
    call.counts[blockIdx.x] = count;
  }
}

__global__ void finish_loss_kernel(const LossSums call, int num_parts) {
  double sum = 0;
  int64_t count = 0;
  for (int part = 0; part < num_parts; ++part) {
    sum += call.sums[part];
    count += call.counts[part];
  }
  call.finish(sum, count);
}

}  // namespace

void count_targets(const CrossEntropyProblem& problem, int* counts, cudaStream_t stream) {
  if (problem.reduction != Reduction::kMean || problem.num_rows <= kMaxRowsCountedByAll) return;
  count_targets_kernel<<<num_parts(problem.num_rows), kThreads, 0, stream>>>(problem, counts);
  CUDAOPS_CHECK_LAUNCH();
}

}  // namespace cross_entropy

int64_t cross_entropy_workspace_bytes() {
  return cross_entropy::kMaxParts * int64_t{sizeof(double) + sizeof(int)};
}

void launch_cross_entropy(const CrossEntropy& call, void* workspace, void* stream) {
  const CrossEntropyProblem& problem = call.problem;
  const cudaStream_t cuda_stream = static_cast<cudaStream_t>(stream);
  const cross_entropy::Workspace parts(workspace);
  if (call.grad_logits.data != nullptr) {
    cross_entropy::count_targets(problem, parts.counts, cuda_stream);
  }
  for_device_type<cross_entropy::LaunchForward>(problem.dtype, call, parts.counts, cuda_stream);
  if (problem.reduction == Reduction::kNone) return;
  const int num_sums = cross_entropy::num_parts(problem.num_rows);
  const cross_entropy::LossSums sums{problem, call.row_loss, parts.counts, parts.sums, call.loss};
  launch_overlapping(&cross_entropy::sum_losses_kernel, num_sums, cross_entropy::kThreads,
                     cuda_stream, sums);
  if (num_sums == 1) return;
  cross_entropy::finish_loss_kernel<<<1, 1, 0, cuda_stream>>>(sums, num_sums);
  CUDAOPS_CHECK_LAUNCH();
}

}  // namespace cudaops_kernels
