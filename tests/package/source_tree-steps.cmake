# A checkout is a package as it stands.
consumer(HEAD "set(CudaOps_ROOT [==[${case_REPO}]==])")
expect_consumer("^${case_REPO}/cmake$")
