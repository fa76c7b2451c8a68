// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.adamw_ and its relatives: schemas and kernels of both devices.
#include <torch/csrc/stable/library.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "../common/torch_device.h"
#include "../common/torch_lists.h"
#include "adamw.h"

namespace cudaops_kernels {
namespace {

// What all tensors of a step have in common, as it comes from torch.
struct AdamWArguments {
  double lr;
  OptionalTensor lr_tensor;
  double beta1;
  double beta2;
  double weight_decay;
  double eps;
  bool maximize;
  OptionalTensor grad_scale;
  OptionalTensor found_inf;
  OptionalTensor clip_factor;
};

// The lists that a step changes, but for the gradients.
struct AdamWState {
  TensorList params;
  TensorList exp_avgs;
  TensorList exp_avg_sqs;
  TensorList steps;
  TensorList masters;  // or none
};

// From a call's arguments, which torch has made for it: they are moved, not copied.
AdamWState taken(TensorList& params, TensorList& exp_avgs, TensorList& exp_avg_sqs,
                 TensorList& steps, TensorList& masters) {
  return {std::move(params), std::move(exp_avgs), std::move(exp_avg_sqs), std::move(steps),
          std::move(masters)};
}

AdamW adamw_call(const char* op, const AdamWArguments& arguments, const AdamWState& state) {
  const Tensor param = state.params[0].tensor();
  const auto pointer = [&](const char* name, const OptionalTensor& tensor) {
    return number_pointer(op, name, tensor, "self", param);
  };
  AdamW call{};
  call.dtype = checked_dtype(op, "self", param);
  call.has_master = !state.masters.empty();
  call.lr = arguments.lr;
  const OptionalTensor& lr = arguments.lr_tensor;
  if (lr.has_value() && lr->is_cpu() && lr->numel() == 1) {
    // As torch does it: the number of now, also in a graph.
    const bool is_double = Kind(*lr).dtype == aoti_torch_dtype_float64();
    call.lr = is_double ? *static_cast<const double*>(lr->const_data_ptr())
                        : *number_pointer(op, "lr", lr, "lr", *lr);
  } else {
    call.lr_pointer = pointer("lr", lr);
  }
  if (call.lr_pointer == nullptr) (void)checked_from_zero(op, "lr", call.lr);
  const auto check_beta = [&](const char* name, double beta) {
    (void)checked_number(op, name, beta, beta >= 0 && beta < 1, "a number from 0 to below 1");
  };
  check_beta("beta1", arguments.beta1);
  check_beta("beta2", arguments.beta2);
  (void)checked_from_zero(op, "weight_decay", arguments.weight_decay);
  (void)checked_from_zero(op, "eps", arguments.eps);
  call.beta1 = arguments.beta1;
  call.beta2 = arguments.beta2;
  call.weight_decay = arguments.weight_decay;
  call.eps = arguments.eps;
  call.maximize = arguments.maximize;
  call.grad_scale = pointer("grad_scale", arguments.grad_scale);
  call.found_inf = pointer("found_inf", arguments.found_inf);
  call.clip_factor = pointer("clip_factor", arguments.clip_factor);
  return call;
}

float* float_data(const ListedTensor& tensor) { return static_cast<float*>(tensor.data()); }

// Tensor i of the lists as the launcher wants it, unchecked.
AdamWTensor adamw_tensor(const AdamWState& state, const TensorList& grads, size_t i) {
  return {state.params[i].data(),
          grads[i].data(),
          float_data(state.exp_avgs[i]),
          float_data(state.exp_avg_sqs[i]),
          state.masters.empty() ? nullptr : float_data(state.masters[i]),
          float_data(state.steps[i]),
          state.params[i].numel()};
}

// All of the lists, checked.
std::vector<AdamWTensor> adamw_tensors(const char* op, const AdamWState& state,
                                       const TensorList& grads) {
  const TensorList& params = state.params;
  const bool has_master = !state.masters.empty();
  check_length(op, "grads", grads, "self", params);
  check_length(op, "exp_avgs", state.exp_avgs, "self", params);
  check_length(op, "exp_avg_sqs", state.exp_avg_sqs, "self", params);
  check_length(op, "state_steps", state.steps, "self", params);
  if (has_master) check_length(op, "master_params", state.masters, "self", params);
  if (params.empty()) return {};
  check_main_list(op, "self", params);
  const DType dtype = checked_dtype(op, "self", params[0].tensor());
  if (has_master && dtype == DType::kFloat32) {
    refuse(op, "wanted no master_params, as self has dtype Float, found " +
                   std::to_string(state.masters.size()) + ".");
  }
  const int32_t float32 = aoti_torch_dtype_float32();
  const Kind kind(params[0]);
  MemoryRanges ranges(params.size() * 5);
  std::vector<AdamWTensor> tensors;
  tensors.reserve(params.size());
  for (size_t i = 0; i < params.size(); ++i) {
    const auto check = [&](const char* name, const TensorList& list, int32_t wanted) {
      check_element(op, name, i, list[i], "self", params[i], kind, wanted);
    };
    check("grads", grads, kind.dtype);
    check("exp_avgs", state.exp_avgs, float32);
    check("exp_avg_sqs", state.exp_avg_sqs, float32);
    if (has_master) check("master_params", state.masters, float32);
    const Kind step_kind(state.steps[i]);
    if (!step_kind.is_strided() || !step_kind.same_device(kind) || step_kind.dtype != float32 ||
        state.steps[i].numel() != 1) {
      check_number(op, element_text("state_steps", i), state.steps[i].tensor(), "self",
                   params[0].tensor());
    }
    const AdamWTensor tensor = adamw_tensor(state, grads, i);
    const int64_t bytes = tensor.num_elements * size_of(dtype);
    ranges.add(tensor.param, bytes, "self", i);
    ranges.add(tensor.grad, bytes, "grads", i);
    ranges.add(tensor.exp_avg, tensor.num_elements * 4, "exp_avgs", i);
    ranges.add(tensor.exp_avg_sq, tensor.num_elements * 4, "exp_avg_sqs", i);
    if (has_master) ranges.add(tensor.master, tensor.num_elements * 4, "master_params", i);
    tensors.push_back(tensor);
  }
  ranges.check(op);
  return tensors;
}

// No number that a call reads is part of what it writes.
void check_numbers_apart(const char* op, const AdamWArguments& arguments, DType dtype,
                         const std::vector<AdamWTensor>& tensors) {
  const auto check = [&](const char* name, const OptionalTensor& number) {
    if (!number.has_value()) return;
    const uintptr_t begin = reinterpret_cast<uintptr_t>(number->const_data_ptr());
    const uintptr_t end = begin + static_cast<uintptr_t>(number->element_size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      const auto check_array = [&](const char* list, const void* data, int64_t size) {
        const uintptr_t first = reinterpret_cast<uintptr_t>(data);
        const uintptr_t bytes = static_cast<uintptr_t>(tensors[i].num_elements * size);
        if (bytes == 0 || data == nullptr || end <= first || begin >= first + bytes) return;
        refuse(op, std::string("wanted tensors that don't share memory, found that ") + name +
                       " and " + element_text(list, i) + " do.");
      };
      check_array("self", tensors[i].param, size_of(dtype));
      check_array("grads", tensors[i].grad, size_of(dtype));
      check_array("exp_avgs", tensors[i].exp_avg, 4);
      check_array("exp_avg_sqs", tensors[i].exp_avg_sq, 4);
      check_array("master_params", tensors[i].master, 4);
    }
  };
  check("lr", arguments.lr_tensor);
  check("grad_scale", arguments.grad_scale);
  check("found_inf", arguments.found_inf);
  check("clip_factor", arguments.clip_factor);
}

template <typename Device>
void adamw_on(const AdamWState& state, const TensorList& grads, const TensorList& max_exp_avg_sqs,
              bool amsgrad, const AdamWArguments& arguments) {
  const char* const op = "adamw_";
  if (amsgrad || !max_exp_avg_sqs.empty()) {
    refuse(op, "wanted amsgrad False and no max_exp_avg_sqs, found " +
                   std::string(amsgrad ? "True" : "False") + " and " +
                   std::to_string(max_exp_avg_sqs.size()) + " tensors.");
  }
  const std::vector<AdamWTensor> tensors = adamw_tensors(op, state, grads);
  if (tensors.empty()) return;
  const AdamW call = adamw_call(op, arguments, state);
  check_numbers_apart(op, arguments, call.dtype, tensors);
  const int64_t count = static_cast<int64_t>(tensors.size());
  if constexpr (Device::kIsGpu) {
    const Tensor param = state.params[0].tensor();
    const Device device(param, op);
    const Workspace workspace(param, adamw_workspace_bytes(count));
    launch_adamw(call, tensors.data(), count, workspace.data(), device.stream());
  } else {
    adamw_cpu(call, tensors.data(), count, torch_threads);
  }
}

template <typename Device>
void adamw(TensorList& self, TensorList& grads, TensorList& exp_avgs, TensorList& exp_avg_sqs,
           TensorList& max_exp_avg_sqs, TensorList& state_steps, TensorList& master_params,
           double lr, double beta1, double beta2, double weight_decay, double eps, bool amsgrad,
           bool maximize, const OptionalTensor& grad_scale, const OptionalTensor& found_inf,
           const OptionalTensor& clip_factor) {
  adamw_on<Device>(
      taken(self, exp_avgs, exp_avg_sqs, state_steps, master_params), grads, max_exp_avg_sqs,
      amsgrad,
      {lr, {}, beta1, beta2, weight_decay, eps, maximize, grad_scale, found_inf, clip_factor});
}

template <typename Device>
void adamw_tensor_lr(TensorList& self, TensorList& grads, TensorList& exp_avgs,
                     TensorList& exp_avg_sqs, TensorList& max_exp_avg_sqs, TensorList& state_steps,
                     TensorList& master_params, const Tensor& lr, double beta1, double beta2,
                     double weight_decay, double eps, bool amsgrad, bool maximize,
                     const OptionalTensor& grad_scale, const OptionalTensor& found_inf,
                     const OptionalTensor& clip_factor) {
  adamw_on<Device>(
      taken(self, exp_avgs, exp_avg_sqs, state_steps, master_params), grads, max_exp_avg_sqs,
      amsgrad,
      {0, lr, beta1, beta2, weight_decay, eps, maximize, grad_scale, found_inf, clip_factor});
}

// A list that is used again and again: all but the gradients stays here, and what a step asks of it
// is whether it is where it was.
struct PreparedAdamW {
  AdamWState state;
  int32_t dtype = 0;                 // of the parameters as they were prepared
  std::vector<AdamWTensor> tensors;  // of the last step
  // On a device: the same there, written on this stream; none after a change.
  std::optional<Tensor> table_memory;
  AdamWTable table{};
  void* stream = nullptr;
};

// By number, because torch's stable ABI has no type for it.
class PreparedAdamWs {
 public:
  static PreparedAdamWs& all() {
    static PreparedAdamWs* const result = new PreparedAdamWs;  // outlives torch's own end
    return *result;
  }
  int64_t add(std::unique_ptr<PreparedAdamW> prepared) {
    const std::lock_guard<std::mutex> lock(mutex_);
    prepared_[++last_] = std::move(prepared);
    return last_;
  }
  PreparedAdamW& get(const char* op, int64_t number) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = prepared_.find(number);
    if (found == prepared_.end()) {
      refuse(op, "wanted a prepared list, found the number " + std::to_string(number) + ".");
    }
    return *found->second;
  }
  void release(int64_t number) {
    // The tensors go after the lock: the end of a Python object may release another list.
    std::unique_ptr<PreparedAdamW> released;
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = prepared_.find(number);
    if (found == prepared_.end()) return;
    released = std::move(found->second);
    prepared_.erase(found);
  }

