// SPDX-License-Identifier: Apache-2.0
// Which calls the kernel for sm_90a serves, and by tiles of which shape.
#include "../common/per_device.cuh"
#include "attention_sm90.cuh"
#include "attention_sm90.h"

namespace cudaops_kernels {

#if defined(CUDAOPS_KERNELS_SHARDED)
extern template void launch_attention_sm90_of<AttentionSm90Shape64Short>(const Attention&,
                                                                         cudaStream_t);
extern template void launch_attention_sm90_of<AttentionSm90Shape64>(const Attention&, cudaStream_t);
extern template void launch_attention_sm90_of<AttentionSm90Shape96>(const Attention&, cudaStream_t);
extern template void launch_attention_sm90_of<AttentionSm90Shape128Short>(const Attention&,
                                                                          cudaStream_t);
extern template void launch_attention_sm90_of<AttentionSm90Shape128Masked>(const Attention&,
                                                                           cudaStream_t);
extern template void launch_attention_sm90_of<AttentionSm90Shape128>(const Attention&,
                                                                     cudaStream_t);
extern template void launch_attention_sm90_of<AttentionSm90Shape192By128>(const Attention&,
                                                                          cudaStream_t);
extern template void launch_attention_sm90_of<AttentionSm90Shape192>(const Attention&,
                                                                     cudaStream_t);
extern template void launch_attention_sm90_of<AttentionSm90Shape256>(const Attention&,
                                                                     cudaStream_t);
#endif

namespace {

// Its launch bound tells the host which code the binary holds for a device.
constexpr int kBoundWithWgmma = 128;
constexpr int kBoundWithout = 32;
__global__ void __launch_bounds__(CUDAOPS_HAS_WGMMA || !CUDAOPS_DEVICE_CODE ? kBoundWithWgmma
                                                                            : kBoundWithout)
    has_wgmma_kernel() {}

bool device_has_wgmma() {
  static int known[64];
  return known_for_device(known, [](int) {
           cudaFuncAttributes attributes;
           const auto kernel = reinterpret_cast<const void*>(&has_wgmma_kernel);
           if (cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess) {
             (void)cudaGetLastError();
             return 0;
           }
           const bool has = attributes.binaryVersion == 90 &&
                            attributes.maxThreadsPerBlock == kBoundWithWgmma &&
                            tensor_map_encoder() != nullptr;
           return has ? 1 : 0;
         }) == 1;
}

bool is_aligned(const AttentionOutput& output) {
  return reinterpret_cast<uintptr_t>(output.data) % 16 == 0 && output.batch_stride % 8 == 0 &&
         output.seq_stride % 8 == 0 && output.head_stride % 8 == 0;
}

}  // namespace

bool attention_sm90_serves(const Attention& call) {
  constexpr int64_t kMaxSize = int64_t{1} << 29;  // sums of a few of them are int
  const MappedTensors tensors(call);
  return call.dtype != DType::kFloat32 && !call.is_double && call.bias == nullptr &&
         call.alibi_slopes == nullptr && call.dropout_p == 0 &&
         static_cast<float>(call.scale) > 0 && call.head_dim <= Attention::kMaxHeadDim &&
         call.head_dim_v <= Attention::kMaxHeadDim && call.seq_q > 0 && call.seq_q < kMaxSize &&
         call.seq_k < kMaxSize && tensors.q.seq < kMaxSize && tensors.k.seq < kMaxSize &&
         call.batch * call.heads * ((call.seq_q + 127) / 128) < kMaxSize && device_has_wgmma() &&
         can_be_mapped(tensors.q) && can_be_mapped(tensors.k) && can_be_mapped(tensors.v) &&
         is_aligned(call.output);
}

void launch_attention_sm90(const Attention& call, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  const bool is_masked = call.window_left >= 0 || call.window_right >= 0;
  const int64_t larger = std::max(call.head_dim, call.head_dim_v);
  if (larger <= 64) {
    // Of 192 rows more of a short mask's diagonal is computed in vain.
    if (is_masked && call.seq_q <= 1024) {
      return launch_attention_sm90_of<AttentionSm90Shape64Short>(call, on);
    }
    return launch_attention_sm90_of<AttentionSm90Shape64>(call, on);
  }
  if (larger <= 96) return launch_attention_sm90_of<AttentionSm90Shape96>(call, on);
  if (larger <= 128) {
    if (call.seq_q <= 2048) return launch_attention_sm90_of<AttentionSm90Shape128Short>(call, on);
    if (is_masked) return launch_attention_sm90_of<AttentionSm90Shape128Masked>(call, on);
    return launch_attention_sm90_of<AttentionSm90Shape128>(call, on);
  }
  if (larger <= 192) {
    if (call.head_dim_v <= 128)
      return launch_attention_sm90_of<AttentionSm90Shape192By128>(call, on);
    return launch_attention_sm90_of<AttentionSm90Shape192>(call, on);
  }
  launch_attention_sm90_of<AttentionSm90Shape256>(call, on);
}

}  // namespace cudaops_kernels
