// SPDX-License-Identifier: Apache-2.0
// Numbers that the fast headers spell themselves.
#pragma once

#include <c10/core/DeviceType.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

namespace {

#define CUDAOPS_SAME(type, name, number) static_assert(static_cast<int>(type::name) == number);
CUDAOPS_SAME(c10::ScalarType, Byte, 0)
CUDAOPS_SAME(c10::ScalarType, Char, 1)
CUDAOPS_SAME(c10::ScalarType, Short, 2)
CUDAOPS_SAME(c10::ScalarType, Int, 3)
CUDAOPS_SAME(c10::ScalarType, Long, 4)
CUDAOPS_SAME(c10::ScalarType, Half, 5)
CUDAOPS_SAME(c10::ScalarType, Float, 6)
CUDAOPS_SAME(c10::ScalarType, Double, 7)
CUDAOPS_SAME(c10::ScalarType, ComplexHalf, 8)
CUDAOPS_SAME(c10::ScalarType, ComplexFloat, 9)
CUDAOPS_SAME(c10::ScalarType, ComplexDouble, 10)
CUDAOPS_SAME(c10::ScalarType, Bool, 11)
CUDAOPS_SAME(c10::ScalarType, BFloat16, 15)
CUDAOPS_SAME(c10::ScalarType, Float8_e5m2, 23)
CUDAOPS_SAME(c10::ScalarType, Float8_e4m3fn, 24)
CUDAOPS_SAME(c10::ScalarType, Float8_e5m2fnuz, 25)
CUDAOPS_SAME(c10::ScalarType, Float8_e4m3fnuz, 26)
CUDAOPS_SAME(c10::ScalarType, UInt16, 27)
CUDAOPS_SAME(c10::ScalarType, UInt32, 28)
CUDAOPS_SAME(c10::ScalarType, UInt64, 29)
CUDAOPS_SAME(c10::DeviceType, CPU, 0)
CUDAOPS_SAME(c10::DeviceType, CUDA, 1)
CUDAOPS_SAME(c10::DeviceType, XPU, 12)
CUDAOPS_SAME(c10::DeviceType, MPS, 13)
CUDAOPS_SAME(c10::DeviceType, Meta, 14)
CUDAOPS_SAME(c10::DeviceType, HPU, 15)
CUDAOPS_SAME(c10::DeviceType, PrivateUse1, 20)
CUDAOPS_SAME(c10::Layout, Strided, 0)
CUDAOPS_SAME(c10::Layout, Sparse, 1)
CUDAOPS_SAME(c10::Layout, SparseCsr, 2)
CUDAOPS_SAME(c10::Layout, Mkldnn, 3)
CUDAOPS_SAME(c10::Layout, SparseCsc, 4)
CUDAOPS_SAME(c10::Layout, SparseBsr, 5)
CUDAOPS_SAME(c10::Layout, SparseBsc, 6)
CUDAOPS_SAME(c10::Layout, Jagged, 7)
CUDAOPS_SAME(c10::MemoryFormat, Contiguous, 0)
CUDAOPS_SAME(c10::MemoryFormat, Preserve, 1)
CUDAOPS_SAME(c10::MemoryFormat, ChannelsLast, 2)
CUDAOPS_SAME(c10::MemoryFormat, ChannelsLast3d, 3)
#undef CUDAOPS_SAME

}  // namespace
