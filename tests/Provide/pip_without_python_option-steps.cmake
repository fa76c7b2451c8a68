# Ubuntu 22.04's pip can't work in another environment, but can lay files into it.
use_plain_python()
execute_process(
  COMMAND
    "${case_PYTHON}" -c
    "import sysconfig, shutil; shutil.copy('${case_SUITE}/common/pip.py', sysconfig.get_path('purelib'))"
  COMMAND_ERROR_IS_FATAL ANY
)
call_provide(make _cudaops_provide_torch)
file(GLOB python "${case_DIR}/store/torch/2.15.0-cp3*/bin/python")
case_step(import COMMAND "${python}" -c "import torch.version\nprint(torch.version.__version__)")
case_equal("import" "${case_STEP_STDOUT}" "2.15.0+cu132\n")
