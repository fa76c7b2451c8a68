// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.lion_, lamb_ and adamw_8bit_: schemas and kernels of both devices.
#include <torch/csrc/stable/library.h>

#include <cmath>
#include <optional>

#include "../common/torch_device.h"
#include "../common/torch_lists.h"
#include "optimizers.h"

namespace cudaops_kernels {
namespace {

// Lists of one length, each tensor of which goes with that of `self`, and whose memory is apart.
class StepLists {
 public:
  StepLists(const char* op, const TensorList& params, const TensorList& grads)
      : op_(op), params_(params), ranges_(params.size() * 6) {
    check_length(op, "grads", grads, "self", params);
    if (params.empty()) return;
    check_main_list(op, "self", params);
    dtype_ = checked_dtype(op, "self", params[0].tensor());
    const Kind kind(params[0]);
    const int64_t size = size_of(dtype_);
    for (size_t i = 0; i < params.size(); ++i) {
      check_element(op, "grads", i, grads[i], "self", params[i], kind, kind.dtype);
      ranges_.add(params[i].data(), params[i].numel() * size, "self", i);
      ranges_.add(grads[i].data(), grads[i].numel() * size, "grads", i);
    }
  }

  // float32, of the parameters' shapes.
  void add_moments(const char* name, const TensorList& list) {
    check_length(op_, name, list, "self", params_);
    for (size_t i = 0; i < list.size(); ++i) {
      check_element(op_, name, i, list[i], "self", params_[i], Kind(params_[0]),
                    aoti_torch_dtype_float32());
      ranges_.add(list[i].data(), list[i].numel() * 4, name, i);
    }
  }

  // uint8 with a float32 number for each block, or float32 with none.
  void add_states(const char* name, const TensorList& list, const char* scale_name,
                  const TensorList& scales) {
    check_length(op_, name, list, "self", params_);
    check_length(op_, scale_name, scales, "self", params_);
    for (size_t i = 0; i < list.size(); ++i) {
      const bool has_8_bits = Kind(list[i]).dtype == aoti_torch_dtype_uint8();
      check_element(op_, name, i, list[i], "self", params_[i], Kind(params_[0]),
                    has_8_bits ? aoti_torch_dtype_uint8() : aoti_torch_dtype_float32());
      const int64_t wanted = has_8_bits ? (list[i].numel() + kStateBlock - 1) / kStateBlock : 0;
      const Kind kind(scales[i]);
      if (!kind.is_strided() || !kind.same_device(Kind(params_[0])) ||
          kind.dtype != aoti_torch_dtype_float32() || !scales[i].is_contiguous() ||
          scales[i].numel() != wanted) {
        refuse(op_, "wanted " + std::to_string(wanted) + " float32 (Float) numbers on " +
                        device_text(params_[0].tensor()) + " for " + element_text(scale_name, i) +
                        ", one for each " + std::to_string(kStateBlock) + " elements of " +
                        element_text(name, i) + ", found " + dtype_text(scales[i].tensor()) +
                        " of shape " + shape_text(scales[i].tensor()) + " on " +
                        device_text(scales[i].tensor()) + ".");
      }
      ranges_.add(list[i].data(), list[i].numel() * (has_8_bits ? 1 : 4), name, i);
      ranges_.add(scales[i].data(), wanted * 4, scale_name, i);
    }
  }

  void check_apart() { ranges_.check(op_); }
  DType dtype() const { return dtype_; }

