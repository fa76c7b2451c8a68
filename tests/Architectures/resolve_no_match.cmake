include("${CMAKE_CURRENT_LIST_DIR}/common/match.cmake")
_cudaops_state_set(VERDICT "")
cudaops_resolve_architectures(archs REQUEST 90)
