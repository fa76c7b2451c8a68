# Made once, then found without a call; a blank in the path; nothing half made left.
use_fake_uv()
set(store "${case_DIR}/my store")
case_environment("CUDAOPS_STORE=${store}")
call_provide(first _cudaops_provide_toolkit 13.2.2 "pinned by torch 2.15.0+cu132")
case_match("path" "${case_STEP_STDOUT}" "result \\[[^]]*/my store/toolkits/13\\.2\\.2/nvidia/cu13\\]")
case_match(
  "size, place and tool come first"
  "${case_STEP_STDOUT}"
  "^-- CUDAOPS_PROVIDE=TOOLKIT: cuda-toolkit.nvcc,cccl,cudart.==13\\.2\\.2 to [^\n]*/my store/toolkits/13\\.2\\.2: about [0-9]+ MB to download, [0-9.]+ GB on disk; with uv 9\\.9\\.9 Resolved 2 packages"
)
case_environment(FAKE_UV=other)
call_provide(second _cudaops_provide_toolkit 13.2.2 "pinned by torch 2.15.0+cu132")
case_equal("nothing said" "${case_STEP_STDOUT}" "-- result [${store}/toolkits/13.2.2/nvidia/cu13]\n")
call_provide(any_update _cudaops_provide_toolkit 13.2 x)
call_provide(list _cudaops_provided_toolkits)
case_equal("list" "${case_STEP_STDOUT}" "-- result [${store}/toolkits/13.2.2/nvidia/cu13]\n")
expect_calls(1)
file(GLOB entries LIST_DIRECTORIES TRUE RELATIVE "${store}/toolkits" "${store}/toolkits/*" "${store}/toolkits/.*")
list(REMOVE_ITEM entries . ..)
case_equal("store" "${entries}" ".lock;13.2.2;CACHEDIR.TAG")
file(GLOB entries LIST_DIRECTORIES TRUE RELATIVE "${store}/toolkits/13.2.2" "${store}/toolkits/13.2.2/.*")
list(REMOVE_ITEM entries . ..)
case_equal("toolkit" "${entries}" ".complete")
# Without it CMake's FindCUDAToolkit links the libcudart of whichever toolkit it meets.
file(READ_SYMLINK "${store}/toolkits/13.2.2/nvidia/cu13/lib/libcudart.so" link)
case_equal("libcudart.so" "${link}" "libcudart.so.13")
