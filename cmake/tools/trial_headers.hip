// SPDX-License-Identifier: Apache-2.0
// Which headers clang lists of which pass: asked by accelerate/cache_clang.cmake. Both headers are clang's own.
#ifdef __HIP_DEVICE_COMPILE__
#include <stdarg.h>
#else
#include <stdbool.h>
#endif
