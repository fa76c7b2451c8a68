# A copy of cmake/ alone is a package, without the kernels.
file(COPY "${case_REPO}/cmake" DESTINATION "${case_DIR}/copy")
consumer(
  HEAD "set(CudaOps_ROOT [==[${case_DIR}/copy/cmake]==])\nset(CudaOps_KERNELS_DIR /of/another/copy)"
  BODY "if(DEFINED CudaOps_KERNELS_DIR)\n  message(SEND_ERROR \"found \${CudaOps_KERNELS_DIR}\")\nendif()"
)