 private:
  std::mutex mutex_;
  std::map<int64_t, std::unique_ptr<PreparedAdamW>> prepared_;
  int64_t last_ = 0;
};

bool same_arrays(const AdamWTensor& a, const AdamWTensor& b) {
  return a.param == b.param && a.grad == b.grad && a.exp_avg == b.exp_avg &&
         a.exp_avg_sq == b.exp_avg_sq && a.master == b.master && a.step == b.step &&
         a.num_elements == b.num_elements;
}

// Whether every array is where it was at the last step, and the gradients, which others make, are
// still what was checked. Of those torch itself asks the parameter's shape.
bool is_unchanged(const PreparedAdamW& prepared, const TensorList& grads) {
  const TensorList& params = prepared.state.params;
  if (grads.empty() || grads.size() != prepared.tensors.size()) return false;
  const int32_t dtype = Kind(params[0]).dtype;
  if (dtype != prepared.dtype) return false;
  const int32_t strided = aoti_torch_layout_strided();
  for (size_t i = 0; i < grads.size(); ++i) {
    int32_t layout = 0, grad_dtype = 0;
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_layout(grads[i].get(), &layout));
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(grads[i].get(), &grad_dtype));
    if (layout != strided || grad_dtype != dtype) return false;
    if (!same_arrays(prepared.tensors[i], adamw_tensor(prepared.state, grads, i))) return false;
    if (grads[i].numel() != prepared.tensors[i].num_elements) return false;
    if (!same_order(grads[i], params[i])) return false;
  }
  return true;
}

