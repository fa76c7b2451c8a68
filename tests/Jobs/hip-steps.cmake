# HIP's translations are held back as .cu files are; kernels and separate linking keep their device link.
fake_rocm("${case_DIR}/rocm" VERSION 6.4)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
set(
  case_ARGS
  "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python"
  "-DROCm_ROOT=${case_DIR}/rocm"
  -DCMAKE_HIP_ARCHITECTURES=gfx90a
)
lent(small LIMIT 4096 USED 400)
file(WRITE "${case_DIR}/slow.sh" "sleep 0.4\nexec \"$@\"\n")
set(
  slow
  "-DCMAKE_HIP_COMPILER_LAUNCHER=sh\\;${case_DIR}/slow.sh"
  "-DCMAKE_CXX_COMPILER_LAUNCHER=sh\\;${case_DIR}/slow.sh"
)
sources(cu 1 5 <torch/extension.h>)
sources(cpp 1 4)
configure(
  "cudaops_add_kernels(my_kernels SOURCES k4.cu k5.cu h4.cpp)
add_torch_op(my_op ABI FULL SOURCES h1.cpp h2.cpp h3.cpp CUDA_SOURCES k1.cu k2.cu k3.cu)
target_link_libraries(my_op PRIVATE my_kernels)"
  ARGS ${jobs_LENT} ${slow} -DCUDAOPS_CUDA_JOB_MEMORY=2.9
)
expect_stdout("CudaOps: 1 HIP job.* at a time: 3\\.6 GiB free \\(cgroup\\), 2\\.9 GiB a file \\(k[1-5]\\.cu by CUDAOPS_CUDA_JOB_MEMORY")
case_build(ARGS -j18)
at_once(hip "k[0-9]\\.cu\\.o$")
case_equal("HIP jobs at once, in both targets" "${hip}" 1)
at_once(host "h[0-9]\\.cpp\\.o$")
by_source(by_source)
if(by_source AND host LESS 2)
  case_fail("C++ jobs at once: ${host}")
endif()
