# Scripts that say one release and run another's nvcc are not the toolkit that they run, nor one another.
fake_toolkit("${case_DIR}/cuda-13" VERSION 13.0)
foreach(version IN ITEMS 11.5.119 12.4.131)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" release "${version}")
  file(
    WRITE "${case_DIR}/${version}/bin/nvcc"
    "#!/bin/sh
if [ \"$1\" = --version ]; then echo 'Cuda compilation tools, release ${release}, V${version}'
else exec '${case_DIR}/cuda-13/bin/nvcc' \"$@\"; fi
"
  )
  file(CHMOD "${case_DIR}/${version}/bin/nvcc" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endforeach()
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0 NO_WHEELS)
case_path("${case_DIR}/11.5.119/bin" "${case_DIR}/12.4.131/bin" "${case_DIR}/cuda-13/bin")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(VERDICT EXACT CUDA_ENABLED TRUE TOOLKIT_ROOT "${case_DIR}/cuda-13" NVCC "${case_DIR}/cuda-13/bin/nvcc")
expect_candidate(0 11.5.119 PATH MISMATCH "no ptxas beside nvcc")
expect_candidate(1 12.4.131 PATH MISMATCH "no ptxas beside nvcc")
expect_candidate(2 13.0.88 PATH EXACT)
