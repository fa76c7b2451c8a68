# A fake torch is found by its Python and refuses to be imported.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
set(find "import importlib.util as u; print(u.find_spec('torch').origin)")
case_step(find COMMAND "${case_DIR}/venv/bin/python" -c "${find}")
case_match("origin" "${case_STEP_STDOUT}" "/venv/lib/python[0-9.]+/site-packages/torch/__init__.py$")
case_step(import RESULT 1 COMMAND "${case_DIR}/venv/bin/python" -c "import torch")
case_match("import" "${case_STEP_STDERR}" "ImportError: this torch must not be imported$")
set_property(GLOBAL PROPERTY case_STDERR "")
case_step(
  version
  COMMAND "${case_DIR}/venv/bin/python" -c "exec(open('${case_DIR}/venv/lib/python${case_PYTHON_VERSION}/site-packages/torch/version.py').read()); print(__version__, cuda, hip)"
)
case_equal("version.py" "${case_STEP_STDOUT}" "2.13.0+cu130 13.0 None\n")
fake_python("${case_DIR}/empty")
case_step(none RESULT 1 COMMAND "${case_DIR}/empty/bin/python3" -c "${find}")
set_property(GLOBAL PROPERTY case_STDERR "")
