// SPDX-License-Identifier: Apache-2.0
// The bridge, found; macros of C10.
#pragma once

#include <cudaops_fast_config.h>
// With torch's own numbers come its own macros.
#if defined(CUDAOPS_FAST_HALF) || defined(CUDAOPS_FAST_COMPLEX)
#include <torch/headeronly/macros/Macros.h>
#endif

#include <cstdint>
#include <stdexcept>

#include "bridge.h"

#ifndef C10_HOST_DEVICE
#ifdef __CUDACC__
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#else
#define C10_HOST_DEVICE
#define C10_DEVICE
#define C10_HOST
#endif
#endif
#ifndef C10_ALWAYS_INLINE
#define C10_ALWAYS_INLINE __attribute__((__always_inline__)) inline
#endif
#ifndef C10_LIKELY
#define C10_LIKELY(expr) (__builtin_expect(static_cast<bool>(expr), 1))
#define C10_UNLIKELY(expr) (__builtin_expect(static_cast<bool>(expr), 0))
#endif
#if defined(__CUDACC__) && !defined(C10_WARP_SIZE)
#define C10_WARP_SIZE 32
#endif
#ifndef C10_UNUSED
#define C10_UNUSED __attribute__((__unused__))
#endif

extern "C" {
void* PyCapsule_Import(const char* name, int no_block);
void PyErr_Print();
int PyGILState_Ensure();
void PyGILState_Release(int);
}

namespace cudaops_fast {

// Found by the first who asks: a static object of the text may, before the module's own
// initialisation.
inline const Bridge* bridge_pointer = nullptr;

inline const Bridge* find_bridge() {
  const int state = PyGILState_Ensure();
  const auto* found = static_cast<const Bridge*>(PyCapsule_Import("cudaops._fast_bridge.table", 0));
  if (!found) PyErr_Print();
  PyGILState_Release(state);
  if (!found || found->version != bridge_version)
    throw std::runtime_error("cudaops: a module with fast headers found no bridge to torch");
  bridge_pointer = found;
  return found;
}

inline const Bridge* bridge() {
  return __builtin_expect(bridge_pointer != nullptr, 1) ? bridge_pointer : find_bridge();
}

}  // namespace cudaops_fast
