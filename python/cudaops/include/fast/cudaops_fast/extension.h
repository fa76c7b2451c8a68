// SPDX-License-Identifier: Apache-2.0
// torch/extension.h: with the part for Python where a text names it.
#pragma once

#include "all.h"
#ifdef CUDAOPS_FAST_PYTHON
#include "python.h"
#endif

namespace pybind11 {}
namespace py = pybind11;
