// SPDX-License-Identifier: Apache-2.0
// Kinds of host memory, how fast they are copied, copies and kernels at the same time, and errors.
#include <cudaops/check.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <vector>

constexpr int64_t kSize = 1 << 24;  // floats: 64 MiB
constexpr size_t kBytes = kSize * sizeof(float);
constexpr int kChunks = 8, kBlockSize = 256, kSteps = 4000;

// x/2 + 1 again and again: ends at 2, and takes about as long as copying the array.
__global__ void converge(float* data, int64_t num_elements) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= num_elements) return;
  float x = data[i];
  for (int step = 0; step < kSteps; ++step) x = fmaf(x, 0.5f, 1.0f);
  data[i] = x;
}

void launch_converge(float* data, int64_t n, int block_size, cudaStream_t stream) {
  converge<<<(n + block_size - 1) / block_size, block_size, 0, stream>>>(data, n);
  CUDAOPS_CHECK_LAUNCH();  // a launch returns nothing: ask, or its error goes unseen
}

// Milliseconds between two events. Both are in the default stream, which waits for all streams that
// cudaStreamCreate() makes, and they for it.
template <typename Enqueue>
float time_ms(Enqueue enqueue) {
  cudaEvent_t start, stop;
  CUDAOPS_CHECK(cudaEventCreate(&start));
  CUDAOPS_CHECK(cudaEventCreate(&stop));
  CUDAOPS_CHECK(cudaEventRecord(start));
  enqueue();  // returns before the GPU has done it
  CUDAOPS_CHECK(cudaEventRecord(stop));
  CUDAOPS_CHECK(cudaEventSynchronize(stop));
  float ms = 0;
  CUDAOPS_CHECK(cudaEventElapsedTime(&ms, start, stop));
  CUDAOPS_CHECK(cudaEventDestroy(start));
  CUDAOPS_CHECK(cudaEventDestroy(stop));
  return ms;
}

void print_copy(const char* name, float* to, const float* from) {
  const auto copy = [=] { CUDAOPS_CHECK(cudaMemcpyAsync(to, from, kBytes, cudaMemcpyDefault)); };
  time_ms(copy);  // the first one may be slow
  std::printf("%-20s %8.1f\n", name, kBytes / time_ms(copy) / 1e6);
}

// In, kernel, out, for each chunk. A stream keeps its order; two streams may overlap.
void run_pipeline(float* device, float* host, const std::vector<cudaStream_t>& streams) {
  constexpr int64_t kChunk = kSize / kChunks;
  for (int i = 0; i < kChunks; ++i) {
    const cudaStream_t stream = streams[i % streams.size()];
    float *there = device + i * kChunk, *here = host + i * kChunk;
    const size_t bytes = kChunk * sizeof(float);
    CUDAOPS_CHECK(cudaMemcpyAsync(there, here, bytes, cudaMemcpyHostToDevice, stream));
    launch_converge(there, kChunk, kBlockSize, stream);
    CUDAOPS_CHECK(cudaMemcpyAsync(here, there, bytes, cudaMemcpyDeviceToHost, stream));
  }
}

void run(float* device, float* pinned, float* managed) {
  std::vector<float> pageable(kSize, 5);
  std::printf("%-20s %8s\n", "copy", "GB/s");
  print_copy("pageable_to_device", device, pageable.data());
  print_copy("device_to_pageable", pageable.data(), device);
  print_copy("pinned_to_device", device, pinned);
  print_copy("device_to_pinned", pinned, device);

  std::printf("\n%-20s %8s\n", "streams", "ms");
  std::vector<cudaStream_t> streams;
  for (int count = 1; count <= 4; ++count) {
    CUDAOPS_CHECK(cudaStreamCreate(&streams.emplace_back()));
    std::fill_n(pinned, kSize, 5.0f);
    run_pipeline(device, pinned, streams);
    const float ms = time_ms([&] { run_pipeline(device, pinned, streams); });
    std::printf("%-20d %8.2f\n", count, ms);
    if (std::count(pinned, pinned + kSize, 2.0f) != kSize) throw std::runtime_error("wrong result");
  }
  for (cudaStream_t stream : streams) CUDAOPS_CHECK(cudaStreamDestroy(stream));

  // One pointer for both. The pages move to whoever touches them: here to the GPU, once.
  std::printf("\n%-20s %8s\n", "managed_kernel", "ms");
  std::fill_n(managed, kSize, 5.0f);
  for (const char* name : {"pages_on_host", "pages_on_device"}) {
    std::printf("%-20s %8.2f\n", name,
                time_ms([&] { launch_converge(managed, kSize, kBlockSize, nullptr); }));
  }
}

int main() try {
  int num_gpus = 0;
  if (cudaGetDeviceCount(&num_gpus) != cudaSuccess) return std::puts("SKIPPED: no GPU"), 77;
  float *device, *pinned, *managed;
  CUDAOPS_CHECK(cudaMalloc(&device, kBytes));
  CUDAOPS_CHECK(cudaMallocHost(&pinned, kBytes));
  CUDAOPS_CHECK(cudaMallocManaged(&managed, kBytes));
  run(device, pinned, managed);
  try {
    launch_converge(device, kSize, 2048, nullptr);  // no GPU has blocks of 2048 threads
    return std::puts("no error"), 1;
  } catch (const std::exception& error) {
    std::printf("\n%s\n", error.what());
  }
  CUDAOPS_CHECK(cudaFree(device));
  CUDAOPS_CHECK(cudaFreeHost(pinned));
  CUDAOPS_CHECK(cudaFree(managed));
  return 0;
} catch (const std::exception& error) {
  std::puts(error.what());
  return 1;
}