// A list with the arrays of this step, checked where they aren't those of the last one.
PreparedAdamW& checked_prepared(const char* op, int64_t number, const TensorList& grads) {
  PreparedAdamW& prepared = PreparedAdamWs::all().get(op, number);
  if (!is_unchanged(prepared, grads)) {
    prepared.tensors.clear();  // also where the new ones are refused
    prepared.table_memory.reset();
    const TensorList& params = prepared.state.params;
    // With another dtype there may be master parameters to add, or to leave out.
    if (!params.empty() && Kind(params[0]).dtype != prepared.dtype) {
      refuse(op, "wanted " + element_text("self", 0) + " of the dtype that was prepared, found " +
                     dtype_text(params[0].tensor()) + ".");
    }
    prepared.tensors = adamw_tensors(op, prepared.state, grads);
  }
  return prepared;
}

// run(prepared, call): the steps are not advanced yet.
template <typename Run>
void adamw_prepared_on(int64_t number, const TensorList& grads, const AdamWArguments& arguments,
                       const Run& run) {
  const char* const op = "adamw_";
  PreparedAdamW& prepared = checked_prepared(op, number, grads);
  if (prepared.tensors.empty()) return;
  const AdamW call = adamw_call(op, arguments, prepared.state);
  check_numbers_apart(op, arguments, call.dtype, prepared.tensors);
  run(prepared, call);
}

