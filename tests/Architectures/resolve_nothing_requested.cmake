include("${CMAKE_CURRENT_LIST_DIR}/common/match.cmake")
_cudaops_state_set(ARCHITECTURES "")
cudaops_resolve_architectures(archs ARCHITECTURES 90)
