# What both installers must do with a folder of wheels and no index. A user's settings that would send the files
# elsewhere, or call them installed already, change nothing.
file(MAKE_DIRECTORY "${case_DIR}/wheels")
execute_process(
  COMMAND
    "${case_PYTHON}" "${case_SUITE}/common/wheels.py" "${case_DIR}/wheels" torch==2.15.0 numpy==2.0 cuda_toolkit==13.2.2
    nvidia_cuda_nvcc==13.2.88 nvidia_cuda_cccl==13.2.86 nvidia_cuda_runtime==13.2.86
  COMMAND_ERROR_IS_FATAL ANY
)
file(WRITE "${case_DIR}/elsewhere/numpy-9.0.dist-info/METADATA" "Metadata-Version: 2.1\nName: numpy\nVersion: 9.0\n")
case_environment(
  PIP_NO_INDEX=1
  PIP_FIND_LINKS=wheels
  PIP_USER=1
  PIP_REQUIRE_VIRTUALENV=1
  "PIP_TARGET=${case_DIR}/elsewhere"
  "UV_TARGET=${case_DIR}/elsewhere"
  UV_SYSTEM_PYTHON=1
  "PYTHONPATH=${case_DIR}/elsewhere"
)
call_provide(toolkit _cudaops_provide_toolkit 13.2.2 x)
call_provide(torch _cudaops_provide_torch)
file(GLOB prefix "${case_DIR}/store/torch/2.15.0-cp3*")
case_step(
  import
  COMMAND
    "${prefix}/bin/python" -I -c
    "import torch.version, numpy, sys\nprint(torch.version.__version__, numpy.__file__.startswith(sys.prefix))"
)
case_equal("import" "${case_STEP_STDOUT}" "2.15.0+cu132 True\n")
case_step(tool COMMAND "${prefix}/bin/tool")
case_equal("tool" "${case_STEP_STDOUT}" "tool of 2.15.0+cu132\n")
call_provide(list _cudaops_provided_toolkits)
case_equal("toolkit" "${case_STEP_STDOUT}" "-- result [${case_DIR}/store/toolkits/13.2.2/nvidia/cu13]\n")
case_step(nvcc COMMAND "${case_DIR}/store/toolkits/13.2.2/nvidia/cu13/bin/nvcc")
file(GLOB_RECURSE elsewhere "${case_DIR}/elsewhere/*" "${case_DIR}/home/*")
case_equal("elsewhere" "${elsewhere}" "${case_DIR}/elsewhere/numpy-9.0.dist-info/METADATA")
