// SPDX-License-Identifier: Apache-2.0
// rms_norm_quantize on CUDA devices: sizeof(T) + 1 bytes an element, 3 * sizeof(T) + 1 with a
// residual. A row stays in registers from its load to its last byte.
#include "../quantize/quantize_rows.h"
#include "rms_norm_quantize.cuh"

namespace cudaops_kernels {

#if defined(CUDAOPS_KERNELS_SHARDED)
extern template void launch_rms_norm_quantize_of<float>(const RmsNormQuantize&, int, cudaStream_t);
extern template void launch_rms_norm_quantize_of<__half>(const RmsNormQuantize&, int, cudaStream_t);
extern template void launch_rms_norm_quantize_of<bfloat16>(const RmsNormQuantize&, int,
                                                           cudaStream_t);
#endif

namespace {

struct IsAligned {
  template <typename T>
  static void run(const RmsNormQuantize& call, bool* is_aligned) {
    *is_aligned = rms_norm_is_aligned<T>(call.norm) &&
                  bytes_are_aligned<T>(call.output.data, call.output.stride);
  }
};

// Vectors a group, where groups can be quantised in one pass; else 0.
int lanes_a_group(const RmsNormQuantize& call) {
  bool are_whole = call.grid.width % call.grid.block_columns == 0;
  if (are_whole) for_device_type<IsAligned>(call.norm.dtype, call, &are_whole);
  return are_whole ? lanes_of(call.norm.dtype, call.grid.block_columns) : 0;
}

bool takes_one_pass(const RmsNormQuantize& call) {
  return is_scale_a_row(call.grid) || lanes_a_group(call) > 0;
}

struct Launch {
  template <typename T>
  static void run(const RmsNormQuantize& call, cudaStream_t stream) {
    launch_rms_norm_quantize_of<T>(call, lanes_a_group(call), stream);
  }
};

}  // namespace

int64_t rms_norm_quantize_workspace_bytes(const RmsNormQuantize& call) {
  if (takes_one_pass(call)) return 0;
  return call.norm.num_rows * call.norm.width * size_of(call.norm.dtype);
}

void launch_rms_norm_quantize(const RmsNormQuantize& call, void* workspace, void* stream) {
  if (call.grid.num_blocks() == 0) return;
  if (takes_one_pass(call)) {
    for_device_type<Launch>(call.norm.dtype, call, static_cast<cudaStream_t>(stream));
    return;
  }
  RmsNorm norm = call.norm;
  norm.output = {workspace, norm.width};
  launch_rms_norm(norm, stream);
  launch_quantize(quantize_of_rows(call, norm.dtype, workspace), stream);
}

}  // namespace cudaops_kernels
