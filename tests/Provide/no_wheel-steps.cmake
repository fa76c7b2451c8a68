# The installer's text has a bracket that nothing closes, and a semicolon: both would break a CMake list.
use_fake_uv()
case_environment(FAKE_UV=nowheel)
call_provide(ask _cudaops_provide_torch DEFINE -DCUDAOPS_TORCH_VERSION=2.9)
expect_store(torch)
