// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.lion_, lamb_ and adamw_8bit_: schemas and CPU kernels.
#include "optimizers_torch.h"

namespace cudaops_kernels {
namespace {

void lion_on_cpu(TensorList& self, TensorList& grads, TensorList& exp_avgs, double lr, double beta1,
                 double beta2, double weight_decay, bool maximize) {
  lion_on(self, grads, exp_avgs, lr, beta1, beta2, weight_decay, maximize,
          [](const Lion& call, const std::vector<LionTensor>& tensors, const Tensor&) {
            lion_cpu(call, tensors.data(), static_cast<int64_t>(tensors.size()), torch_threads);
          });
}

void lamb_on_cpu(TensorList& self, TensorList& grads, TensorList& exp_avgs, TensorList& exp_avg_sqs,
                 const std::vector<double>& steps, double lr, double beta1, double beta2,
                 double weight_decay, double eps, bool maximize,
                 const OptionalTensor& clip_factor) {
  lamb_on(self, grads, exp_avgs, exp_avg_sqs, steps, lr, beta1, beta2, weight_decay, eps, maximize,
          clip_factor, [](const Lamb& call, const std::vector<LambTensor>& tensors, const Tensor&) {
            lamb_cpu(call, tensors.data(), static_cast<int64_t>(tensors.size()), torch_threads);
          });
}

void adamw_8bit_on_cpu(TensorList& self, TensorList& grads, TensorList& state1, TensorList& absmax1,
                       TensorList& state2, TensorList& absmax2, const std::vector<double>& steps,
                       const Tensor& levels1, const Tensor& levels2, double lr, double beta1,
                       double beta2, double weight_decay, double eps, bool maximize) {
  adamw_8bit_on(
      self, grads, state1, absmax1, state2, absmax2, steps, levels1, levels2, lr, beta1, beta2,
      weight_decay, eps, maximize,
      [](const AdamW8bit& call, const std::vector<AdamW8bitTensor>& tensors, const Tensor&) {
        adamw_8bit_cpu(call, tensors.data(), static_cast<int64_t>(tensors.size()), torch_threads);
      });
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  library.def(
      "lion_(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] exp_avgs, *, float lr, float beta1, "
      "float beta2, float weight_decay, bool maximize=False) -> ()");
  library.def(
      "lamb_(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, "
      "float[] steps, *, float lr, float beta1, float beta2, float weight_decay, float eps, "
      "bool maximize=False, Tensor? clip_factor=None) -> ()");
  library.def(
      "adamw_8bit_(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] state1, Tensor(c!)[] absmax1, "
      "Tensor(d!)[] state2, Tensor(e!)[] absmax2, float[] steps, Tensor levels1, Tensor levels2, "
      "*, float lr, float beta1, float beta2, float weight_decay, float eps, "
      "bool maximize=False) -> ()");
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, CPU, library) {
  library.impl("lion_", TORCH_BOX(&lion_on_cpu));
  library.impl("lamb_", TORCH_BOX(&lamb_on_cpu));
  library.impl("adamw_8bit_", TORCH_BOX(&adamw_8bit_on_cpu));
}

}  // namespace cudaops_kernels
