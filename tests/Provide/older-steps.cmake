# The default torch has no wheel for this Python: the newest before it is taken, and found again. A version that the user
# names is not replaced.
use_fake_uv()
case_environment(FAKE_UV=older)
call_provide(default _cudaops_provide_torch)
case_match(
  "says so"
  "${case_STEP_STDOUT}"
  "no torch==2\\.15\\.0 for this Python: the newest before it is taken.*result \\[[^]]*/torch/2\\.14\\.1-cp3[0-9]+t?/bin/python\\]"
)
expect_calls(2)
call_provide(again _cudaops_provide_torch)
expect_calls(2)
call_provide(named _cudaops_provide_torch RESULT 1 DEFINE -DCUDAOPS_TORCH_VERSION=2.15.0)
case_match("named" "${case_STEP_STDERR}" "CUDAOPS_PROVIDE=TORCH: the package index has no such wheel for Python")
set_property(GLOBAL PROPERTY case_STDERR "")
expect_calls(3)
# Brought under its own name first, it stays as it is and serves both.
file(REMOVE_RECURSE "${case_DIR}/store")
call_provide(own_name _cudaops_provide_torch DEFINE -DCUDAOPS_TORCH_VERSION=2.14.1)
file(GLOB place "${case_DIR}/store/torch/2.14.1-*")
file(WRITE "${place}/mark" "")
call_provide(default _cudaops_provide_torch)
call_provide(again _cudaops_provide_torch)
expect_calls(6)
if(NOT EXISTS "${place}/mark")
  case_fail("the one that was there was replaced")
endif()
cmake_path(GET place FILENAME name)
expect_store(torch ${name})
