// SPDX-License-Identifier: Apache-2.0
// attention on the tensor cores of sm_80 and later: which backward kernel a call takes.
#include "attention_mma.cuh"
#include "attention_sm80.h"

namespace cudaops_kernels {

#if !CUDAOPS_HIP

// Defined in attention_backward_sm80.cuh, for each element type and width in shards (ops.cmake).
template <typename T, int kWidth>
void launch_attention_backward_sm80_of(const AttentionBackward& call, cudaStream_t stream);

namespace {

template <typename T>
void launch_width(const AttentionBackward& call, cudaStream_t stream) {
  const int64_t width = attention_detail::widest(call.forward);
  if (width <= 64) return launch_attention_backward_sm80_of<T, 64>(call, stream);
  if (width <= 128) return launch_attention_backward_sm80_of<T, 128>(call, stream);
  launch_attention_backward_sm80_of<T, 256>(call, stream);
}

}  // namespace

#endif

bool attention_backward_sm80_serves(const AttentionBackward& call) {
#if CUDAOPS_HIP
  (void)call;
  return false;  // no mma.sync
#else
  using namespace attention_detail;
  const Attention& forward = call.forward;
  if (!has_whole_units(forward) || !has_whole_units(call.grad_output, forward.head_dim_v) ||
      !has_whole_units(call.grad_q, forward.head_dim) ||
      !has_whole_units(call.grad_k, forward.head_dim) ||
      !has_whole_units(call.grad_v, forward.head_dim_v)) {
    return false;
  }
  const int64_t width = widest(forward);
  const int bytes = width <= 64    ? kBackwardBytes<64>
                    : width <= 128 ? kBackwardBytes<128>
                                   : kBackwardBytes<256>;
  return is_compiled_for_mma() && has_shared_memory(bytes);
#endif
}

void launch_attention_backward_sm80(const AttentionBackward& call, void* stream) {
#if CUDAOPS_HIP
  (void)call;
  (void)stream;
#else
  if (call.forward.dtype == DType::kFloat16) {
    launch_width<__half>(call, static_cast<cudaStream_t>(stream));
  } else {
    launch_width<bfloat16>(call, static_cast<cudaStream_t>(stream));
  }
#endif
}

}  // namespace cudaops_kernels
