// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.transpose: schema and kernels of both devices.
#include <torch/csrc/stable/library.h>

#include <vector>

#include "../common/torch_device.h"
#include "../common/torch_rows.h"
#include "transpose.h"

namespace cudaops_kernels {
namespace {

// The distance between matrices; -1 where there is no single one or a row's elements lie apart.
int64_t matrix_stride(const Tensor& tensor) {
  const int64_t last = tensor.dim() - 1;
  if (tensor.size(last) > 1 && tensor.stride(last) != 1) return -1;
  int64_t stride = 0, batches_within = 1;
  for (int64_t dim = last - 2; dim >= 0; --dim) {
    if (tensor.size(dim) == 1) continue;
    if (batches_within == 1) {
      stride = tensor.stride(dim);
    } else if (tensor.stride(dim) != stride * batches_within) {
      return -1;
    }
    batches_within *= tensor.size(dim);
  }
  return stride;
}

template <typename Device>
Tensor transpose(const Tensor& input) {
  const Device device(input);
  const char* const op = "transpose";
  Transpose call{};
  call.dtype = checked_dtype(op, "input", input);
  if (input.dim() < 2) {
    refuse(op, "wanted at least two dimensions for input, found shape " + shape_text(input) + ".");
  }
  const int64_t last = input.dim() - 1;
  std::vector<int64_t> shape;
  call.num_batches = 1;
  for (int64_t dim = 0; dim < last - 1; ++dim) {
    shape.push_back(input.size(dim));
    call.num_batches *= input.size(dim);
  }
  call.num_rows = input.size(last - 1);
  call.num_columns = input.size(last);
  shape.push_back(call.num_columns);
  shape.push_back(call.num_rows);
  const Tensor output = make_empty(input, {shape.data(), shape.size()});
  if (input.numel() == 0) return output;
  call.batch_stride = matrix_stride(input);
  // One row or column has a stride that says nothing, and may be anything.
  call.row_stride = call.num_rows == 1 ? call.num_columns : input.stride(last - 1);
  Tensor matrices = input;
  if (call.batch_stride < 0) {
    matrices = contiguous_copy(op, "input", input);
    call.batch_stride = call.num_rows * call.num_columns;
    call.row_stride = call.num_columns;
  }
  call.input = matrices.const_data_ptr();
  call.output = output.mutable_data_ptr();
  if constexpr (Device::kIsGpu) {
    launch_transpose(call, device.stream());
  } else {
    transpose_cpu(call, torch_threads);
  }
  return output;
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library, "transpose(Tensor input) -> Tensor");
}

CUDAOPS_DEVICE_KERNELS(cudaops, Device, library) {
  implement(library, "transpose", TORCH_BOX(&transpose<Device>));
}

}  // namespace cudaops_kernels
