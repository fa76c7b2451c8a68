# What the public command gives.
include("${CMAKE_CURRENT_LIST_DIR}/common/match.cmake")

cudaops_resolve_architectures(archs)
check_equal("the match's" "${archs}" "90-real;103-real;120-real;120-virtual")
cudaops_resolve_architectures(archs ARCHITECTURES 90a 100f UNSERVED without)
check_equal("filtered" "${archs}|${without}" "90a-real;100f-real|12.0")
cudaops_resolve_architectures(archs ARCHITECTURES ">=10.0" UNSERVED without)
check_equal("from one on" "${archs}|${without}" "103-real;120-real;120-virtual|9.0")
cudaops_resolve_architectures(archs ARCHITECTURES 70 101 UNSERVED without)
check_equal("nothing fits" "${archs}|${without}" "|9.0;10.3;12.0")
cudaops_resolve_architectures(archs ARCHITECTURES "80;90" UNSERVED without)
check_equal("a quoted list" "${archs}|${without}" "90-real;90-virtual|")
cudaops_resolve_architectures(archs ARCHITECTURES all)
check_equal("all as a filter" "${archs}" "90-real;103-real;120-real;120-virtual")
cudaops_resolve_architectures(archs ARCHITECTURES all-major)
check_equal("a word as a filter" "${archs}" "90-real;100-real;120-real;120-virtual")
cudaops_resolve_architectures(archs ARCHITECTURES ${empty})
check_equal("an empty filter is none" "${archs}" "90-real;103-real;120-real;120-virtual")

cudaops_resolve_architectures(archs REQUEST 9.0a "12.0+PTX Ampere")
check_equal("REQUEST" "${archs}" "90a-real;120-real;120-virtual;80-real;86-real")
cudaops_resolve_architectures(archs REQUEST all-major ARCHITECTURES 8.0 90 UNSERVED without)
check_equal("both" "${archs}|${without}" "80-real;90-real;90-virtual|7.5")

# An out-variable that was set before, and names that the function uses itself.
set(entries before)
set(unserved before)
cudaops_resolve_architectures(entries REQUEST 9.0 ARCHITECTURES 9.0 UNSERVED unserved)
check_equal("names" "${entries}|${unserved}" "90-real|")

cudaops_resolve_architectures(archs REQUEST 9.0 NVCC "" UNSERVED "")
check_equal("empty values are defaults" "${archs}" "90-real")

# A match without a toolkit: nothing, so that a machine without CUDA can configure the rest.
_cudaops_state_set(TOOLKIT_ARCHS "")
_cudaops_state_set(VERDICT NO_TOOLKIT)
set(archs before)
cudaops_resolve_architectures(archs ARCHITECTURES 90a UNSERVED without)
check_equal("no toolkit" "${archs}|${without}" "|")
