# Such a copy says that it has no kernels when one is asked for.
file(COPY "${case_REPO}/cmake" "${case_REPO}/python" DESTINATION "${case_DIR}/copy")
consumer(
  HEAD "set(CudaOps_ROOT [==[${case_DIR}/copy/cmake]==])"
  BODY "cudaops_add_reference_kernels(rms_norm)"
)
