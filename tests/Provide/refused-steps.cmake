use_fake_uv()
case_environment(FAKE_UV=refused)
call_provide(ask _cudaops_provide_torch DEFINE -DCUDAOPS_TORCH_VERSION=2.13.0)
expect_store(torch)
