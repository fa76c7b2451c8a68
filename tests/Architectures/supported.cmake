# What an nvcc says it builds.
include("${CMAKE_CURRENT_LIST_DIR}/common/check.cmake")
_cudaops_use(arch/select)

set(
  list_13_0
  "compute_75\ncompute_80\ncompute_86\ncompute_87\ncompute_88\ncompute_89\ncompute_90\ncompute_100\ncompute_110\ncompute_103\ncompute_120\ncompute_121\n"
)
# Prose with examples, then the allowed values in the order and with the line ends of the real text.
set(
  help_13_0
  "        situation, the value may be a 'real' architecture (such as a sm_50),
        '--gpu-architecture=sm_35' is equivalent to 'nvcc --gpu-architecture=compute_35
        Allowed values for this option:  'compute_100','compute_100a','lto_90a',
        'native','sm_100','sm_100a','sm_100f','sm_103','sm_103a','sm_103f','sm_110',
        'sm_110a','sm_110f','sm_120','sm_120a','sm_120f','sm_121','sm_121a','sm_121f',
        'sm_75','sm_80','sm_86','sm_87','sm_88','sm_89','sm_90','sm_90a'.
"
)
_cudaops_arch_supported(archs LIST_GPU_ARCH "${list_13_0}" HELP "${help_13_0}")
check_equal("list and help" "${archs}" "${check_13_0}")
_cudaops_arch_supported(archs LIST_GPU_ARCH "" HELP "${help_13_0}")
check_equal("help alone" "${archs}" "${check_13_0}")
_cudaops_arch_supported(archs LIST_GPU_ARCH "${list_13_0}" HELP "")
check_equal("list alone" "${archs}" "75;80;86;87;88;89;90;100;103;110;120;121")
_cudaops_arch_supported(archs LIST_GPU_ARCH "compute_90\ncompute_90a\ncompute_80\n" HELP "'sm_80','sm_90','sm_90a','sm_37'")
check_equal("suffixes in the list; plain ones of the help don't count" "${archs}" "80;90;90a")
_cudaops_arch_supported(archs LIST_GPU_ARCH "" HELP "")
check_equal("nothing" "${archs}" "")
_cudaops_arch_supported(archs LIST_GPU_ARCH "sh: 1: nvcc: not found" HELP "no such option")
check_equal("other text" "${archs}" "")
