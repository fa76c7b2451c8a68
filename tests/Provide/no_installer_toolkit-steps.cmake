# A uv that doesn't start (a version manager's shim) is none.
use_plain_python()
use_fake_uv()
case_environment(FAKE_UV=absent)
call_provide(ask _cudaops_provide_toolkit 13.2.2 x)
expect_calls(0)
