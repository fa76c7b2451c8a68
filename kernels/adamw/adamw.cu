// SPDX-License-Identifier: Apache-2.0
// adamw on CUDA devices. Moves 28 bytes an element, for float32 as for 16-bit params with a master:
// all arrays but grad are read and written once.
#include <cmath>

#include "../common/multi_tensor.cuh"
#include "adamw.h"

namespace cudaops_kernels {
namespace {

// A call as the kernel wants it. beta^step is exp(step * log(beta)): with expm1 a bias correction
// keeps its digits in float, also where beta is almost 1; so does 1 - beta, which comes from
// double.
struct Settings {
  float lr, beta1, beta2, weight_decay, eps;
  float rest1, rest2;  // 1 - beta
  float log_beta1, log_beta2;
  float sign;
  const float* lr_pointer;
  const float* grad_scale;
  const float* found_inf;
  const float* clip_factor;

  explicit Settings(const AdamW& call)
      : lr(static_cast<float>(call.lr)),
        beta1(static_cast<float>(call.beta1)),
        beta2(static_cast<float>(call.beta2)),
        weight_decay(static_cast<float>(call.weight_decay)),
        eps(static_cast<float>(call.eps)),
        rest1(static_cast<float>(1 - call.beta1)),
        rest2(static_cast<float>(1 - call.beta2)),
        log_beta1(static_cast<float>(std::log(call.beta1))),
        log_beta2(static_cast<float>(std::log(call.beta2))),
        sign(call.maximize ? -1.0f : 1.0f),
        lr_pointer(call.lr_pointer),
        grad_scale(call.grad_scale),
        found_inf(call.found_inf),
        clip_factor(call.clip_factor) {}
};

// Within 2^-22 of the right result, without the calls that the exact ones make for zeros (what a
// row of an embedding has that no token asked for).
__device__ __forceinline__ float fast_sqrt(float x) {
#if CUDAOPS_HIP
  return sqrtf(x);
#else
  float result;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#endif
}

template <typename T, bool kMaster>
struct Update {
  using Tensor = AdamWTensor;
  Settings settings;

  template <typename Access>
  __device__ __forceinline__ void operator()(const AdamWTensor& tensor, const Access& at) const {
    if (settings.found_inf != nullptr && *settings.found_inf != 0) return;
    T* const param_data = static_cast<T*>(tensor.param);
    T* const grad_data = static_cast<T*>(tensor.grad);
    FourFloats grad = at.load(grad_data);
    FourFloats param;
    if constexpr (kMaster) {
      param = at.load(tensor.master);
    } else {
      param = at.load(param_data);
    }
    FourFloats exp_avg = at.load(tensor.exp_avg);
    FourFloats exp_avg_sq = at.load(tensor.exp_avg_sq);

    const float step = *in_global_memory(tensor.step);
    const float lr = settings.lr_pointer != nullptr ? *settings.lr_pointer : settings.lr;
    const float step_size = __fdividef(lr, -expm1f(step * settings.log_beta1));
    const float denominator_scale = rsqrtf(-expm1f(step * settings.log_beta2));
    const float decay = lr * settings.weight_decay;
    float factor = settings.sign;
    if (settings.clip_factor != nullptr) factor *= *settings.clip_factor;
    if (settings.grad_scale != nullptr) {
      grad = grad * (1.0f / *settings.grad_scale);
      at.store(grad_data, grad);
    }
#pragma unroll
    for (int k = 0; k < kMultiTensorSize; ++k) {
      const float g = grad[k] * factor;
      exp_avg[k] = fmaf(settings.beta1, exp_avg[k], settings.rest1 * g);
      exp_avg_sq[k] = fmaf(settings.beta2, exp_avg_sq[k], settings.rest2 * (g * g));
      const float denominator = fast_sqrt(exp_avg_sq[k]) * denominator_scale + settings.eps;
      param[k] -= decay * param[k];
      param[k] -= __fdividef(step_size * exp_avg[k], denominator);
    }
    if constexpr (kMaster) at.store(tensor.master, param);
    at.store(param_data, param);
    at.store(tensor.exp_avg, exp_avg);
    at.store(tensor.exp_avg_sq, exp_avg_sq);
  }
};

__global__ void advance_steps_kernel(const TensorRow<AdamWTensor>* rows, int num_tensors,
                                     const float* found_inf) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= num_tensors || (found_inf != nullptr && *found_inf != 0)) return;
  *rows[i].tensor.step += 1;
}

