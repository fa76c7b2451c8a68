include("${CMAKE_CURRENT_LIST_DIR}/common/match.cmake")
cudaops_resolve_architectures(archs "")
