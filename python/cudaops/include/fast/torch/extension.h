// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cudaops_fast/device.h>
#include <cudaops_fast/library.h>
#include <cudaops_fast/python.h>

namespace py = pybind11;
