// SPDX-License-Identifier: Apache-2.0
// rms_norm_quantize on CUDA devices: sizeof(T) + 1 bytes an element, 3 * sizeof(T) + 1 with a
// residual. A row stays in registers from its load to its last byte.
#include "../quantize/quantize_rows.h"
#include "rms_norm_quantize.cuh"

namespace cudaops_kernels {

namespace {

struct GroupsTakeOnePass {
  template <typename T>
  static void run(const RmsNormQuantize& call, bool* take_one_pass) {
    *take_one_pass = groups_take_one_pass<T>(call);
  }
};

bool takes_one_pass(const RmsNormQuantize& call) {
  bool takes_one_pass = is_scale_a_row(call.grid);
  if (!takes_one_pass) for_device_type<GroupsTakeOnePass>(call.norm.dtype, call, &takes_one_pass);
  return takes_one_pass;
}

struct Launch {
  template <typename T>
  static void run(const RmsNormQuantize& call, cudaStream_t stream) {
    launch_rms_norm_quantize_of<T>(call, stream);
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
