include("${CMAKE_CURRENT_LIST_DIR}/common/match.cmake")
cudaops_target_architectures(my_ops 90)
