use_fake_uv()
call_provide(ask _cudaops_provide_toolkit 12.8 "pinned by torch 2.10.0+cu128")
expect_calls(0)
