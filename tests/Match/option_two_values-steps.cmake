# Two values, each of which is one, are none.
match(BEFORE "set(CUDAOPS_BACKEND CUDA HIP)")
