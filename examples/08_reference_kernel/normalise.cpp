// SPDX-License-Identifier: Apache-2.0
// A C++ program that calls one of CudaOps' kernels, on the CPU or on a GPU: normalise cpu|cuda
// Ends with exit code 0 where the result is right, 1 where it is wrong, 77 where there is no GPU.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "rms_norm/rms_norm.h"

#ifdef CUDAOPS_KERNELS_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

namespace {

constexpr int kSkipped = 77;
constexpr int64_t kRows = 64, kWidth = 1000;
constexpr float kEps = 1e-6f;

// What every call here has in common; the pointers are the caller's.
cudaops_kernels::RmsNorm call_on(const float* input, const float* weight, float* output) {
  cudaops_kernels::RmsNorm call{};
  call.num_rows = kRows;
  call.width = kWidth;
  call.dtype = call.weight_dtype = cudaops_kernels::DType::kFloat32;
  call.input = {input, kWidth};  // from row to row, in elements
  call.weight = weight;
  call.output = {output, kWidth};
  call.eps = kEps;
  return call;
}

#ifdef CUDAOPS_KERNELS_WITH_CUDA

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<float>& values) : bytes_(values.size() * sizeof(float)) {
    check(cudaMalloc(&data_, bytes_));
    check(cudaMemcpy(data_, values.data(), bytes_, cudaMemcpyHostToDevice));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  float* data() const { return static_cast<float*>(data_); }
  void read(std::vector<float>& values) const {
    check(cudaMemcpy(values.data(), data_, bytes_, cudaMemcpyDeviceToHost));
  }

 private:
  void* data_ = nullptr;
  size_t bytes_;
};

#endif

// Returns why it can't be done; empty if output is written.
std::string normalise_on_gpu([[maybe_unused]] const std::vector<float>& input,
                             [[maybe_unused]] const std::vector<float>& weight,
                             [[maybe_unused]] std::vector<float>& output) {
#ifdef CUDAOPS_KERNELS_WITH_CUDA
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return "no GPU can be used here";
  const DeviceArray x(input), w(weight), y(output);
  cudaops_kernels::launch_rms_norm(call_on(x.data(), w.data(), y.data()), nullptr);
  y.read(output);
  return "";
#else
  return "built without CUDA";
#endif
}

// In double, from the formula alone.
double largest_error(const std::vector<float>& input, const std::vector<float>& weight,
                     const std::vector<float>& output) {
  double largest = 0;
  for (int64_t row = 0; row < kRows; ++row) {
    const float* x = &input[static_cast<size_t>(row * kWidth)];
    double squares = 0;
    for (int64_t i = 0; i < kWidth; ++i) squares += double{x[i]} * x[i];
    const double rstd = 1 / std::sqrt(squares / kWidth + kEps);
    for (int64_t i = 0; i < kWidth; ++i) {
      const double expected = x[i] * rstd * weight[static_cast<size_t>(i)];
      const double found = output[static_cast<size_t>(row * kWidth + i)];
      const double error = std::fabs(found - expected) / (std::fabs(expected) + 0.1);
      if (std::isnan(error)) return error;  // no comparison would keep it
      largest = std::max(largest, error);
    }
  }
  return largest;
}

int run(bool on_gpu) {
  std::vector<float> input(kRows * kWidth), weight(kWidth), output(kRows * kWidth, NAN);
  for (size_t i = 0; i < input.size(); ++i) input[i] = std::sin(0.37f * static_cast<float>(i));
  for (size_t i = 0; i < weight.size(); ++i) weight[i] = 1 + 0.001f * static_cast<float>(i);
  if (on_gpu) {
    const std::string reason = normalise_on_gpu(input, weight, output);
    if (!reason.empty()) {
      std::printf("SKIPPED: %s\n", reason.c_str());
      return kSkipped;
    }
  } else {
    cudaops_kernels::rms_norm_cpu(call_on(input.data(), weight.data(), output.data()));
  }
  const double error = largest_error(input, weight, output);
  std::printf("%lld rows of %lld elements, largest error %.2g\n", static_cast<long long>(kRows),
              static_cast<long long>(kWidth), error);
  return error < 1e-5 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 && std::string(argv[1]) == "cuda");
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
