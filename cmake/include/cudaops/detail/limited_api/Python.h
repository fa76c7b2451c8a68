// SPDX-License-Identifier: Apache-2.0
// Python.h of an abi3 module: declares what PYTHON_TARGET of add_torch_op() has, unless its author
// has said another version, on the command line or in the source.
#pragma GCC system_header

#ifndef Py_LIMITED_API
#define Py_LIMITED_API CUDAOPS_PY_LIMITED_API
#endif
#include_next <Python.h>
