// SPDX-License-Identifier: Apache-2.0
// lion, lamb and adamw_8bit on CUDA devices.
#include <cmath>

#include "../common/multi_tensor.cuh"
#include "optimizers.h"

namespace cudaops_kernels {
namespace {

// What all formulas take, as floats; 1 - beta comes from double, as one of a rounded beta has few
// right digits.
struct Numbers {
  float lr, beta1, beta2, rest1, rest2, decay, eps, sign;

  template <typename Call>
  explicit Numbers(const Call& call, double eps_of_call = 0)
      : lr(static_cast<float>(call.lr)),
        beta1(static_cast<float>(call.beta1)),
        beta2(static_cast<float>(call.beta2)),
        rest1(static_cast<float>(1 - call.beta1)),
        rest2(static_cast<float>(1 - call.beta2)),
        decay(static_cast<float>(call.weight_decay)),
        eps(static_cast<float>(eps_of_call)),
        sign(call.maximize ? -1.0f : 1.0f) {}
};

// For arrays of four neighbouring elements.
template <typename T>
bool is_aligned_to_four(const void* data) {
  return reinterpret_cast<uintptr_t>(data) % (kMultiTensorSize * sizeof(T)) == 0;
}

template <typename T>
struct LionStep {
  using Tensor = LionTensor;
  Numbers numbers;

  template <typename Access>
  __device__ __forceinline__ void operator()(const LionTensor& tensor, const Access& at) const {
    const FourFloats grad = at.load(static_cast<const T*>(tensor.grad));
    FourFloats param = at.load(static_cast<T*>(tensor.param)), exp_avg = at.load(tensor.exp_avg);
#pragma unroll
    for (int k = 0; k < kMultiTensorSize; ++k) {
      const float g = grad[k] * numbers.sign;
      const float mixed = fmaf(numbers.beta1, exp_avg[k], numbers.rest1 * g);
      // As torch's sign: 0 for NaN.
      const float direction = static_cast<float>(mixed > 0) - static_cast<float>(mixed < 0);
      param[k] -= numbers.lr * numbers.decay * param[k];
      param[k] -= numbers.lr * direction;
      exp_avg[k] = fmaf(numbers.beta2, exp_avg[k], numbers.rest2 * g);
    }
    at.store(static_cast<T*>(tensor.param), param);
    at.store(tensor.exp_avg, exp_avg);
  }
};

// Sums of a block's threads; thread 0 has them.
__device__ __forceinline__ float2 sum_of_block(float2 own) {
  __shared__ float2 of_warps[kMultiTensorThreads];
  own.x = cudaops::warp_sum(own.x);
  own.y = cudaops::warp_sum(own.y);
  const int warp = static_cast<int>(threadIdx.x) / cudaops::warp_size();
  if (cudaops::lane_id() == 0) of_warps[warp] = own;
  __syncthreads();
  float2 sum{0.0f, 0.0f};
  if (threadIdx.x == 0) {
    for (int i = 0; i < kMultiTensorThreads / cudaops::warp_size(); ++i) {
      sum.x += of_warps[i].x;
      sum.y += of_warps[i].y;
    }
  }
  return sum;
}

__device__ __forceinline__ float lamb_update(const Numbers& numbers, const LambTensor& tensor,
                                             float param, float exp_avg, float exp_avg_sq) {
  const float root = sqrtf(exp_avg_sq) * tensor.correction2 + numbers.eps;
  return exp_avg * tensor.correction1 / root + numbers.decay * param;
}

// The moments, and of each block the sums of squares of its parameters and updates.
template <typename T>
struct LambMoments {
  using Tensor = LambTensor;
  Numbers numbers;
  const float* clip_factor;
  float2* squares;

  template <typename Access>
  __device__ __forceinline__ void operator()(const LambTensor& tensor, const Access& at) const {
    const float factor = numbers.sign * (clip_factor != nullptr ? *clip_factor : 1.0f);
    const FourFloats grad = at.load(static_cast<const T*>(tensor.grad));
    const FourFloats param = at.load(static_cast<T*>(tensor.param));
    FourFloats exp_avg = at.load(tensor.exp_avg), exp_avg_sq = at.load(tensor.exp_avg_sq);
    float2 sums{0.0f, 0.0f};
#pragma unroll
    for (int k = 0; k < kMultiTensorSize; ++k) {
      const float g = grad[k] * factor;
      exp_avg[k] = fmaf(numbers.beta1, exp_avg[k], numbers.rest1 * g);
      exp_avg_sq[k] = fmaf(numbers.beta2, exp_avg_sq[k], numbers.rest2 * (g * g));
      // What lies beyond a tensor's end was read as zeros, of which without eps NaN would come.
      const float update =
          exists(at, k) ? lamb_update(numbers, tensor, param[k], exp_avg[k], exp_avg_sq[k]) : 0.0f;
      sums.x = fmaf(param[k], param[k], sums.x);
      sums.y = fmaf(update, update, sums.y);
    }
    at.store(tensor.exp_avg, exp_avg);
    at.store(tensor.exp_avg_sq, exp_avg_sq);
    const float2 total = sum_of_block(sums);
    if (threadIdx.x == 0) squares[blockIdx.x] = total;
  }

