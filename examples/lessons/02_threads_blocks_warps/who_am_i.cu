// SPDX-License-Identifier: Apache-2.0
// Every thread writes down who it is: by its own calculation, and by what the hardware says.
#include <cudaops/check.h>

constexpr int kFacts = 4;

__global__ void who_am_i(int* facts) {
  // Threads of a block are numbered x first, then y, then z; so are the blocks of a grid.
  const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const int threads_of_block = blockDim.x * blockDim.y * blockDim.z;

  int lane, multiprocessor;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  // A shuffle reads from a thread of the same warp: here the number of its first thread. The last
  // warp of a block may be only partly filled, which is what the mask says.
  const int first_of_warp = __shfl_sync(__activemask(), thread, 0);

  int* mine = facts + int64_t{block} * threads_of_block * kFacts + thread * kFacts;
  mine[0] = thread;
  mine[1] = first_of_warp;
  mine[2] = lane;
  mine[3] = multiprocessor;
}

// facts: device memory for 4 ints a thread. who_am_i.py calls it through ctypes.
extern "C" void launch_who_am_i(int* facts, int num_blocks, int x, int y, int z, void* stream) {
  who_am_i<<<num_blocks, dim3(x, y, z), 0, static_cast<cudaStream_t>(stream)>>>(facts);
  CUDAOPS_CHECK_LAUNCH();
}