int64_t prepare(TensorList& self, TensorList& exp_avgs, TensorList& exp_avg_sqs,
                TensorList& state_steps, TensorList& master_params) {
  auto prepared = std::make_unique<PreparedAdamW>();
  prepared->state = taken(self, exp_avgs, exp_avg_sqs, state_steps, master_params);
  if (!prepared->state.params.empty()) prepared->dtype = Kind(prepared->state.params[0]).dtype;
  return PreparedAdamWs::all().add(std::move(prepared));
}

void prepared_check(int64_t prepared, TensorList& grads, double lr, const OptionalTensor& lr_tensor,
                    double beta1, double beta2, double weight_decay, double eps, bool maximize,
                    const OptionalTensor& grad_scale, const OptionalTensor& found_inf,
                    const OptionalTensor& clip_factor) {
  adamw_prepared_on(prepared, grads,
                    {lr, lr_tensor, beta1, beta2, weight_decay, eps, maximize, grad_scale,
                     found_inf, clip_factor},
                    [](PreparedAdamW&, const AdamW&) {});
}

void release(int64_t prepared) { PreparedAdamWs::all().release(prepared); }

// The table is written anew when anything moved, on another stream (the old one may still read it),
// and into each captured graph: what is kept belongs to the next step, a graph runs when it likes.
template <typename Device>
void run_prepared_on_gpu(PreparedAdamW& prepared, const AdamW& call) {
  const Tensor param = prepared.state.params[0].tensor();
  const Device device(param, "adamw_");
  void* const stream = device.stream();
  const int64_t count = static_cast<int64_t>(prepared.tensors.size());
  const auto write = [&](const Tensor& memory) {
    return write_adamw_table(call.dtype, prepared.tensors.data(), count, memory.mutable_data_ptr(),
                             stream);
  };
  const auto allocate = [&] {
    return make_empty(param, {adamw_table_bytes(count)}, torch::headeronly::ScalarType::Byte);
  };
  const auto launch = [&](const AdamWTable& table) {
    launch_advance_steps(table, call.found_inf, stream);
    launch_adamw(call, table, stream);
  };
  if (is_capturing(stream)) {
    const Tensor memory = allocate();
    return launch(write(memory));
  }
  if (!prepared.table_memory.has_value() || prepared.stream != stream) {
    prepared.table_memory.reset();
    const Tensor memory = allocate();
    prepared.table = write(memory);
    prepared.table_memory = memory;
    prepared.stream = stream;
  }
  launch(prepared.table);
}

