# What a toolkit can't build, the reason for each, and the list that would do.
include("${CMAKE_CURRENT_LIST_DIR}/common/check.cmake")
_cudaops_use(arch/select)

# unbuildable(<toolkit> <request> <bad> <fact> <suggestion> <other toolkit>)
function(
  unbuildable
  toolkit
  request
  bad
  fact
  suggestion
  other
)
  string(REPLACE "." "_" release "${toolkit}")
  _cudaops_arch_parse("${request}" entries error)
  _cudaops_arch_check(c ENTRIES ${entries} SUPPORTED ${check_${release}} TOOLKIT_VERSION ${toolkit}.88)
  set(what "${request} on ${toolkit}")
  check_equal("${what}: bad" "${c_BAD}" "${bad}")
  list(POP_FRONT c_FACTS range)
  string(REGEX REPLACE "^problem +" "" facts "${c_FACTS}")
  check_equal("${what}: facts" "${facts}" "${fact}")
  check_equal("${what}: suggestion" "${c_SUGGESTION}" "${suggestion}")
  check_equal("${what}: toolkit" "${c_TOOLKIT}" "${other}")
endfunction()

unbuildable(13.0 "7.0 9.0" "70-real" "7.0: older than 7.5" "90-real" "a CUDA 12 toolkit")
unbuildable(13.0 "7.0" "70-real" "7.0: older than 7.5" "75" "a CUDA 12 toolkit")
unbuildable(13.0 "37" "37-real;37-virtual" "3.7: older than 7.5" "75" "a CUDA 11 toolkit")
unbuildable(12.6 "37-real" "37-real" "3.7: older than 5.0" "50" "a CUDA 11 toolkit")
unbuildable(12.6 "10.0" "100-real" "10.0: newer than 9.0" "90-virtual" "a newer toolkit")
unbuildable(11.8 "90a" "90a-real;90a-virtual" "9.0a: this toolkit has no architecture with a" "90" "")
unbuildable(13.0 "101a" "101a-real;101a-virtual" "10.1a: called 11.0 (110) in CUDA 13" "110a" "")
unbuildable(13.0 "10.1 9.0" "101-real" "10.1: called 11.0 (110) in CUDA 13" "90-real;110-real" "")
unbuildable(12.8 "Blackwell+Tegra" "110-real" "11.0: called 10.1 (101) before CUDA 13" "101-real" "")
unbuildable(12.8 "11.0f" "110f-real" "11.0f: called 10.1 (101) before CUDA 13" "101-real" "")
unbuildable(12.8 "10.0f" "100f-real" "10.0f: this toolkit has no architecture with f" "100-real" "CUDA 12.9 or newer")
unbuildable(13.0 "90f" "90f-real;90f-virtual" "9.0f: with f this toolkit builds 10.0f 10.3f 11.0f 12.0f 12.1f" "90" "")
unbuildable(13.0 "8.5" "85-real" "8.5: not among what this toolkit builds" "80-real" "another toolkit")
unbuildable(
  12.8 "Blackwell" "103-real;121-real" "10.3: not among what this toolkit builds;           12.1: newer than 12.0"
  "100-real;120" "a newer toolkit"
)

# All is well: nothing is said.
_cudaops_arch_check(c ENTRIES 90a-real 100f-virtual 75-real SUPPORTED ${check_13_0} TOOLKIT_VERSION 13.0.88)
check_equal("good" "${c_GOOD}|${c_BAD}|${c_RULE}|${c_FACTS}" "90a-real;100f-virtual;75-real|||")
# An nvcc that couldn't be asked: nothing is refused.
_cudaops_arch_check(c ENTRIES 20-real SUPPORTED TOOLKIT_VERSION 13.0.88)
check_equal("unknown" "${c_BAD}" "")
