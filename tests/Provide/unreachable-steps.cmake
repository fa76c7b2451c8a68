# The real pip against a port where nobody listens.
use_real_pip()
case_environment("PIP_INDEX_URL=http://someone:hunter2@127.0.0.1:9/simple")
call_provide(ask _cudaops_provide_torch)
case_not_match("no secret" "${case_STEP_STDOUT}${case_STEP_STDERR}" "someone|hunter2")
expect_store(torch)
