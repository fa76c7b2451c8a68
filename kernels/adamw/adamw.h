// SPDX-License-Identifier: Apache-2.0
// adamw: Adam with decoupled weight decay (Loshchilov, Hutter: Decoupled Weight Decay
// Regularization, 2019) for a list of tensors of any sizes, in one launch.
//
//   g          = grad / grad_scale * clip_factor, with the other sign where `maximize`
//   param      = param - lr * weight_decay * param
//   exp_avg    = beta1 * exp_avg + (1 - beta1) * g
//   exp_avg_sq = beta2 * exp_avg_sq + (1 - beta2) * g^2
//   param      = param - lr / (1 - beta1^step) * exp_avg
//                        / (sqrt(exp_avg_sq) / sqrt(1 - beta2^step) + eps)
//
// Where there is a master, it takes param's place in this, and param becomes the rounded master.
// Where there is a grad_scale, grad becomes grad / grad_scale, as other code expects to find it
// after a step with loss scaling. Where found_inf is not 0 nothing is written.
//
// Types    params and grads of float32, float16 or bfloat16, one for the whole list; all else
//          float32. Arithmetic is in float32.
// Aliasing no two of the arrays overlap.
// Results  the same bits from run to run.
#pragma once

#include <cstdint>

#include "../common/dtype.h"
#include "../common/parallel_for.h"

namespace cudaops_kernels {

struct AdamWTensor {
  void* param;
  void* grad;
  float* exp_avg;
  float* exp_avg_sq;
  float* master;  // where has_master
  float* step;    // one number: how many steps this one makes, the first is 1
  int64_t num_elements;
};

// What is the same for the whole list. Pointers lead to one number and may be null; on a device
// they are read when the kernel runs, so a captured graph sees their values of that time.
struct AdamW {
  DType dtype;
  bool has_master;  // never for float32
  double lr;
  double beta1;
  double beta2;
  double weight_decay;
  double eps;
  bool maximize;
  const float* lr_pointer;   // taken instead of lr
  const float* grad_scale;   // null: 1
  const float* found_inf;    // null: 0
  const float* clip_factor;  // null: 1
};

// Pointers in all of these are the device's, aligned to their element size; fastest where every
// array of a tensor starts at a multiple of 16 bytes (of 8 those of 16-bit types). All enqueue on
// `stream` (a cudaStream_t) of the current device and return; all can be captured into a graph.
// They throw std::runtime_error when a launch fails.

// `workspace`: adamw_workspace_bytes() of device memory, aligned to 16, free again when the stream
// has come past the call; null where that is 0. `tensors` is the host's, and read before the call
// returns.
int64_t adamw_workspace_bytes(int64_t num_tensors);
void launch_adamw(const AdamW& call, const AdamWTensor* tensors, int64_t num_tensors,
                  void* workspace, void* stream);

// For a list that stays the same over many steps: written to the device once, then each step is
// one launch and nothing else. `memory`: adamw_table_bytes() of device memory, aligned to 16.
struct AdamWTable {
  const void* memory;
  int64_t num_tensors;
  int64_t num_blocks;
};
int64_t adamw_table_bytes(int64_t num_tensors);
AdamWTable write_adamw_table(DType dtype, const AdamWTensor* tensors, int64_t num_tensors,
                             void* memory, void* stream);
void launch_adamw(const AdamW& call, const AdamWTable& table, void* stream);

// Adds 1 to every tensor's step; where found_inf is not null and not 0, nothing. The steps must be
// different ones.
void launch_advance_steps(const AdamWTable& table, const float* found_inf, void* stream);

// Whether what is enqueued on the stream goes into a graph.
bool is_capturing(void* stream);

// The same with host pointers. Returns when the results are written. Doesn't throw.
void adamw_cpu(const AdamW& call, const AdamWTensor* tensors, int64_t num_tensors,
               ParallelFor parallel_for = serial_for);

// The instructions that adamw_cpu() takes: the best that this machine has. A test asks for others.
enum class CpuLevel { kPlain, kAvx2, kAvx512 };
CpuLevel best_cpu_level();
void adamw_cpu_with(CpuLevel level, const AdamW& call, const AdamWTensor* tensors,
                    int64_t num_tensors, ParallelFor parallel_for = serial_for);

}  // namespace cudaops_kernels
