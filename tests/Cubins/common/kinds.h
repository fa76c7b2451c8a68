#pragma once
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#include "new.h"
#endif
