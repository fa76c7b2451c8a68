# A torch whose CMake files say PYTORCH_FOUND_HIP and not HIP_FOUND: it is ROCm's by its own files, before and after a
# project's own find_package(Torch). (vllm#43881)
fake_rocm("${case_DIR}/rocm" VERSION 6.4)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4 FOUND_HIP_ONLY)
match(ARGS ${hip_ARGS})
expect_match(VERDICT EXACT HIP_ENABLED TRUE)
file(REMOVE_RECURSE "${case_BUILD_DIR}")
set(root "${case_DIR}/venv/lib/python${case_PYTHON_VERSION}/site-packages/torch")
match(
  BEFORE
    "find_package(Torch REQUIRED)
if(NOT PYTORCH_FOUND_HIP OR HIP_FOUND)
  message(FATAL_ERROR \"\${PYTORCH_FOUND_HIP} \${HIP_FOUND}\")
endif()"
  ARGS ${hip_ARGS} "-DTorch_DIR=${root}/share/cmake/Torch"
)
expect_match(VERDICT EXACT HIP_ENABLED TRUE CUDA_ENABLED FALSE TORCH_DIR "${root}")
file(REMOVE_RECURSE "${case_BUILD_DIR}")
match(AFTER "find_package(Torch REQUIRED)" ARGS ${hip_ARGS} "-DTorch_DIR=${root}/share/cmake/Torch")
expect_match(VERDICT EXACT HIP_ENABLED TRUE)
