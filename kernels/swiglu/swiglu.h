// SPDX-License-Identifier: Apache-2.0
// swiglu: silu(gate) * up. Shapes, types, strides and aliasing: see gated_unit.h.
#pragma once

#include "../common/gated_unit.h"
#include "../common/parallel_for.h"

namespace cudaops_kernels {

// Device pointers, aligned to their element size; fastest where rows start at multiples of 16
// bytes. What lies between the rows of an array may be read. Enqueues on `stream` (a cudaStream_t)
// of the current device and returns. Throws std::runtime_error when a launch fails.
void launch_swiglu(const GatedUnit& call, void* stream);
void launch_swiglu_backward(const GatedUnitBackward& call, void* stream);

// Host pointers. Return when the results are written. Don't throw.
void swiglu_cpu(const GatedUnit& call, ParallelFor parallel_for = serial_for);
void swiglu_backward_cpu(const GatedUnitBackward& call, ParallelFor parallel_for = serial_for);

}  // namespace cudaops_kernels
