// SPDX-License-Identifier: Apache-2.0
// attention_decode's kernel for every device, dtype and shape: for calls that those on tensor cores
// don't take.
#pragma once

#include "../common/device_types.cuh"
#include "attention_decode_plan.cuh"

namespace cudaops_kernels {
namespace decode {

// `plan`: what the call says; how it is cut for other kernels does not matter.
void launch_plain_decode(const Plan& plan, cudaStream_t stream);

}  // namespace decode
}  // namespace cudaops_kernels
