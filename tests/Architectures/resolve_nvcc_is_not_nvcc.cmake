include("${CMAKE_CURRENT_LIST_DIR}/common/match.cmake")
file(WRITE "${case_DIR}/nvcc" "#!/bin/sh\necho 'what do you mean' >&2\nexit 3\n")
file(CHMOD "${case_DIR}/nvcc" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
cudaops_resolve_architectures(archs REQUEST 90 NVCC "${case_DIR}/nvcc")
