# `pip install -e <checkout>`: scikit-build-core takes the place of the Python package for CudaOps_ROOT.
consumer(HEAD "set(CudaOps_ROOT [==[${case_REPO}/python/cudaops]==])")
expect_consumer("^${case_REPO}/python/cudaops$")
