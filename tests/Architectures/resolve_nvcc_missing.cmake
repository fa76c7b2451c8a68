include("${CMAKE_CURRENT_LIST_DIR}/common/match.cmake")
cudaops_resolve_architectures(archs REQUEST 90 NVCC /nowhere/bin/nvcc)
