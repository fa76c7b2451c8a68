# A toolkit brought earlier is found without CUDAOPS_PROVIDE; a half one, without its stamp, is not.
fake_torch("${case_DIR}/venv" VERSION 2.15.0 CUDA 13.2 NO_WHEELS)
fake_toolkit("${case_DIR}/store/toolkits/13.2.2" VERSION 13.2 LAYOUT PIP)
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(VERDICT NO_TOOLKIT CUDA_ENABLED FALSE)
file(GLOB roots "${case_DIR}/store/toolkits/13.2.2/nvidia/cu13")
case_match("laid down" "${roots}" "cu13$")
