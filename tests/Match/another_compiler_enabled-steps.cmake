# A link to a script that runs one nvcc when it is asked, and another one when it compiles: what CMake detects isn't
# what was chosen.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
fake_toolkit("${case_DIR}/cuda-13" VERSION 13.0)
fake_toolkit("${case_DIR}/cuda-12" VERSION 12.4)
file(
  WRITE "${case_DIR}/tools/script"
  "#!/bin/sh
case \" $* \" in
  *CompilerId*) exec '${case_DIR}/cuda-12/bin/nvcc' \"$@\" ;;
  *) exec '${case_DIR}/cuda-13/bin/nvcc' \"$@\" ;;
esac
"
)
file(CHMOD "${case_DIR}/tools/script" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
file(CREATE_LINK "${case_DIR}/tools/script" "${case_DIR}/tools/nvcc" SYMBOLIC)
case_environment(CUDAOPS_SEED_COMPILERS=OFF)
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCMAKE_CUDA_COMPILER=${case_DIR}/tools/nvcc")
