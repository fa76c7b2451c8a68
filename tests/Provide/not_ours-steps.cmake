# What the user put there is never removed.
use_fake_uv()
file(WRITE "${case_DIR}/store/toolkits/13.2.2/precious" "mine")
call_provide(make _cudaops_provide_toolkit 13.2.2 x)
if(NOT EXISTS "${case_DIR}/store/toolkits/13.2.2/precious")
  case_fail("the user's file is gone")
endif()
expect_store(toolkits 13.2.2)
