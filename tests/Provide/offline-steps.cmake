# The installer's lines are shown, what is secret in them is not.
use_fake_uv()
case_environment(FAKE_UV=offline "UV_DEFAULT_INDEX=https://someone:hunter2@index.invalid/simple")
call_provide(ask _cudaops_provide_toolkit 13.2.2 "pinned by torch 2.15.0+cu132")
case_match("live" "${case_STEP_STDOUT}" "cause: Failed to fetch: http://index.invalid/simple/x/")
case_not_match("no secret" "${case_STEP_STDOUT}${case_STEP_STDERR}" "someone|hunter2")
expect_store(toolkits)
