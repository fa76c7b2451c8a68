# Permission bits don't bind root, a file in the place of a directory does.
use_fake_uv()
# A case's store comes with the compile launcher in it.
file(REMOVE_RECURSE "${case_DIR}/store")
file(WRITE "${case_DIR}/store" "a file")
call_provide(ask _cudaops_provide_toolkit 13.2.2 x)
expect_calls(0)
