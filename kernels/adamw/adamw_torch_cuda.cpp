// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.adamw_ and its relatives: CUDA kernels.
#include <torch/csrc/stable/library.h>

#include "../common/torch_lists_cuda.h"
#include "adamw_torch.h"

namespace cudaops_kernels {
namespace {

void run_on_cuda(const AdamW& call, const std::vector<AdamWTensor>& tensors, const Tensor& param) {
  const int64_t count = static_cast<int64_t>(tensors.size());
  const Workspace workspace(param, adamw_workspace_bytes(count));
  launch_adamw(call, tensors.data(), count, workspace.data(), current_stream(param));
}

void adamw_on_cuda(TensorList& self, TensorList& grads, TensorList& exp_avgs,
                   TensorList& exp_avg_sqs, TensorList& max_exp_avg_sqs, TensorList& state_steps,
                   TensorList& master_params, double lr, double beta1, double beta2,
                   double weight_decay, double eps, bool amsgrad, bool maximize,
                   const OptionalTensor& grad_scale, const OptionalTensor& found_inf,
                   const OptionalTensor& clip_factor) {
  const ListGuard guard(self);
  adamw_on(taken(self, exp_avgs, exp_avg_sqs, state_steps, master_params), grads, max_exp_avg_sqs,
           amsgrad,
           {lr, {}, beta1, beta2, weight_decay, eps, maximize, grad_scale, found_inf, clip_factor},
           run_on_cuda);
}

void adamw_tensor_lr_on_cuda(TensorList& self, TensorList& grads, TensorList& exp_avgs,
                             TensorList& exp_avg_sqs, TensorList& max_exp_avg_sqs,
                             TensorList& state_steps, TensorList& master_params, const Tensor& lr,
                             double beta1, double beta2, double weight_decay, double eps,
                             bool amsgrad, bool maximize, const OptionalTensor& grad_scale,
                             const OptionalTensor& found_inf, const OptionalTensor& clip_factor) {
  const ListGuard guard(self);
  adamw_on(taken(self, exp_avgs, exp_avg_sqs, state_steps, master_params), grads, max_exp_avg_sqs,
           amsgrad,
           {0, lr, beta1, beta2, weight_decay, eps, maximize, grad_scale, found_inf, clip_factor},
           run_on_cuda);
}

// The table is written anew when anything moved, on another stream (the old one may still read it),
// and into each captured graph: what is kept belongs to the next step, a graph runs when it likes.
void run_prepared(PreparedAdamW& prepared, const AdamW& call) {
  const Tensor param = prepared.state.params[0].tensor();
  void* const stream = current_stream(param);
  const int64_t count = static_cast<int64_t>(prepared.tensors.size());
  const auto write = [&](const Tensor& memory) {
    return write_adamw_table(call.dtype, prepared.tensors.data(), count, memory.mutable_data_ptr(),
                             stream);
  };
  const auto allocate = [&] {
    return make_empty(param, {adamw_table_bytes(count)}, torch::headeronly::ScalarType::Byte);
  };
  const auto launch = [&](const AdamWTable& table) {
    launch_advance_steps(table, call.found_inf, stream);
    launch_adamw(call, table, stream);
  };
  if (is_capturing(stream)) {
    const Tensor memory = allocate();
    return launch(write(memory));
  }
  if (!prepared.table_memory.has_value() || prepared.stream != stream) {
    prepared.table_memory.reset();
    const Tensor memory = allocate();
    prepared.table = write(memory);
    prepared.table_memory = memory;
    prepared.stream = stream;
  }
  launch(prepared.table);
}

void prepared_step_on_cuda(int64_t prepared, TensorList& grads, double lr,
                           const OptionalTensor& lr_tensor, double beta1, double beta2,
                           double weight_decay, double eps, bool maximize,
                           const OptionalTensor& grad_scale, const OptionalTensor& found_inf,
                           const OptionalTensor& clip_factor) {
  const ListGuard guard(grads);
  adamw_prepared_on(prepared, grads,
                    {lr, lr_tensor, beta1, beta2, weight_decay, eps, maximize, grad_scale,
                     found_inf, clip_factor},
                    run_prepared);
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(cudaops, CUDA, library) {
  library.impl("adamw_", TORCH_BOX(&adamw_on_cuda));
  library.impl("adamw_.tensor_lr", TORCH_BOX(&adamw_tensor_lr_on_cuda));
  library.impl("_adamw_prepared_step", TORCH_BOX(&prepared_step_on_cuda));
}

}  // namespace cudaops_kernels
