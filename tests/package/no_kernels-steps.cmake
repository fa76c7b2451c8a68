# A copy of cmake/ and python/ alone is a package, without the kernels.
file(COPY "${case_REPO}/cmake" "${case_REPO}/python" DESTINATION "${case_DIR}/copy")
consumer(
  HEAD "set(CudaOps_ROOT [==[${case_DIR}/copy/cmake]==])\nset(CudaOps_KERNELS_DIR /of/another/copy)"
  BODY "if(DEFINED CudaOps_KERNELS_DIR)\n  message(SEND_ERROR \"found \${CudaOps_KERNELS_DIR}\")\nendif()"
)
