// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.adamw_ and its relatives: schemas and CPU kernels.
#include "adamw_torch.h"

namespace cudaops_kernels {
namespace {

void run_on_cpu(const AdamW& call, const std::vector<AdamWTensor>& tensors, const Tensor&) {
  adamw_cpu(call, tensors.data(), static_cast<int64_t>(tensors.size()), torch_threads);
}

void adamw_on_cpu(TensorList& self, TensorList& grads, TensorList& exp_avgs,
                  TensorList& exp_avg_sqs, TensorList& max_exp_avg_sqs, TensorList& state_steps,
                  TensorList& master_params, double lr, double beta1, double beta2,
                  double weight_decay, double eps, bool amsgrad, bool maximize,
                  const OptionalTensor& grad_scale, const OptionalTensor& found_inf,
                  const OptionalTensor& clip_factor) {
  adamw_on(taken(self, exp_avgs, exp_avg_sqs, state_steps, master_params), grads, max_exp_avg_sqs,
           amsgrad,
           {lr, {}, beta1, beta2, weight_decay, eps, maximize, grad_scale, found_inf, clip_factor},
           run_on_cpu);
}

void adamw_tensor_lr_on_cpu(TensorList& self, TensorList& grads, TensorList& exp_avgs,
                            TensorList& exp_avg_sqs, TensorList& max_exp_avg_sqs,
                            TensorList& state_steps, TensorList& master_params, const Tensor& lr,
                            double beta1, double beta2, double weight_decay, double eps,
                            bool amsgrad, bool maximize, const OptionalTensor& grad_scale,
                            const OptionalTensor& found_inf, const OptionalTensor& clip_factor) {
  adamw_on(taken(self, exp_avgs, exp_avg_sqs, state_steps, master_params), grads, max_exp_avg_sqs,
           amsgrad,
           {0, lr, beta1, beta2, weight_decay, eps, maximize, grad_scale, found_inf, clip_factor},
           run_on_cpu);
}

int64_t prepare(TensorList& self, TensorList& exp_avgs, TensorList& exp_avg_sqs,
                TensorList& state_steps, TensorList& master_params) {
  auto prepared = std::make_unique<PreparedAdamW>();
  prepared->state = taken(self, exp_avgs, exp_avg_sqs, state_steps, master_params);
  if (!prepared->state.params.empty()) prepared->dtype = Kind(prepared->state.params[0]).dtype;
  return PreparedAdamWs::all().add(std::move(prepared));
}

void prepared_check(int64_t prepared, TensorList& grads, double lr, const OptionalTensor& lr_tensor,
                    double beta1, double beta2, double weight_decay, double eps, bool maximize,
                    const OptionalTensor& grad_scale, const OptionalTensor& found_inf,
                    const OptionalTensor& clip_factor) {
  adamw_prepared_on(prepared, grads,
                    {lr, lr_tensor, beta1, beta2, weight_decay, eps, maximize, grad_scale,
                     found_inf, clip_factor},
                    [](PreparedAdamW&, const AdamW&) {});
}

void release(int64_t prepared) { PreparedAdamWs::all().release(prepared); }

void prepared_step_on_cpu(int64_t prepared, TensorList& grads, double lr,
                          const OptionalTensor& lr_tensor, double beta1, double beta2,
                          double weight_decay, double eps, bool maximize,
                          const OptionalTensor& grad_scale, const OptionalTensor& found_inf,
                          const OptionalTensor& clip_factor) {
  adamw_prepared_on(prepared, grads,
                    {lr, lr_tensor, beta1, beta2, weight_decay, eps, maximize, grad_scale,
                     found_inf, clip_factor},
                    [](PreparedAdamW& list, const AdamW& call) {
                      if (call.found_inf != nullptr && *call.found_inf != 0) return;
                      for (const AdamWTensor& tensor : list.tensors) *tensor.step += 1;
                      run_on_cpu(call, list.tensors, list.state.params[0].tensor());
                    });
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  // aten::_fused_adamw_ with masters and a factor for the gradients.
  library.def(
      "adamw_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, "
      "Tensor(d!)[] exp_avg_sqs, Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, "
      "Tensor(f!)[] master_params, *, float lr, float beta1, float beta2, float weight_decay, "
      "float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None, "
      "Tensor? clip_factor=None) -> ()");
  library.def(
      "adamw_.tensor_lr(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, "
      "Tensor(d!)[] exp_avg_sqs, Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, "
      "Tensor(f!)[] master_params, *, Tensor lr, float beta1, float beta2, float weight_decay, "
      "float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None, "
      "Tensor? clip_factor=None) -> ()");
  // For optim.AdamW: the lists once, then the gradients a step; steps are advanced as well.
  library.def(
      "_adamw_prepare(Tensor[] self, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, "
      "Tensor[] state_steps, Tensor[] master_params) -> int");
  // For several lists: all are checked before the first is stepped. The arguments of the step.
  library.def(
      "_adamw_prepared_check(int prepared, Tensor[] grads, float lr, Tensor? lr_tensor, "
      "float beta1, float beta2, float weight_decay, float eps, bool maximize, "
      "Tensor? grad_scale, Tensor? found_inf, Tensor? clip_factor) -> ()");
  library.def(
      "_adamw_prepared_step(int prepared, Tensor(a!)[] grads, float lr, Tensor? lr_tensor, "
      "float beta1, float beta2, float weight_decay, float eps, bool maximize, "
      "Tensor? grad_scale, Tensor? found_inf, Tensor? clip_factor) -> ()");
  library.def("_adamw_release(int prepared) -> ()");
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, CPU, library) {
  library.impl("adamw_", TORCH_BOX(&adamw_on_cpu));
  library.impl("adamw_.tensor_lr", TORCH_BOX(&adamw_tensor_lr_on_cpu));
  library.impl("_adamw_prepared_step", TORCH_BOX(&prepared_step_on_cpu));
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, CompositeExplicitAutograd, library) {
  library.impl("_adamw_prepare", TORCH_BOX(&prepare));
  library.impl("_adamw_prepared_check", TORCH_BOX(&prepared_check));
  library.impl("_adamw_release", TORCH_BOX(&release));
}

}  // namespace cudaops_kernels
