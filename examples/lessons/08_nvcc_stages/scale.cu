// SPDX-License-Identifier: Apache-2.0
__device__ float twice(float x);  // twice.cu

__global__ void scale(float* data, int num_elements) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < num_elements) data[i] = twice(data[i]);
}

// Doubles an array of host memory on the GPU. Returns 0, or the runtime's error.
extern "C" int double_on_gpu(float* data, int num_elements) {
  float* device = nullptr;
  const size_t bytes = num_elements * sizeof(float);
  cudaError_t error = cudaMalloc(&device, bytes);
  if (error == cudaSuccess) error = cudaMemcpy(device, data, bytes, cudaMemcpyDefault);
  if (error == cudaSuccess) {
    scale<<<(num_elements + 255) / 256, 256>>>(device, num_elements);
    error = cudaGetLastError();
  }
  if (error == cudaSuccess) error = cudaMemcpy(data, device, bytes, cudaMemcpyDefault);
  cudaFree(device);
  return error;
}
