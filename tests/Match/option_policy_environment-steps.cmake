case_environment(CUDAOPS_VERSION_POLICY=OFF)
match()
