// SPDX-License-Identifier: Apache-2.0
// The element types that every op here takes. A launcher gets untyped pointers and one of these, so
// that callers without templates (bindings, ctypes) can use it.
#pragma once

#include <cstdint>

namespace cudaops_kernels {

enum class DType { kFloat32, kFloat16, kBFloat16 };

constexpr int64_t size_of(DType dtype) { return dtype == DType::kFloat32 ? 4 : 2; }

}  // namespace cudaops_kernels
