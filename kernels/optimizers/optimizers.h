// SPDX-License-Identifier: Apache-2.0
// Steps of optimizers for a list of tensors of any sizes, in one launch (lamb: three). g is the
// gradient, with the other sign where `maximize`; arithmetic is in float32.
//
// lion (Chen et al.: Symbolic discovery of optimization algorithms, 2023); 20 bytes an element of
// float32:
//   param   = param - lr * weight_decay * param - lr * sign(beta1 * exp_avg + (1 - beta1) * g)
//   exp_avg = beta2 * exp_avg + (1 - beta2) * g
//
// lamb (You et al.: Large batch optimization for deep learning, 2020); 40 bytes:
//   g       = g * clip_factor
//   moments as adamw's, and update = correction1 * exp_avg
//                                  / (sqrt(exp_avg_sq) * correction2 + eps) + weight_decay * param
//   param   = param - lr * |param| / |update| * update, norms of the whole tensor; a norm of 0
//             makes the ratio 1
//
// adamw_8bit (Dettmers et al.: 8-bit optimizers via block-wise quantization, 2022): adamw.h's
// formula with moments of 8 bits: of each 256 elements the largest magnitude, and the places of
// the nearest of 256 levels; 16 bytes. Tensors without absmax have float32 moments.
//
// Types    params and grads of float32, float16 or bfloat16, one for the whole list.
// Aliasing no two of the arrays overlap.
// Results  the same bits from run to run.
#pragma once

#include <cstdint>

#include "../common/dtype.h"
#include "../common/parallel_for.h"

namespace cudaops_kernels {

struct LionTensor {
  void* param;
  const void* grad;
  float* exp_avg;
  int64_t num_elements;
};
struct Lion {
  DType dtype;
  double lr, beta1, beta2, weight_decay;
  bool maximize;
};

struct LambTensor {
  void* param;
  const void* grad;
  float* exp_avg;
  float* exp_avg_sq;
  int64_t num_elements;
  float correction1, correction2;  // 1 / (1 - beta1^step), 1 / sqrt(1 - beta2^step), or 1
};
struct Lamb {
  DType dtype;
  double lr, beta1, beta2, weight_decay, eps;
  bool maximize;
  const float* clip_factor;  // null: 1
};

constexpr int kLevels = 256;          // of an 8-bit state
constexpr int64_t kStateBlock = 256;  // elements that share a scale
struct AdamW8bitTensor {
  void* param;
  const void* grad;
  void* state1;    // uint8_t with absmax1, else float
  float* absmax1;  // one for each kStateBlock elements; null as absmax2 is
  void* state2;
  float* absmax2;
  int64_t num_elements;
  float correction1, correction2;
};
struct AdamW8bit {
  DType dtype;
  double lr, beta1, beta2, weight_decay, eps;
  bool maximize;
  const float* levels1;  // kLevels numbers in ascending order: of exp_avg, -1 … 1
  const float* levels2;  // of exp_avg_sq, 0 … 1
};

// Device pointers, aligned to their element size; `tensors` is the host's, and read before the call
// returns. `workspace`: so many bytes of device memory, aligned to 16, free again when the stream
// has come past the call; null where that is 0. Enqueue on `stream` (a cudaStream_t) of the current
// device and return; can be captured into a graph, which keeps the corrections of its capture.
// Throw std::runtime_error when a launch fails.
int64_t lion_workspace_bytes(const LionTensor* tensors, int64_t num_tensors);
int64_t lamb_workspace_bytes(const LambTensor* tensors, int64_t num_tensors);
int64_t adamw_8bit_workspace_bytes(const AdamW8bitTensor* tensors, int64_t num_tensors);
void launch_lion(const Lion& call, const LionTensor* tensors, int64_t num_tensors, void* workspace,
                 void* stream);
void launch_lamb(const Lamb& call, const LambTensor* tensors, int64_t num_tensors, void* workspace,
                 void* stream);
void launch_adamw_8bit(const AdamW8bit& call, const AdamW8bitTensor* tensors, int64_t num_tensors,
                       void* workspace, void* stream);

// The same with host pointers. Return when the results are written. Don't throw.
void lion_cpu(const Lion& call, const LionTensor* tensors, int64_t num_tensors,
              ParallelFor parallel_for = serial_for);
void lamb_cpu(const Lamb& call, const LambTensor* tensors, int64_t num_tensors,
              ParallelFor parallel_for = serial_for);
void adamw_8bit_cpu(const AdamW8bit& call, const AdamW8bitTensor* tensors, int64_t num_tensors,
                    ParallelFor parallel_for = serial_for);

}  // namespace cudaops_kernels
