# A toolkit that was asked for and isn't there is a mistake to be told.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAToolkit_ROOT=${case_DIR}/nowhere")
