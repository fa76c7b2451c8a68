// SPDX-License-Identifier: Apache-2.0
// Names a part of the host's time line for Nsight Systems and Nsight Compute:
//
//   void launch_scale(float* out, int64_t n, cudaStream_t stream) {
//     CUDAOPS_RANGE("scale");
//     ...
//   }
//
// The range ends with the block. Nothing is compiled without CUDAOPS_NVTX=1, which the CMake option
// of that name defines where the target has CUDA's headers; a file without them has no ranges. With
// it, a range without a profiler costs a few nanoseconds.
//
// Operators of torch have ranges without any of this, inside of
// torch.autograd.profiler.emit_nvtx().
#pragma once

#if defined(CUDAOPS_NVTX) && defined(__has_include)
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define CUDAOPS_HAS_NVTX 1
#endif
#endif

#if defined(CUDAOPS_HAS_NVTX)

namespace cudaops {

class Range {
 public:
  explicit Range(const char* name) { nvtxRangePushA(name); }
  ~Range() { nvtxRangePop(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace cudaops

#define CUDAOPS_RANGE_NAME(line) CUDAOPS_RANGE_NAME_OF(line)
#define CUDAOPS_RANGE_NAME_OF(line) cudaops_range_##line
#define CUDAOPS_RANGE(name) const ::cudaops::Range CUDAOPS_RANGE_NAME(__LINE__)(name)

#else
#define CUDAOPS_RANGE(name) static_cast<void>(0)
#endif
