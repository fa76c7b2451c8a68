# A project case: generated, configured, built, its report read.
run_inner(project PASSES KIND PROJECT)
run_inner(project_warns FAILS "stderr does not match" "nobody planned this" KIND PROJECT)
