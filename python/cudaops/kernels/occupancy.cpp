// SPDX-License-Identifier: Apache-2.0
// The toolkit's occupancy calculator as a library, for occupancy.py. How many blocks a
// multiprocessor takes is asked of cuda_occupancy.h alone; nothing of it is written here.

#include <cuda_occupancy.h>
#include <limits.h>

namespace {

constexpr int kMaxSharedBytes = 1 << 20;
constexpr int kRegistersPerMultiprocessor = 65536;    // since compute capability 5.0
constexpr int kStaticSharedBytesPerBlock = 48 << 10;  // what ptxas refuses to exceed
constexpr int kReservedBytes = 1024;  // kept by the driver in each block's shared memory, since 8.0
// Registers and shared memory are given out in steps that these are multiples of.
constexpr int kSharedStep = 128;
constexpr int kFewestRegisters = 16;

struct Device {
  int major, minor, threads_per_multiprocessor, shared_bytes_per_multiprocessor;
};

struct Kernel {
  int registers, shared_bytes, barriers;
};

bool ask(const Device& device, const Kernel& kernel, int block, cudaOccResult& result) {
  cudaOccDeviceProp properties;
  properties.computeMajor = device.major;
  properties.computeMinor = device.minor;
  properties.maxThreadsPerBlock = 1024;
  properties.maxThreadsPerMultiprocessor = device.threads_per_multiprocessor;
  properties.regsPerBlock = kRegistersPerMultiprocessor;
  properties.regsPerMultiprocessor = kRegistersPerMultiprocessor;
  properties.warpSize = 32;
  properties.sharedMemPerBlock = kStaticSharedBytesPerBlock;
  properties.sharedMemPerMultiprocessor = device.shared_bytes_per_multiprocessor;
  properties.numSms = 1;  // no answer depends on it
  properties.reservedSharedMemPerBlock = device.major >= 8 ? kReservedBytes : 0;
  properties.sharedMemPerBlockOptin =
      properties.sharedMemPerMultiprocessor - properties.reservedSharedMemPerBlock;

  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = 1024;
  attributes.numRegs = kernel.registers;
  attributes.sharedSizeBytes = kernel.shared_bytes;
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.numBlockBarriers = kernel.barriers;
  const cudaOccDeviceState state;
  return cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state, block,
                                                 0) == CUDA_OCC_SUCCESS;
}

int blocks(const Device& device, const Kernel& kernel, int block) {
  cudaOccResult result;
  return ask(device, kernel, block, result) ? result.activeBlocksPerMultiprocessor : 0;
}

}  // namespace

// The shared memory of a multiprocessor in bytes: the largest split from L1 that the header knows.
// 0: none.
extern "C" int cudaops_shared_bytes(int major, int minor) {
  if (major < 7) return 0;
  cudaOccDeviceProp properties;
  properties.computeMajor = major;
  properties.computeMinor = minor;
  int largest = 0;
  for (int bytes = 1024; bytes <= kMaxSharedBytes; bytes += 1024) {
    size_t size = bytes;
    if (cudaOccAlignUpShmemSizeVoltaPlus(&size, &properties) != CUDA_OCC_SUCCESS) break;
    largest = static_cast<int>(size);
  }
  return largest;
}

// Blocks a multiprocessor and the bits of cudaOccLimitingFactor; -1 blocks where the header refuses
// to say.
extern "C" int cudaops_blocks(const Device* device, const Kernel* kernel, int block, int* limits) {
  cudaOccResult result;
  if (!ask(*device, *kernel, block, result)) return -1;
  *limits = static_cast<int>(result.limitingFactors);
  return result.activeBlocksPerMultiprocessor;
}

// What gives more blocks: in `needed` the most registers and shared memory that do, of what limits
// them now. Returns the blocks; 0 where less of them doesn't help.
extern "C" int cudaops_more_blocks(const Device* device, const Kernel* kernel, int block,
                                   int limits, Kernel* needed) {
  const int now = blocks(*device, *kernel, block);
  *needed = *kernel;
  if (limits & OCC_LIMIT_REGISTERS) {
    Kernel alone = {kernel->registers, 0, kernel->barriers};
    while (alone.registers > kFewestRegisters && blocks(*device, alone, block) <= now)
      --alone.registers;
    needed->registers = alone.registers;
  }
  if (limits & OCC_LIMIT_SHARED_MEMORY) {
    Kernel alone = {kFewestRegisters, kernel->shared_bytes / kSharedStep * kSharedStep,
                    kernel->barriers};
    while (alone.shared_bytes > 0 && blocks(*device, alone, block) <= now)
      alone.shared_bytes -= kSharedStep;
    needed->shared_bytes = alone.shared_bytes;
  }
  const int then = blocks(*device, *needed, block);
  return then > now ? then : 0;
}
