// SPDX-License-Identifier: Apache-2.0
// cross_entropy: the loss of a classifier by its logits, and the logits' gradient in the same pass.
//
//   z        = logits, or softcap * tanh(logits / softcap) where softcap is not 0
//   lse      = log of the sum over the row of exp(z)
//   row_loss = lse - (1 - label_smoothing) * z[target] - label_smoothing * mean over the row of z
//              + lse_square_scale * lse^2
//   loss     = sum of row_loss, or its mean over the rows that count
//
// Shapes   num_rows rows of num_classes logits, a target and a row_loss each; num_rows may be 0.
// Types    float32, float16, bfloat16 for logits and their gradient; targets are int64 or int32,
//          losses and lse float32. Arithmetic is in float32.
// Strides  those of rows are free, also 0 for what is only read.
// Aliasing grad_logits may be logits; no other overlap.
// Targets  rows whose target is ignore_index count for nothing, even NaN: row_loss, lse and the
//          gradient are 0. Any other target outside 0 … num_classes - 1 makes row_loss, loss and
//          the row's gradient NaN; cross_entropy_find_wrong_target() finds it where the host can
//          look.
// Results  the same bits from run to run.
#pragma once

#include <cstdint>

#include "../common/dtype.h"
#include "../common/parallel_for.h"
#include "../common/rows.h"

namespace cudaops_kernels {

enum class Reduction { kNone, kMean, kSum };

// What loss and gradient are computed from.
struct CrossEntropyProblem {
  int64_t num_rows;
  int64_t num_classes;
  DType dtype;
  ConstRows logits;
  const void* target;
  bool target_is_int32;
  int64_t ignore_index;
  float label_smoothing;
  float lse_square_scale;
  float softcap;
  Reduction reduction;
};

struct CrossEntropy {
  CrossEntropyProblem problem;
  float* row_loss;  // where the reduction is kNone the result
  float* lse;
  float* loss;       // one number; not used where the reduction is kNone
  Rows grad_logits;  // of loss, or of each row_loss; data may be null: not wanted
};

// The gradient alone, from the lse of forward.
struct CrossEntropyBackward {
  CrossEntropyProblem problem;
  const float* grad_loss;  // one number; one a row where the reduction is kNone
  const float* lse;
  Rows grad_logits;
};

// A gradient that was computed with the loss, times the gradient by the loss; where that is
// 1 nothing is written. What is 0 stays 0, also times infinity: where all rows are ignored, a sum
// of losses divided by their number has no gradient. Times NaN it is NaN.
struct CrossEntropyScale {
  int64_t num_rows;
  int64_t num_classes;
  DType dtype;
  Rows grad_logits;
  const float* grad_loss;
  bool one_a_row;
};

// Device pointers, aligned to their element size; fastest where rows start at multiples of 16
// bytes. Enqueue on `stream` (a cudaStream_t) of the current device and return. Throw
// std::runtime_error when a launch fails. `workspace`: cross_entropy_workspace_bytes() of device
// memory, free again when the stream has come past the call.
int64_t cross_entropy_workspace_bytes();
void launch_cross_entropy(const CrossEntropy& call, void* workspace, void* stream);
void launch_cross_entropy_backward(const CrossEntropyBackward& call, void* workspace, void* stream);
void launch_cross_entropy_scale(const CrossEntropyScale& call, void* stream);

// Host pointers. Return when the results are written. Don't throw.
void cross_entropy_cpu(const CrossEntropy& call, ParallelFor parallel_for = serial_for);
void cross_entropy_backward_cpu(const CrossEntropyBackward& call,
                                ParallelFor parallel_for = serial_for);
void cross_entropy_scale_cpu(const CrossEntropyScale& call, ParallelFor parallel_for = serial_for);

// The first row whose target is neither a class nor ignore_index; -1 where there is none.
int64_t cross_entropy_find_wrong_target(const CrossEntropyProblem& problem);

// ---------------------------------------------------------------------------------------------------
// What both kinds of kernels go by.

CUDAOPS_HOST_DEVICE inline int64_t target_of(const CrossEntropyProblem& problem, int64_t index) {
  if (problem.target_is_int32) return static_cast<const int32_t*>(problem.target)[index];
  return static_cast<const int64_t*>(problem.target)[index];
}
CUDAOPS_HOST_DEVICE inline bool is_class(const CrossEntropyProblem& problem, int64_t target) {
  return target >= 0 && target < problem.num_classes;
}

}  // namespace cudaops_kernels
