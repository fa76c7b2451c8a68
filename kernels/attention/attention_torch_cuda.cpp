// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.attention and its relatives: CUDA kernels.
#include "../common/torch_binding_cuda.h"
#include "attention_torch.h"

namespace cudaops_kernels {
namespace {

struct Cuda {
  struct Guard : DeviceGuard {
    explicit Guard(const Tensor& q) : DeviceGuard(q.get_device_index()) {}
  };
  static void run(const Attention& call, const Tensor& q) {
    launch_attention(call, current_stream(q));
  }
  static void run(const AttentionBackward& call, const Tensor& q) {
    launch_attention_backward(call, current_stream(q));
  }
};
using Ops = AttentionOps<Cuda>;

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(cudaops, CUDA, library) {
  implement(library, "attention", TORCH_BOX(&Ops::attention));
  implement(library, "attention_backward", TORCH_BOX(&Ops::attention_backward));
  implement(library, "attention_varlen", TORCH_BOX(&Ops::attention_varlen));
  implement(library, "attention_varlen_backward", TORCH_BOX(&Ops::attention_varlen_backward));
}

}  // namespace cudaops_kernels