// Whether all arrays of a tensor are aligned to four elements.
struct IsAligned {
  DType dtype;

  bool operator()(const AdamWTensor& tensor) const {
    const uintptr_t narrow =
        reinterpret_cast<uintptr_t>(tensor.param) | reinterpret_cast<uintptr_t>(tensor.grad);
    const uintptr_t wide = reinterpret_cast<uintptr_t>(tensor.exp_avg) |
                           reinterpret_cast<uintptr_t>(tensor.exp_avg_sq) |
                           reinterpret_cast<uintptr_t>(tensor.master);
    return narrow % (kMultiTensorSize * size_of(dtype)) == 0 && wide % 16 == 0;
  }
};

// run(op): with the op for these types.
template <typename T>
struct WithOp {
  template <typename Run>
  static void run(const AdamW& call, const Run& run_op) {
    if (!call.has_master) return run_op(Update<T, false>{Settings(call)});
    if constexpr (sizeof(T) == 4) {
      cudaops::throw_runtime_error("adamw: wanted no master for float32 params.");
    } else {
      run_op(Update<T, true>{Settings(call)});
    }
  }
};

struct LaunchList {
  template <typename T>
  static void run(const AdamW& call, const AdamWTensor* tensors, int64_t num_tensors,
                  void* workspace, cudaStream_t stream) {
    WithOp<T>::run(call, [&](const auto& op) {
      launch_multi_tensor_list(op, tensors, num_tensors, IsAligned{call.dtype}, workspace, stream);
    });
  }
};

struct LaunchTable {
  template <typename T>
  static void run(const AdamW& call, const AdamWTable& table, cudaStream_t stream) {
    WithOp<T>::run(call, [&](const auto& op) {
      launch_multi_tensor(op, device_table<AdamWTensor>(table.memory, table.num_tensors),
                          table.num_blocks, stream);
    });
  }
};

}  // namespace

int64_t adamw_workspace_bytes(int64_t num_tensors) {
  return multi_tensor_workspace_bytes<AdamWTensor>(num_tensors);
}

void launch_adamw(const AdamW& call, const AdamWTensor* tensors, int64_t num_tensors,
                  void* workspace, void* stream) {
  if (num_tensors == 0) return;
  for_device_type<LaunchList>(call.dtype, call, tensors, num_tensors, workspace,
                              static_cast<cudaStream_t>(stream));
}

int64_t adamw_table_bytes(int64_t num_tensors) {
  return device_table_bytes<AdamWTensor>(num_tensors);
}

AdamWTable write_adamw_table(DType dtype, const AdamWTensor* tensors, int64_t num_tensors,
                             void* memory, void* stream) {
  const int64_t num_blocks = write_device_table(tensors, num_tensors, IsAligned{dtype}, memory,
                                                static_cast<cudaStream_t>(stream));
  return {memory, num_tensors, num_blocks};
}

void launch_adamw(const AdamW& call, const AdamWTable& table, void* stream) {
  for_device_type<LaunchTable>(call.dtype, call, table, static_cast<cudaStream_t>(stream));
}

void launch_advance_steps(const AdamWTable& table, const float* found_inf, void* stream) {
  if (table.num_tensors == 0) return;
  constexpr int kThreads = 128;
  const DeviceTable<AdamWTensor> rows = device_table<AdamWTensor>(table.memory, table.num_tensors);
  advance_steps_kernel<<<num_blocks(table.num_tensors, kThreads), kThreads, 0,
                         static_cast<cudaStream_t>(stream)>>>(rows.rows, rows.num_tensors,
                                                              found_inf);
  CUDAOPS_CHECK_LAUNCH();
}

bool is_capturing(void* stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  CUDAOPS_CHECK(cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status));
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace cudaops_kernels
