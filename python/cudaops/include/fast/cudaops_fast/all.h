// SPDX-License-Identifier: Apache-2.0
// torch/all.h: with the part for ops where a text names it (cudaops/jit/fast.py says so), which
// nvcc reads three times.
#pragma once

#include "device.h"
#ifdef CUDAOPS_FAST_WITH_LIBRARY
#include "library.h"
#endif