 private:
  const char* op_;
  const TensorList& params_;
  MemoryRanges ranges_;
  DType dtype_ = DType::kFloat32;
};

void check_step_numbers(const char* op, double lr, double beta1, double beta2, double weight_decay,
                        double eps) {
  const auto check_beta = [&](const char* name, double beta) {
    (void)checked_number(op, name, beta, beta >= 0 && beta < 1, "a number from 0 to below 1");
  };
  (void)checked_from_zero(op, "lr", lr);
  check_beta("beta1", beta1);
  check_beta("beta2", beta2);
  (void)checked_from_zero(op, "weight_decay", weight_decay);
  (void)checked_from_zero(op, "eps", eps);
}

struct Corrections {
  float of_first, of_second;
};

// Of the moments' bias, with which they begin; steps: how many each tensor has made with this one,
// or none for no correction.
std::vector<Corrections> corrections_of(const char* op, const std::vector<double>& steps,
                                        size_t num_tensors, double beta1, double beta2) {
  if (!steps.empty() && steps.size() != num_tensors) {
    refuse(op, "wanted " + std::to_string(num_tensors) +
                   " numbers for steps, one for each of self, found " +
                   std::to_string(steps.size()) + ".");
  }
  std::vector<Corrections> result(num_tensors, Corrections{1.0f, 1.0f});
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!(steps[i] >= 1)) {
      refuse(op, "wanted numbers from 1 on for steps, found " + number_text(steps[i]) + ".");
    }
    result[i].of_first = static_cast<float>(1 / (1 - std::pow(beta1, steps[i])));
    result[i].of_second = static_cast<float>(1 / std::sqrt(1 - std::pow(beta2, steps[i])));
  }
  return result;
}

template <typename Device>
void lion(TensorList& params, TensorList& grads, TensorList& exp_avgs, double lr, double beta1,
          double beta2, double weight_decay, bool maximize) {
  const char* const op = "lion_";
  StepLists lists(op, params, grads);
  lists.add_moments("exp_avgs", exp_avgs);
  check_step_numbers(op, lr, beta1, beta2, weight_decay, 0);
  if (params.empty()) return;
  lists.check_apart();
  std::vector<LionTensor> tensors;
  for (size_t i = 0; i < params.size(); ++i) {
    tensors.push_back({params[i].data(), grads[i].data(), static_cast<float*>(exp_avgs[i].data()),
                       params[i].numel()});
  }
  const Lion call{lists.dtype(), lr, beta1, beta2, weight_decay, maximize};
  const int64_t count = static_cast<int64_t>(tensors.size());
  if constexpr (Device::kIsGpu) {
    const Tensor param = params[0].tensor();
    const Device device(param);
    const Workspace workspace(param, lion_workspace_bytes(tensors.data(), count));
    launch_lion(call, tensors.data(), count, workspace.data(), device.stream());
  } else {
    lion_cpu(call, tensors.data(), count, torch_threads);
  }
}

template <typename Device>
void lamb(TensorList& params, TensorList& grads, TensorList& exp_avgs, TensorList& exp_avg_sqs,
          const std::vector<double>& steps, double lr, double beta1, double beta2,
          double weight_decay, double eps, bool maximize, const OptionalTensor& clip_factor) {
  const char* const op = "lamb_";
  StepLists lists(op, params, grads);
  lists.add_moments("exp_avgs", exp_avgs);
  lists.add_moments("exp_avg_sqs", exp_avg_sqs);
  check_step_numbers(op, lr, beta1, beta2, weight_decay, eps);
  const std::vector<Corrections> corrections =
      corrections_of(op, steps, params.size(), beta1, beta2);
  if (params.empty()) return;
  lists.check_apart();
  const Tensor param = params[0].tensor();
  const float* const clip = number_pointer(op, "clip_factor", clip_factor, "self", param);
  std::vector<LambTensor> tensors;
  for (size_t i = 0; i < params.size(); ++i) {
    tensors.push_back({params[i].data(), grads[i].data(), static_cast<float*>(exp_avgs[i].data()),
                       static_cast<float*>(exp_avg_sqs[i].data()), params[i].numel(),
                       corrections[i].of_first, corrections[i].of_second});
  }
  const Lamb call{lists.dtype(), lr, beta1, beta2, weight_decay, eps, maximize, clip};
  const int64_t count = static_cast<int64_t>(tensors.size());
  if constexpr (Device::kIsGpu) {
    const Device device(param);
    const Workspace workspace(param, lamb_workspace_bytes(tensors.data(), count));
    launch_lamb(call, tensors.data(), count, workspace.data(), device.stream());
  } else {
    lamb_cpu(call, tensors.data(), count, torch_threads);
  }
}