  __device__ static bool exists(const VectorAccess&, int) { return true; }
  __device__ static bool exists(const ScalarAccess& at, int k) {
    return at.first + k * kMultiTensorThreads < at.num_elements;
  }
};

// A block a tensor: its ratio, from the sums of its blocks in their order.
template <typename Table>
__global__ void __launch_bounds__(kMultiTensorThreads)
    lamb_ratio_kernel(CUDAOPS_GRID_CONSTANT const Table table, const float2* squares,
                      float* ratios) {
  const TensorRow<LambTensor>& row = table.rows[blockIdx.x];
  const int64_t blocks = (row.tensor.num_elements + kMultiTensorBlock - 1) / kMultiTensorBlock;
  float2 own{0.0f, 0.0f};
  for (int64_t i = threadIdx.x; i < blocks; i += kMultiTensorThreads) {
    own.x += squares[row.first_block + i].x;
    own.y += squares[row.first_block + i].y;
  }
  const float2 sum = sum_of_block(own);
  if (threadIdx.x == 0) {
    const bool has_ratio = sum.x > 0 && sum.y > 0;
    ratios[blockIdx.x] = has_ratio ? sqrtf(sum.x) / sqrtf(sum.y) : 1.0f;
  }
}

template <typename T, typename Table>
__global__ void __launch_bounds__(kMultiTensorThreads)
    lamb_step_kernel(CUDAOPS_GRID_CONSTANT const Table table, const Numbers numbers,
                     const float* ratios) {
  const TensorRow<LambTensor>& row = table.row_of(blockIdx.x);
  const LambTensor tensor = row.tensor;
  const float step = numbers.lr * ratios[&row - table.rows];
  const int64_t block = blockIdx.x - row.first_block;
  const auto run = [&](const auto& at) {
    FourFloats param = at.load(static_cast<T*>(tensor.param));
    const FourFloats exp_avg = at.load(tensor.exp_avg), exp_avg_sq = at.load(tensor.exp_avg_sq);
#pragma unroll
    for (int k = 0; k < kMultiTensorSize; ++k) {
      param[k] -= step * lamb_update(numbers, tensor, param[k], exp_avg[k], exp_avg_sq[k]);
    }
    at.store(static_cast<T*>(tensor.param), param);
  };
  if (row.is_aligned != 0 && (block + 1) * kMultiTensorBlock <= tensor.num_elements) {
    run(VectorAccess{block * kMultiTensorThreads + threadIdx.x});
  } else {
    run(ScalarAccess{block * kMultiTensorBlock + threadIdx.x, tensor.num_elements});
  }
}

// The place of the level nearest to a number: how many of the middles between levels lie below it.
__device__ __forceinline__ uint8_t nearest_level(const float* middles, float number) {
  int place = 0;
#pragma unroll
  for (int stride = kLevels / 2; stride > 0; stride /= 2) {
    if (middles[place + stride - 1] < number) place += stride;
  }
  return static_cast<uint8_t>(place);
}

static_assert(kStateBlock == kMultiTensorThreads, "a thread has one element of each state block");

// A block has kMultiTensorSize state blocks, of each of which a thread has an element.
template <typename T, typename Table>
__global__ void __launch_bounds__(kMultiTensorThreads)
    adamw_8bit_kernel(CUDAOPS_GRID_CONSTANT const Table table, const Numbers numbers,
                      const float* levels1, const float* levels2) {
  constexpr int kMoments = 2;
  __shared__ float levels[kMoments][kLevels], middles[kMoments][kLevels];
  __shared__ float largest[kMoments][kMultiTensorSize][kMultiTensorThreads];
  const TensorRow<AdamW8bitTensor>& row = table.row_of(blockIdx.x);
  const AdamW8bitTensor tensor = row.tensor;
  const int64_t block = blockIdx.x - row.first_block;
  const ScalarAccess at{block * kMultiTensorBlock + threadIdx.x, tensor.num_elements};
  const bool has_8_bits = tensor.absmax1 != nullptr;
  const int thread = static_cast<int>(threadIdx.x);
  if (has_8_bits) {
    for (int i = 0; i < kMoments; ++i) {
      const float* const given = i == 0 ? levels1 : levels2;
      const int next = thread + 1 < kLevels ? thread + 1 : thread;
      levels[i][thread] = given[thread];
      middles[i][thread] = (given[thread] + given[next]) / 2;
    }
    __syncthreads();
  }
  const FourFloats grad = at.load(static_cast<const T*>(tensor.grad));
  FourFloats param = at.load(static_cast<T*>(tensor.param)), moments[kMoments];
  const auto state = [&](int i) { return i == 0 ? tensor.state1 : tensor.state2; };
  const auto absmax = [&](int i) { return i == 0 ? tensor.absmax1 : tensor.absmax2; };
  const auto scale_at = [&](int i, int k) {
    return in_global_memory(absmax(i)) + block * kMultiTensorSize + k;
  };
#pragma unroll
  for (int i = 0; i < kMoments; ++i) {
    if (!has_8_bits) {
      moments[i] = at.load(static_cast<const float*>(state(i)));
      continue;
    }
#pragma unroll
    for (int k = 0; k < kMultiTensorSize; ++k) {
      const int64_t index = at.first + k * kMultiTensorThreads;
      moments[i][k] = 0.0f;
      if (index < tensor.num_elements) {
        const uint8_t place = in_global_memory(static_cast<const uint8_t*>(state(i)))[index];
        moments[i][k] = levels[i][place] * *scale_at(i, k);
      }
    }
  }
#pragma unroll
  for (int k = 0; k < kMultiTensorSize; ++k) {
    const float g = grad[k] * numbers.sign;
    moments[0][k] = fmaf(numbers.beta1, moments[0][k], numbers.rest1 * g);
    moments[1][k] = fmaf(numbers.beta2, moments[1][k], numbers.rest2 * (g * g));
    const float root = sqrtf(moments[1][k]) * tensor.correction2 + numbers.eps;
    param[k] -= numbers.lr * numbers.decay * param[k];
    param[k] -= numbers.lr * tensor.correction1 * moments[0][k] / root;
  }
  at.store(static_cast<T*>(tensor.param), param);
  if (!has_8_bits) {
#pragma unroll
    for (int i = 0; i < kMoments; ++i) at.store(static_cast<float*>(state(i)), moments[i]);
    return;
  }
  // Elements beyond the end are zeros.
  const int warp = thread / cudaops::warp_size();
#pragma unroll
  for (int i = 0; i < kMoments; ++i) {
#pragma unroll
    for (int k = 0; k < kMultiTensorSize; ++k) {
      const float of_warp = cudaops::warp_max(fabsf(moments[i][k]));
      if (cudaops::lane_id() == 0) largest[i][k][warp] = of_warp;
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kMoments; ++i) {
#pragma unroll
    for (int k = 0; k < kMultiTensorSize; ++k) {
      float scale = 0.0f;
      for (int w = 0; w < kMultiTensorThreads / cudaops::warp_size(); ++w) {
        scale = fmaxf(scale, largest[i][k][w]);
      }
      const int64_t index = at.first + k * kMultiTensorThreads;
      if (index >= tensor.num_elements) continue;
      const float scaled = moments[i][k] / (scale > 0 ? scale : 1.0f);
      in_global_memory(static_cast<uint8_t*>(state(i)))[index] = nearest_level(middles[i], scaled);
      if (thread == 0) *scale_at(i, k) = scale;
    }
  }
}

template <typename Tensor>
int64_t blocks_of(const Tensor* tensors, int64_t num_tensors) {
  int64_t num_blocks = 0;
  for (int64_t i = 0; i < num_tensors; ++i) {
    num_blocks += (tensors[i].num_elements + kMultiTensorBlock - 1) / kMultiTensorBlock;
  }
  return num_blocks;
}

int64_t to_16(int64_t bytes) { return (bytes + 15) / 16 * 16; }

// run(table, number of blocks) with the list as a table of either kind.
template <typename Tensor, typename IsAligned, typename Run>
void with_table(const Tensor* tensors, int64_t num_tensors, const IsAligned& is_aligned,
                void* workspace, cudaStream_t stream, const Run& run) {
  if (num_tensors <= kInlineTensors) {
    InlineTable<Tensor> table{};
    table.num_tensors = static_cast<int>(num_tensors);
    const int64_t num_blocks = fill_rows(tensors, num_tensors, is_aligned, table.rows);
    if (num_blocks > 0) run(table, checked_grid(num_blocks));
    return;
  }
  const int64_t num_blocks =
      write_device_table(tensors, num_tensors, is_aligned, workspace, stream);
  if (num_blocks > 0) run(device_table<Tensor>(workspace, num_tensors), checked_grid(num_blocks));
}

struct LaunchLion {
  template <typename T>
  static void run(const Lion& call, const LionTensor* tensors, int64_t num_tensors, void* workspace,
                  cudaStream_t stream) {
    const auto is_aligned = [](const LionTensor& tensor) {
      return is_aligned_to_four<T>(tensor.param) && is_aligned_to_four<T>(tensor.grad) &&
             is_aligned_to_four<float>(tensor.exp_avg);
    };
    launch_multi_tensor_list(LionStep<T>{Numbers(call)}, tensors, num_tensors, is_aligned,
                             workspace, stream);
  }
};

struct LaunchLamb {
  template <typename T>
  static void run(const Lamb& call, const LambTensor* tensors, int64_t num_tensors, void* workspace,
                  cudaStream_t stream) {
    const auto is_aligned = [](const LambTensor& tensor) {
      return is_aligned_to_four<T>(tensor.param) && is_aligned_to_four<T>(tensor.grad) &&
             is_aligned_to_four<float>(tensor.exp_avg) &&
             is_aligned_to_four<float>(tensor.exp_avg_sq);
    };
    // In the workspace: the table if it isn't inline, the sums, the ratios.
    char* const memory = static_cast<char*>(workspace) +
                         to_16(multi_tensor_workspace_bytes<LambTensor>(num_tensors));
    float2* const squares = reinterpret_cast<float2*>(memory);
    float* const ratios = reinterpret_cast<float*>(squares + blocks_of(tensors, num_tensors));
    const Numbers numbers(call, call.eps);
    with_table(tensors, num_tensors, is_aligned, workspace, stream,
               [&](const auto& table, unsigned int num_blocks) {
                 using Table = std::decay_t<decltype(table)>;
                 launch_multi_tensor(LambMoments<T>{numbers, call.clip_factor, squares}, table,
                                     num_blocks, stream);
                 lamb_ratio_kernel<Table>
                     <<<static_cast<unsigned int>(num_tensors), kMultiTensorThreads, 0, stream>>>(
                         table, squares, ratios);
                 CUDAOPS_CHECK_LAUNCH();
                 lamb_step_kernel<T, Table>
                     <<<num_blocks, kMultiTensorThreads, 0, stream>>>(table, numbers, ratios);
                 CUDAOPS_CHECK_LAUNCH();
               });
  }
};

struct LaunchAdamW8bit {
  template <typename T>
  static void run(const AdamW8bit& call, const AdamW8bitTensor* tensors, int64_t num_tensors,
                  void* workspace, cudaStream_t stream) {
    const auto is_aligned = [](const AdamW8bitTensor&) { return false; };  // bytes beside floats
    with_table(tensors, num_tensors, is_aligned, workspace, stream,
               [&](const auto& table, unsigned int num_blocks) {
                 using Table = std::decay_t<decltype(table)>;
                 adamw_8bit_kernel<T, Table><<<num_blocks, kMultiTensorThreads, 0, stream>>>(
                     table, Numbers(call, call.eps), call.levels1, call.levels2);
                 CUDAOPS_CHECK_LAUNCH();
               });
  }
};

}  // namespace

int64_t lion_workspace_bytes(const LionTensor*, int64_t num_tensors) {
  return multi_tensor_workspace_bytes<LionTensor>(num_tensors);
}

int64_t lamb_workspace_bytes(const LambTensor* tensors, int64_t num_tensors) {
  return to_16(multi_tensor_workspace_bytes<LambTensor>(num_tensors)) +
         blocks_of(tensors, num_tensors) * int64_t{sizeof(float2)} +
         num_tensors * int64_t{sizeof(float)};
}

int64_t adamw_8bit_workspace_bytes(const AdamW8bitTensor*, int64_t num_tensors) {
  return multi_tensor_workspace_bytes<AdamW8bitTensor>(num_tensors);
}

void launch_lion(const Lion& call, const LionTensor* tensors, int64_t num_tensors, void* workspace,
                 void* stream) {
  for_device_type<LaunchLion>(call.dtype, call, tensors, num_tensors, workspace,
                              static_cast<cudaStream_t>(stream));
}

void launch_lamb(const Lamb& call, const LambTensor* tensors, int64_t num_tensors, void* workspace,
                 void* stream) {
  for_device_type<LaunchLamb>(call.dtype, call, tensors, num_tensors, workspace,
                              static_cast<cudaStream_t>(stream));
}

void launch_adamw_8bit(const AdamW8bit& call, const AdamW8bitTensor* tensors, int64_t num_tensors,
                       void* workspace, void* stream) {
  for_device_type<LaunchAdamW8bit>(call.dtype, call, tensors, num_tensors, workspace,
                                   static_cast<cudaStream_t>(stream));
}

}  // namespace cudaops_kernels
