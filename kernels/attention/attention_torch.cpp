// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.attention and its relatives: schemas and CPU kernels.
#include "attention_torch.h"

namespace cudaops_kernels {
namespace {

struct Cpu {
  struct Guard {
    explicit Guard(const Tensor&) {}
  };
  static void run(const Attention& call, const Tensor&) { attention_cpu(call, torch_threads); }
  static void run(const AttentionBackward& call, const Tensor&) {
    attention_backward_cpu(call, torch_threads);
  }
};
using Ops = AttentionOps<Cpu>;

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  const std::string scores =
      "float? scale=None, bool causal=False, int window_left=-1, int window_right=-1, "
      "float softcap=0, bool deterministic=False";
  define(library,
         "attention(Tensor q, Tensor k, Tensor v, Tensor? bias=None, Tensor? alibi_slopes=None, "
         "Tensor? sinks=None, " +
             scores + ") -> (Tensor output, Tensor lse)");
  define(library,
         "attention_backward(Tensor grad_output, Tensor? grad_lse, Tensor q, Tensor k, Tensor v, "
         "Tensor output, Tensor lse, Tensor? bias=None, Tensor? alibi_slopes=None, "
         "Tensor? sinks=None, " +
             scores +
             ", bool needs_grad_bias=True) -> (Tensor grad_q, Tensor grad_k, Tensor grad_v, "
             "Tensor grad_bias, Tensor grad_sinks)");
  define(library,
         "attention_varlen(Tensor q, Tensor k, Tensor v, Tensor cu_seqlens_q, Tensor cu_seqlens_k, "
         "Tensor? alibi_slopes, Tensor? sinks, int max_seqlen_q, int max_seqlen_k, " +
             scores + ") -> (Tensor output, Tensor lse)");
  define(library,
         "attention_varlen_backward(Tensor grad_output, Tensor? grad_lse, Tensor q, Tensor k, "
         "Tensor v, Tensor output, Tensor lse, Tensor cu_seqlens_q, Tensor cu_seqlens_k, "
         "Tensor? alibi_slopes, Tensor? sinks, int max_seqlen_q, int max_seqlen_k, " +
             scores + ") -> (Tensor grad_q, Tensor grad_k, Tensor grad_v, Tensor grad_sinks)");
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, CPU, library) {
  implement(library, "attention", TORCH_BOX(&Ops::attention));
  implement(library, "attention_backward", TORCH_BOX(&Ops::attention_backward));
  implement(library, "attention_varlen", TORCH_BOX(&Ops::attention_varlen));
  implement(library, "attention_varlen_backward", TORCH_BOX(&Ops::attention_varlen_backward));
}

}  // namespace cudaops_kernels
