// SPDX-License-Identifier: Apache-2.0
// geglu: gelu(gate) * up, with gelu exact or approximated by tanh. Shapes, types, strides and
// aliasing: see gated_unit.h.
#pragma once

#include "../common/activations.h"
#include "../common/gated_unit.h"
#include "../common/parallel_for.h"

namespace cudaops_kernels {

// Device pointers, aligned to their element size; fastest where rows start at multiples of 16
// bytes. What lies between the rows of an array may be read. Enqueues on `stream` (a cudaStream_t)
// of the current device and returns. Throws std::runtime_error when a launch fails.
void launch_geglu(const GatedUnit& call, GeluKind kind, void* stream);
void launch_geglu_backward(const GatedUnitBackward& call, GeluKind kind, void* stream);

// Host pointers. Return when the results are written. Don't throw.
void geglu_cpu(const GatedUnit& call, GeluKind kind, ParallelFor parallel_for = serial_for);
void geglu_backward_cpu(const GatedUnitBackward& call, GeluKind kind,
                        ParallelFor parallel_for = serial_for);

}  // namespace cudaops_kernels
