// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.cross_entropy and its relatives: schemas and kernels of both devices.
#include <torch/csrc/stable/library.h>

#include <cmath>
#include <string>
#include <tuple>

#include "../common/torch_device.h"
#include "../common/torch_memory.h"
#include "../common/torch_rows.h"
#include "cross_entropy.h"

namespace cudaops_kernels {
namespace {

// The arguments that all of them have.
struct CrossEntropyOptions {
  int64_t ignore_index;
  double label_smoothing, lse_square_scale, softcap;
  const std::string& reduction;
};

Reduction reduction_of(const char* op, const std::string& reduction) {
  if (reduction == "none") return Reduction::kNone;
  if (reduction == "mean") return Reduction::kMean;
  if (reduction == "sum") return Reduction::kSum;
  refuse(op, "wanted \"none\", \"mean\" or \"sum\" for reduction, found \"" + reduction + "\".");
}

// Logits and targets with what they belong to.
struct CrossEntropyInputs {
  TensorRows rows;
  Tensor target;
  CrossEntropyProblem problem;
};

CrossEntropyInputs cross_entropy_inputs(const char* op, const Tensor& logits, const Tensor& target,
                                        const CrossEntropyOptions& options) {
  using torch::headeronly::ScalarType;
  CrossEntropyProblem problem{};
  problem.dtype = checked_dtype(op, "logits", logits);
  const TensorRows rows = rows_of(op, "logits", logits);
  check_device(op, "logits", logits, "target", target);
  if (target.scalar_type() != ScalarType::Long && target.scalar_type() != ScalarType::Int) {
    refuse(op, std::string("wanted int64 (Long) or int32 (Int) for target, found ") +
                   torch::headeronly::toString(target.scalar_type()) + ".");
  }
  bool fits = target.dim() == logits.dim() - 1;
  for (int64_t dim = 0; fits && dim < target.dim(); ++dim) {
    fits = target.size(dim) == logits.size(dim);
  }
  if (!fits) {
    refuse(op, "wanted logits' shape without the last dimension for target, found " +
                   shape_text(target) + " for logits' " + shape_text(logits) + ".");
  }
  if (rows.width == 0 && rows.num_rows > 0) {
    refuse(op, "wanted at least one class in logits, found shape " + shape_text(logits) + ".");
  }
  problem.num_rows = rows.num_rows;
  problem.num_classes = rows.width;
  problem.logits = rows.read();
  problem.target_is_int32 = target.scalar_type() == ScalarType::Int;
  problem.ignore_index = options.ignore_index;
  const double smoothing = options.label_smoothing;
  problem.label_smoothing =
      checked_number(op, "label_smoothing", smoothing, smoothing >= 0 && smoothing <= 1, "0 to 1");
  problem.lse_square_scale = checked_finite(op, "lse_square_scale", options.lse_square_scale);
  const float softcap = static_cast<float>(options.softcap);
  problem.softcap = checked_number(op, "softcap", options.softcap,
                                   std::isnormal(softcap) ? softcap > 0 : options.softcap == 0,
                                   "a positive float32 number, or 0 for none,");
  problem.reduction = reduction_of(op, options.reduction);
  const Tensor contiguous_target = as_contiguous(op, "target", target);
  problem.target = contiguous_target.const_data_ptr();
  if (target.is_cpu()) {
    const int64_t wrong = cross_entropy_find_wrong_target(problem);
    if (wrong >= 0) {
      refuse(op, "wanted classes from 0 to " + std::to_string(problem.num_classes - 1) +
                     " or ignore_index " + std::to_string(problem.ignore_index) +
                     " in target, found " + std::to_string(target_of(problem, wrong)) +
                     " for row " + std::to_string(wrong) + ".");
    }
  }
  return {rows, contiguous_target, problem};
}

// float32, of the target's shape or, if reduced, of none.
Tensor empty_loss(const Tensor& logits, const Tensor& target, Reduction reduction) {
  using torch::headeronly::ScalarType;
  if (reduction == Reduction::kNone) {
    return make_empty(logits, target.sizes(), ScalarType::Float);
  }
  return make_empty(logits, {}, ScalarType::Float);
}

template <typename Device>
std::tuple<Tensor, Tensor> cross_entropy_forward(const Device& device, CrossEntropyInputs& inputs,
                                                 const Tensor& logits, Rows grad_logits) {
  using torch::headeronly::ScalarType;
  const Reduction reduction = inputs.problem.reduction;
  const Tensor loss = empty_loss(logits, inputs.target, reduction);
  const Tensor lse = make_empty(logits, inputs.target.sizes(), ScalarType::Float);
  const Tensor row_loss = reduction == Reduction::kNone
                              ? loss
                              : make_empty(logits, {inputs.rows.num_rows}, ScalarType::Float);
  CrossEntropy call{};
  call.problem = inputs.problem;
  call.row_loss = static_cast<float*>(row_loss.mutable_data_ptr());
  call.lse = static_cast<float*>(lse.mutable_data_ptr());
  call.loss = static_cast<float*>(loss.mutable_data_ptr());
  call.grad_logits = grad_logits;
  if constexpr (Device::kIsGpu) {
    const Workspace workspace(logits, cross_entropy_workspace_bytes());
    launch_cross_entropy(call, workspace.data(), device.stream());
  } else {
    cross_entropy_cpu(call, torch_threads);
  }
  return {loss, lse};
}

template <typename Device>
std::tuple<Tensor, Tensor> cross_entropy(const Tensor& logits, const Tensor& target,
                                         int64_t ignore_index, double label_smoothing,
                                         double lse_square_scale, double softcap,
                                         const std::string& reduction) {
  const Device device(logits);
  CrossEntropyInputs inputs =
      cross_entropy_inputs("cross_entropy", logits, target,
                           {ignore_index, label_smoothing, lse_square_scale, softcap, reduction});
  return cross_entropy_forward(device, inputs, logits, {nullptr, 0});
}

// logits become the gradient of the loss.
template <typename Device>
std::tuple<Tensor, Tensor> cross_entropy_in_place(Tensor logits, const Tensor& target,
                                                  int64_t ignore_index, double label_smoothing,
                                                  double lse_square_scale, double softcap,
                                                  const std::string& reduction) {
  const Device device(logits);
  const char* const op = "cross_entropy_";
  CrossEntropyInputs inputs = cross_entropy_inputs(
      op, logits, target, {ignore_index, label_smoothing, lse_square_scale, softcap, reduction});
  check_writable(op, "logits", logits);
  check_apart(op, "logits", logits, "target", target);
  const auto result = cross_entropy_forward(device, inputs, logits, inputs.rows.write());
  write_back(logits, inputs.rows.tensor);
  return result;
}

template <typename Device>
Tensor cross_entropy_backward(const Tensor& grad_loss, const Tensor& logits, const Tensor& target,
                              const Tensor& lse, int64_t ignore_index, double label_smoothing,
                              double lse_square_scale, double softcap,
                              const std::string& reduction) {
  const Device device(logits);
  const char* const op = "cross_entropy_backward";
  const CrossEntropyInputs inputs = cross_entropy_inputs(
      op, logits, target, {ignore_index, label_smoothing, lse_square_scale, softcap, reduction});
  const int64_t num_rows = inputs.rows.num_rows;
  const bool one_a_row = inputs.problem.reduction == Reduction::kNone;
  const Tensor contiguous_grad =
      per_row(op, "grad_loss", grad_loss, "logits", logits, one_a_row ? num_rows : 1);
  const Tensor contiguous_lse = per_row(op, "lse", lse, "logits", logits, num_rows);
  const Tensor grad_logits = empty_of_shape(logits);
  CrossEntropyBackward call{};
  call.problem = inputs.problem;
  call.grad_loss = static_cast<const float*>(contiguous_grad.const_data_ptr());
  call.lse = static_cast<const float*>(contiguous_lse.const_data_ptr());
  call.grad_logits = {grad_logits.mutable_data_ptr(), inputs.rows.width};
  if constexpr (Device::kIsGpu) {
    const Workspace workspace(logits, cross_entropy_workspace_bytes());
    launch_cross_entropy_backward(call, workspace.data(), device.stream());
  } else {
    cross_entropy_backward_cpu(call, torch_threads);
  }
  return grad_logits;
}

template <typename Device>
void cross_entropy_scale(Tensor grad_logits, const Tensor& grad_loss) {
  const Device device(grad_logits);
  const char* const op = "cross_entropy_scale_";
  CrossEntropyScale call{};
  call.dtype = checked_dtype(op, "grad_logits", grad_logits);
  const TensorRows rows = rows_of(op, "grad_logits", grad_logits);
  call.one_a_row = grad_loss.numel() != 1;
  const Tensor contiguous_grad = per_row(op, "grad_loss", grad_loss, "grad_logits", grad_logits,
                                         call.one_a_row ? rows.num_rows : 1);
  check_writable(op, "grad_logits", grad_logits);
  check_apart(op, "grad_logits", grad_logits, "grad_loss", grad_loss);
  call.num_rows = rows.num_rows;
  call.num_classes = rows.width;
  call.grad_logits = rows.write();
  call.grad_loss = static_cast<const float*>(contiguous_grad.const_data_ptr());
  if constexpr (Device::kIsGpu) {
    launch_cross_entropy_scale(call, device.stream());
  } else {
    cross_entropy_scale_cpu(call, torch_threads);
  }
  write_back(grad_logits, rows.tensor);
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  define(library,
         "cross_entropy(Tensor logits, Tensor target, int ignore_index=-100, "
         "float label_smoothing=0, float lse_square_scale=0, float softcap=0, "
         "str reduction=\"mean\") -> (Tensor loss, Tensor lse)");
  library.def(
      "cross_entropy_(Tensor(a!) logits, Tensor target, int ignore_index=-100, "
      "float label_smoothing=0, float lse_square_scale=0, float softcap=0, "
      "str reduction=\"mean\") -> (Tensor loss, Tensor lse)");
  define(library,
         "cross_entropy_backward(Tensor grad_loss, Tensor logits, Tensor target, Tensor lse, "
         "int ignore_index=-100, float label_smoothing=0, float lse_square_scale=0, "
         "float softcap=0, str reduction=\"mean\") -> Tensor");
  library.def("cross_entropy_scale_(Tensor(a!) grad_logits, Tensor grad_loss) -> ()");
}

CUDAOPS_DEVICE_KERNELS(cudaops, Device, library) {
  implement(library, "cross_entropy", TORCH_BOX(&cross_entropy<Device>));
  library.impl("cross_entropy_", TORCH_BOX(&cross_entropy_in_place<Device>));
  implement(library, "cross_entropy_backward", TORCH_BOX(&cross_entropy_backward<Device>));
  library.impl("cross_entropy_scale_", TORCH_BOX(&cross_entropy_scale<Device>));
}

}  // namespace cudaops_kernels
