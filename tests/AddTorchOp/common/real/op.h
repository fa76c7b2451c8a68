#pragma once
#include <cuda_runtime_api.h>

void launch_twice(const float* in, float* out, long count, cudaStream_t stream);
