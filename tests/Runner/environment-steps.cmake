# What the developer's shell holds reaches no case.
case_environment(CUDA_HOME=/nowhere TORCH_CUDA_ARCH_LIST=8.0 CUDAOPS_VERSION_POLICY=WARN VIRTUAL_ENV=/nowhere CXX=nothing)
run_inner(environment PASSES)
run_inner(odd_environment PASSES)
