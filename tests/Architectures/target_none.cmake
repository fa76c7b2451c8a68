include("${CMAKE_CURRENT_LIST_DIR}/common/match.cmake")
cudaops_target_architectures()
