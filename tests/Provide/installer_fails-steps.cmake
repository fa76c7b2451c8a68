use_fake_uv()
case_environment(FAKE_UV=other)
call_provide(ask _cudaops_provide_toolkit 13.2.2 x)
expect_store(toolkits)
