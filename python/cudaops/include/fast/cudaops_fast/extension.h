// SPDX-License-Identifier: Apache-2.0
// torch/extension.h: with the part for Python where a text names it.
#pragma once

// As Python.h does: of the C++ library, with their overloads in the global namespace.
#include <math.h>
#include <stdlib.h>

#include "all.h"
#ifdef CUDAOPS_FAST_WITH_PYTHON
#include "python.h"
#endif

namespace pybind11 {}
namespace py = pybind11;