template <typename Device>
void adamw_8bit(TensorList& params, TensorList& grads, TensorList& state1, TensorList& absmax1,
                TensorList& state2, TensorList& absmax2, const std::vector<double>& steps,
                const Tensor& levels1, const Tensor& levels2, double lr, double beta1, double beta2,
                double weight_decay, double eps, bool maximize) {
  const char* const op = "adamw_8bit_";
  StepLists lists(op, params, grads);
  lists.add_states("state1", state1, "absmax1", absmax1);
  lists.add_states("state2", state2, "absmax2", absmax2);
  check_step_numbers(op, lr, beta1, beta2, weight_decay, eps);
  const std::vector<Corrections> corrections =
      corrections_of(op, steps, params.size(), beta1, beta2);
  if (params.empty()) return;
  lists.check_apart();
  const Tensor param = params[0].tensor();
  const auto levels_of = [&](const char* name, const Tensor& levels) {
    if (!Kind(levels).same_device(Kind(param)) || levels.numel() != kLevels ||
        Kind(levels).dtype != aoti_torch_dtype_float32() || !levels.is_contiguous()) {
      refuse(op, std::string("wanted 256 float32 (Float) numbers where self is for ") + name +
                     ", found " + dtype_text(levels) + " of shape " + shape_text(levels) + ".");
    }
    return static_cast<const float*>(levels.const_data_ptr());
  };
  const AdamW8bit call{lists.dtype(),
                       lr,
                       beta1,
                       beta2,
                       weight_decay,
                       eps,
                       maximize,
                       levels_of("levels1", levels1),
                       levels_of("levels2", levels2)};
  std::vector<AdamW8bitTensor> tensors;
  for (size_t i = 0; i < params.size(); ++i) {
    const auto scales = [&](const TensorList& states, const TensorList& list) {
      const bool has_8_bits = Kind(states[i]).dtype == aoti_torch_dtype_uint8();
      return has_8_bits ? static_cast<float*>(list[i].data()) : nullptr;
    };
    const AdamW8bitTensor tensor{
        params[i].data(),        grads[i].data(),         state1[i].data(),
        scales(state1, absmax1), state2[i].data(),        scales(state2, absmax2),
        params[i].numel(),       corrections[i].of_first, corrections[i].of_second};
    if ((tensor.absmax1 == nullptr) != (tensor.absmax2 == nullptr)) {
      refuse(op, "wanted one dtype for " + element_text("state1", i) + " and " +
                     element_text("state2", i) + ", found " + dtype_text(state1[i].tensor()) +
                     " and " + dtype_text(state2[i].tensor()) + ".");
    }
    tensors.push_back(tensor);
  }
  const int64_t count = static_cast<int64_t>(tensors.size());
  if constexpr (Device::kIsGpu) {
    const Device device(param);
    const Workspace workspace(param, adamw_8bit_workspace_bytes(tensors.data(), count));
    launch_adamw_8bit(call, tensors.data(), count, workspace.data(), device.stream());
  } else {
    adamw_8bit_cpu(call, tensors.data(), count, torch_threads);
  }
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  library.def(
      "lion_(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] exp_avgs, *, float lr, float beta1, "
      "float beta2, float weight_decay, bool maximize=False) -> ()");
  library.def(
      "lamb_(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, "
      "float[] steps, *, float lr, float beta1, float beta2, float weight_decay, float eps, "
      "bool maximize=False, Tensor? clip_factor=None) -> ()");
  library.def(
      "adamw_8bit_(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] state1, Tensor(c!)[] absmax1, "
      "Tensor(d!)[] state2, Tensor(e!)[] absmax2, float[] steps, Tensor levels1, Tensor levels2, "
      "*, float lr, float beta1, float beta2, float weight_decay, float eps, "
      "bool maximize=False) -> ()");
}

CUDAOPS_DEVICE_KERNELS(cudaops, Device, library) {
  library.impl("lion_", TORCH_BOX(&lion<Device>));
  library.impl("lamb_", TORCH_BOX(&lamb<Device>));
  library.impl("adamw_8bit_", TORCH_BOX(&adamw_8bit<Device>));
}

}  // namespace cudaops_kernels
