# Words to numbers.
include("${CMAKE_CURRENT_LIST_DIR}/common/check.cmake")
_cudaops_use(arch/select)

# expand(<release> <request> <torch> <gpus> <entries> [<warning>...])
function(
  expand
  release
  request
  torch
  gpus
  entries
)
  cmake_parse_arguments(PARSE_ARGV 5 arg "" "" "")
  _cudaops_arch_expand(x REQUEST ${request} SUPPORTED ${check_${release}} TORCH_ARCHS ${torch} GPUS ${gpus})
  set(what "${request} on ${release}, torch '${torch}', GPUs '${gpus}'")
  check_equal("${what}" "${x_ENTRIES}" "${entries}")
  check_equal("${what}: warnings" "${x_WARNINGS}" "${arg_UNPARSED_ARGUMENTS}")
endfunction()

set(common "75-real;80-real;86-real;90-real;100-real;120-real;120-virtual")
expand(13_0 all-major "" "" "75-real;80-real;90-real;100-real;110-real;120-real;120-virtual")
expand(12_8 all-major "" "" "50-real;60-real;70-real;80-real;90-real;100-real;120-real;120-virtual")
expand(
  13_0 all "" ""
  "75-real;80-real;86-real;87-real;88-real;89-real;90-real;100-real;103-real;110-real;120-real;121-real;121-virtual"
)
expand(13_0 common "70;75;80;86;90;100;120" "" "${common}")
expand(13_0 common "70-real 75 80 86 90 90a 100 120" "" "${common}")
expand(12_6 common "75;80;86;90;100;120" "" "75-real;80-real;86-real;90-real;90-virtual")
expand(12_6 common "" "" "50-real;52-real;53-real;60-real;61-real;62-real;70-real;72-real;75-real;80-real;86-real;87-real;89-real;90-real;90-virtual")
# A torch that shares nothing with the toolkit says nothing about it.
expand(13_0 common "35;50" "" "75-real;80-real;86-real;87-real;88-real;89-real;90-real;100-real;103-real;110-real;120-real;121-real;121-virtual")

# Words among numbers, each entry once.
expand(13_0 "90a-real;common;90-real" "90;120" "" "90a-real;90-real;120-real;120-virtual")
expand(13_0 "80-real;120f-virtual" "" "" "80-real;120f-virtual")

expand(13_0 native "80" "9.0" "90-real")
expand(13_0 native "80" "12.1;9.0" "121-real;90-real")
expand(13_0 native "80;90" "" "80-real;90-real;90-virtual" "no GPU is visible here for native, so the common architectures are built.")
expand(12_8 native "" "12.1" "120-real" "this toolkit does not know the visible GPU 12.1, which gets 120-real.")
expand(12_6 native "" "12.0" "90-virtual" "this toolkit does not know the visible GPU 12.0, which gets 90-virtual.")
expand(12_9 native "" "11.0" "101-real" "this toolkit does not know the visible GPU 11.0, which gets 101-real.")
expand(13_0 native "80" "7.0;8.6" "86-real" "the visible GPU 7.0 is older than what this toolkit builds and is left out.")
expand(
  13_0 native "80" "7.0" "80-real;80-virtual" "the visible GPU 7.0 is older than what this toolkit builds and is left out."
  "no visible GPU can be served, so the common architectures are built."
)
