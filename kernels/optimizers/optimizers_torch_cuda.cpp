// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.lion_, lamb_ and adamw_8bit_: CUDA kernels.
#include <torch/csrc/stable/library.h>

#include "../common/torch_lists_cuda.h"
#include "optimizers_torch.h"

namespace cudaops_kernels {
namespace {

// A launcher as what the checks end with.
template <typename Bytes, typename Launch>
auto on_device(Bytes* workspace_bytes, Launch* launch) {
  return [=](const auto& call, const auto& tensors, const Tensor& param) {
    const int64_t count = static_cast<int64_t>(tensors.size());
    const Workspace workspace(param, workspace_bytes(tensors.data(), count));
    launch(call, tensors.data(), count, workspace.data(), current_stream(param));
  };
}

void lion_on_cuda(TensorList& self, TensorList& grads, TensorList& exp_avgs, double lr,
                  double beta1, double beta2, double weight_decay, bool maximize) {
  const ListGuard guard(self);
  lion_on(self, grads, exp_avgs, lr, beta1, beta2, weight_decay, maximize,
          on_device(lion_workspace_bytes, launch_lion));
}

void lamb_on_cuda(TensorList& self, TensorList& grads, TensorList& exp_avgs,
                  TensorList& exp_avg_sqs, const std::vector<double>& steps, double lr,
                  double beta1, double beta2, double weight_decay, double eps, bool maximize,
                  const OptionalTensor& clip_factor) {
  const ListGuard guard(self);
  lamb_on(self, grads, exp_avgs, exp_avg_sqs, steps, lr, beta1, beta2, weight_decay, eps, maximize,
          clip_factor, on_device(lamb_workspace_bytes, launch_lamb));
}

void adamw_8bit_on_cuda(TensorList& self, TensorList& grads, TensorList& state1,
                        TensorList& absmax1, TensorList& state2, TensorList& absmax2,
                        const std::vector<double>& steps, const Tensor& levels1,
                        const Tensor& levels2, double lr, double beta1, double beta2,
                        double weight_decay, double eps, bool maximize) {
  const ListGuard guard(self);
  adamw_8bit_on(self, grads, state1, absmax1, state2, absmax2, steps, levels1, levels2, lr, beta1,
                beta2, weight_decay, eps, maximize,
                on_device(adamw_8bit_workspace_bytes, launch_adamw_8bit));
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(cudaops, CUDA, library) {
  library.impl("lion_", TORCH_BOX(&lion_on_cuda));
  library.impl("lamb_", TORCH_BOX(&lamb_on_cuda));
  library.impl("adamw_8bit_", TORCH_BOX(&adamw_8bit_on_cuda));
}

}  // namespace cudaops_kernels
