# Device code made by hand: one container with a cubin for sm_90a and PTX for compute_120, headers only, so that no nvcc
# is needed here. nvcc's own is looked at in tests/python.
include("${CudaOps_ROOT}/cmake/detail/base/use.cmake")
_cudaops_use(op/audit)

enable_testing()
file(
  WRITE "${case_DIR}/device.cpp"
  [[
__asm__(
    ".pushsection .nv_fatbin,\"a\"\n"
    ".4byte 0xba55ed50\n.2byte 1, 16\n.8byte 2 * (64 + 16)\n"
    ".2byte 2, 0x101\n.4byte 64\n.8byte 16\n.4byte 9, 0, 0x10008, 90\n.4byte 0, 0\n.8byte 0x108011\n.8byte 0, 4000\n"
    ".8byte 0, 0\n"
    ".2byte 1, 0x101\n.4byte 64\n.8byte 16\n.4byte 9, 0, 0x90000, 120\n.4byte 0, 0\n.8byte 0x8011\n.8byte 0, 4000\n"
    ".8byte 0, 0\n"
    ".popsection\n");
]]
)
foreach(name IN ITEMS good more missing untested)
  add_library(${name} SHARED "${case_DIR}/device.cpp")
endforeach()
_cudaops_op_audit(good EXPECT compute_120 sm_90a PYTHON "${case_PYTHON}")
_cudaops_op_audit(more EXPECT sm_90a PYTHON "${case_PYTHON}")
_cudaops_op_audit(missing EXPECT sm_90a sm_100f compute_90 PYTHON "${case_PYTHON}")
_cudaops_op_audit(untested EXPECT PYTHON "${case_PYTHON}")
_cudaops_op_audit(untested EXPECT sm_90a PYTHON "")
