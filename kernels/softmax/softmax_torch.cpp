// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.softmax and softmax_backward: schemas and kernels of both devices.
#include <torch/csrc/stable/library.h>

#include "../common/torch_device.h"
#include "../common/torch_rows.h"
#include "softmax.h"

namespace cudaops_kernels {
namespace {

// The queries of causal attention: the rows of the last two dimensions.
int64_t causal_queries(const char* op, const char* name, const Tensor& tensor, bool causal) {
  if (!causal) return 0;
  if (tensor.dim() < 2) {
    refuse(op, std::string("wanted at least two dimensions, [queries, keys], for ") + name +
                   " with causal=True, found shape " + shape_text(tensor) + ".");
  }
  return tensor.size(tensor.dim() - 2);
}

// Dimensions of the mask's rows as those of the input's are, innermost first, neighbours made one
// where they can be; whether they are few enough.
bool set_mask_dims(const Tensor& mask, const Tensor& input, SoftmaxMask& result) {
  result.num_dims = 0;
  const int64_t missing = input.dim() - mask.dim();
  for (int64_t dim = input.dim() - 2; dim >= 0; --dim) {
    const int64_t size = input.size(dim);
    if (size == 1) continue;
    const int64_t own = dim - missing;
    const int64_t stride = own < 0 || mask.size(own) == 1 ? 0 : mask.stride(own);
    const int last = result.num_dims - 1;
    if (last >= 0 && stride == result.strides[last] * result.sizes[last]) {
      result.sizes[last] *= size;
      continue;
    }
    if (result.num_dims == SoftmaxMask::kMaxDims) return false;
    result.sizes[result.num_dims] = size;
    result.strides[result.num_dims] = stride;
    ++result.num_dims;
  }
  return true;
}

// `kept` is what the mask's data belongs to.
SoftmaxMask softmax_mask(const char* op, const OptionalTensor& mask, const Tensor& input,
                         OptionalTensor& kept) {
  SoftmaxMask result{};
  if (!mask.has_value()) return result;
  check_device(op, "input", input, "mask", *mask);
  if (mask->scalar_type() == torch::headeronly::ScalarType::Bool) {
    result.kind = SoftmaxMask::Kind::kSeen;
  } else if (mask->scalar_type() == input.scalar_type() ||
             mask->scalar_type() == torch::headeronly::ScalarType::Float) {
    result.kind = SoftmaxMask::Kind::kAdded;
    result.dtype = checked_dtype(op, "mask", *mask);
  } else {
    refuse(op, std::string("wanted bool, input's dtype or float32 (Float) for mask, found ") +
                   torch::headeronly::toString(mask->scalar_type()) + ".");
  }
  bool fits = mask->dim() > 0 && mask->dim() <= input.dim() &&
              mask->size(mask->dim() - 1) == input.size(input.dim() - 1);
  for (int64_t dim = 0; fits && dim < mask->dim(); ++dim) {
    const int64_t size = mask->size(dim);
    fits = size == 1 || size == input.size(input.dim() - mask->dim() + dim);
  }
  if (!fits) {
    refuse(op, "wanted a mask of input's last dimension whose others broadcast to input's shape " +
                   shape_text(input) + ", found shape " + shape_text(*mask) + ".");
  }
  const int64_t last = mask->dim() - 1;
  kept =
      mask->size(last) > 1 && mask->stride(last) != 1 ? contiguous_copy(op, "mask", *mask) : *mask;
  if (!set_mask_dims(*kept, input, result)) {
    refuse(op, "wanted a mask that is broadcast in fewer dimensions, found shape " +
                   shape_text(*mask) + " for input's " + shape_text(input) + ".");
  }
  result.data = kept->const_data_ptr();
  return result;
}

template <typename Device>
Tensor softmax(const Tensor& input, const OptionalTensor& mask, double scale, bool causal) {
  const Device device(input);
  const char* const op = "softmax";
  Softmax call{};
  call.dtype = checked_dtype(op, "input", input);
  const TensorRows rows = rows_of(op, "input", input);
  call.num_queries = causal_queries(op, "input", input, causal);
  call.scale = checked_finite(op, "scale", scale);
  OptionalTensor kept;
  call.mask = softmax_mask(op, mask, input, kept);
  const Tensor output = empty_of_shape(input);
  call.num_rows = rows.num_rows;
  call.width = rows.width;
  call.input = rows.read();
  call.output = {output.mutable_data_ptr(), rows.width};
  if constexpr (Device::kIsGpu) {
    launch_softmax(call, device.stream());
  } else {
    softmax_cpu(call, torch_threads);
  }
  return output;
}

template <typename Device>
Tensor softmax_backward(const Tensor& grad_output, const Tensor& output, double scale,
                        bool causal) {
  const Device device(output);
  const char* const op = "softmax_backward";
  SoftmaxBackward call{};
  call.dtype = checked_dtype(op, "grad_output", grad_output);
  check_same(op, "grad_output", grad_output, "output", output);
  const TensorRows grad_rows = rows_of(op, "grad_output", grad_output);
  const TensorRows rows = rows_of(op, "output", output);
  call.num_queries = causal_queries(op, "output", output, causal);
  call.scale = checked_finite(op, "scale", scale);
  const Tensor grad_input = empty_of_shape(output);
  call.num_rows = rows.num_rows;
  call.width = rows.width;
  call.grad_output = grad_rows.read();
  call.output = rows.read();
  call.grad_input = {grad_input.mutable_data_ptr(), rows.width};
  if constexpr (Device::kIsGpu) {
    launch_softmax_backward(call, device.stream());
  } else {
    softmax_backward_cpu(call, torch_threads);
  }
  return grad_input;
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library,
         "softmax(Tensor input, Tensor? mask=None, float scale=1, bool causal=False) -> Tensor");
  define(library,
         "softmax_backward(Tensor grad_output, Tensor output, float scale=1, bool causal=False) "
         "-> Tensor");
}

CUDAOPS_DEVICE_KERNELS(cudaops, Device, library) {
  implement(library, "softmax", TORCH_BOX(&softmax<Device>));
  implement(library, "softmax_backward", TORCH_BOX(&softmax_backward<Device>));
}

}  // namespace cudaops_kernels
