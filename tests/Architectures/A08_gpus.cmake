# What nvidia-smi says: 12.1 is 12.1, and CUDA_VISIBLE_DEVICES counts where it can be told what it means.
include("${CMAKE_CURRENT_LIST_DIR}/common/check.cmake")
include("${check_CMAKE_DIR}/detail/facts/gpus.cmake")

function(gpus text visible order expected)
  _cudaops_gpus_read("${text}" "${visible}" "${order}" gpus)
  check_equal("'${visible}' '${order}'" "${gpus}" "${expected}")
endfunction()

set(one "0, GPU-b7a1-22, 12.1\n")
set(mixed "0, GPU-aaaa-01, 9.0\n1, GPU-bbbb-02, 12.0\n2, GPU-cccc-03, 9.0\n")
gpus("${one}" "" "" "12.1")
gpus("${one}" "0" "" "12.1")
gpus("${mixed}" "" "" "9.0;12.0")
# Without PCI_BUS_ID, CUDA's order is another one than nvidia-smi's.
gpus("${mixed}" "1" "" "9.0;12.0")
gpus("${mixed}" "1" "PCI_BUS_ID" "12.0")
gpus("${mixed}" "0,2" "PCI_BUS_ID" "9.0")
gpus("${mixed}" "GPU-bbbb" "" "12.0")
gpus("${mixed}" "GPU-dddd" "" "9.0;12.0")
gpus("0, GPU-b7a1-22, [N/A]\n" "" "" "")
gpus("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n" "" "" "")
gpus("Field \"compute_cap\" is not a valid field to query.\n" "" "" "")
gpus("" "" "" "")