template <typename Device>
void prepared_step(int64_t prepared, TensorList& grads, double lr, const OptionalTensor& lr_tensor,
                   double beta1, double beta2, double weight_decay, double eps, bool maximize,
                   const OptionalTensor& grad_scale, const OptionalTensor& found_inf,
                   const OptionalTensor& clip_factor) {
  adamw_prepared_on(prepared, grads,
                    {lr, lr_tensor, beta1, beta2, weight_decay, eps, maximize, grad_scale,
                     found_inf, clip_factor},
                    [](PreparedAdamW& list, const AdamW& call) {
                      if constexpr (Device::kIsGpu) {
                        run_prepared_on_gpu<Device>(list, call);
                      } else {
                        if (call.found_inf != nullptr && *call.found_inf != 0) return;
                        for (const AdamWTensor& tensor : list.tensors) *tensor.step += 1;
                        adamw_cpu(call, list.tensors.data(),
                                  static_cast<int64_t>(list.tensors.size()), torch_threads);
                      }
                    });
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(cudaops, library) {
  // aten::_fused_adamw_ with masters and a factor for the gradients.
  library.def(
      "adamw_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, "
      "Tensor(d!)[] exp_avg_sqs, Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, "
      "Tensor(f!)[] master_params, *, float lr, float beta1, float beta2, float weight_decay, "
      "float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None, "
      "Tensor? clip_factor=None) -> ()");
  library.def(
      "adamw_.tensor_lr(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, "
      "Tensor(d!)[] exp_avg_sqs, Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, "
      "Tensor(f!)[] master_params, *, Tensor lr, float beta1, float beta2, float weight_decay, "
      "float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None, "
      "Tensor? clip_factor=None) -> ()");
  // For optim.AdamW: the lists once, then the gradients a step; steps are advanced as well.
  library.def(
      "_adamw_prepare(Tensor[] self, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, "
      "Tensor[] state_steps, Tensor[] master_params) -> int");
  // For several lists: all are checked before the first is stepped. The arguments of the step.
  library.def(
      "_adamw_prepared_check(int prepared, Tensor[] grads, float lr, Tensor? lr_tensor, "
      "float beta1, float beta2, float weight_decay, float eps, bool maximize, "
      "Tensor? grad_scale, Tensor? found_inf, Tensor? clip_factor) -> ()");
  library.def(
      "_adamw_prepared_step(int prepared, Tensor(a!)[] grads, float lr, Tensor? lr_tensor, "
      "float beta1, float beta2, float weight_decay, float eps, bool maximize, "
      "Tensor? grad_scale, Tensor? found_inf, Tensor? clip_factor) -> ()");
  library.def("_adamw_release(int prepared) -> ()");
}

CUDAOPS_DEVICE_KERNELS(cudaops, Device, library) {
  library.impl("adamw_", TORCH_BOX(&adamw<Device>));
  library.impl("adamw_.tensor_lr", TORCH_BOX(&adamw_tensor_lr<Device>));
  library.impl("_adamw_prepared_step", TORCH_BOX(&prepared_step<Device>));
}

STABLE_TORCH_LIBRARY_IMPL(cudaops, CompositeExplicitAutograd, library) {
  library.impl("_adamw_prepare", TORCH_BOX(&prepare));
  library.impl("_adamw_prepared_check", TORCH_BOX(&prepared_check));
  library.impl("_adamw_release", TORCH_BOX(&release));
}

}  // namespace cudaops_kernels
