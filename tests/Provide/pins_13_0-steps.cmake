# cuda-toolkit 13.0 leaves nvvm and crt open; pip would take those of the newest release.
use_fake_uv()
call_provide(old _cudaops_provide_toolkit 13.0.2 "pinned by torch 2.11.0+cu130")
call_provide(new _cudaops_provide_toolkit 13.2.2 "pinned by torch 2.15.0+cu132")
file(STRINGS "${case_DIR}/uv.log" calls ENCODING UTF-8)
list(GET calls 0 old)
list(GET calls 1 new)
case_match("13.0" "${old}" " cuda-toolkit.nvcc,cccl,cudart.==13\\.0\\.2 nvidia-nvvm==13\\.0\\.\\* nvidia-cuda-crt==13\\.0\\.\\*$")
case_match("13.2" "${new}" " cuda-toolkit.nvcc,cccl,cudart.==13\\.2\\.2$")
