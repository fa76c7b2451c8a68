"""Stand-in for torch.utils.hipify.cuda_to_hip_mappings: the names that the tests' sources use."""

CUDA_TO_HIP_MAPPINGS = [
    {
        "cudaError_t": "hipError_t",
        "cudaStream_t": "hipStream_t",
        "cudaDeviceProp": "hipDeviceProp_t",
        "cudaSuccess": "hipSuccess",
        "cudaErrorNoDevice": "hipErrorNoDevice",
        "cudaErrorInvalidValue": "hipErrorInvalidValue",
        "cudaGetDevice": "hipGetDevice",
        "cudaGetDeviceCount": "hipGetDeviceCount",
        "cudaGetDeviceProperties": "hipGetDeviceProperties",
        "cudaGetLastError": "hipGetLastError",
        "cudaPeekAtLastError": "hipPeekAtLastError",
        "cudaGetErrorString": "hipGetErrorString",
        "cudaGetErrorName": "hipGetErrorName",
        "cudaMalloc": "hipMalloc",
        "cudaFree": "hipFree",
        "cudaMemcpyAsync": "hipMemcpyAsync",
        "cuda_runtime.h": "hip/hip_runtime.h",
        "cuda_runtime_api.h": "hip/hip_runtime_api.h",
        "cuda_fp16.h": "hip/hip_fp16.h",
        "cuda_bf16.h": "hip/hip_bf16.h",
        "cooperative_groups.h": "hip/hip_cooperative_groups.h",
    }
]
