# hipify-perl where there is no torch; neither is an error with both cures. The match that follows knows nothing of it.
fake_python("${case_DIR}/venv")
source(k.cpp "cudaError_t k();")
file(WRITE "${case_DIR}/rocm/bin/hipify-perl" "#!/bin/sh\nsed s/cudaError_t/hipError_t/ \"$1\"\n")
file(CHMOD "${case_DIR}/rocm/bin/hipify-perl" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
set(call "hipify_sources(t SOURCES k.cpp)\nadd_custom_target(all_t ALL DEPENDS \${t})")
misuse(
  "${call}"
  [[
hipify_sources(t): there is no translator from CUDA to HIP here.
  tried   <case>/venv/bin/python (Python_EXECUTABLE): Python …, no torch
  tried   hipify-perl on PATH, in ROCM_PATH/bin and /opt/rocm*/bin
  wanted  torch's translator (torch/utils/hipify), or hipify-perl
 Fix: -DCUDAOPS_HIPIFY=<python, or site-packages, of a torch 2.9 or later>
      or -DCUDAOPS_HIPIFY=<hipify-perl>
]]
  NO_MATCH
)
file(REMOVE_RECURSE "${case_BUILD_DIR}")
case_environment("ROCM_PATH=${case_DIR}/rocm")
configure("${call}" NO_MATCH)
expect_stdout("HIP translator: ${case_DIR}/rocm/bin/hipify-perl")
case_build()
expect_file("${case_BUILD_DIR}/t.hipified/k.cpp" "hipError_t k();\n")

# libtorch's zip has no Python part.
file(REMOVE_RECURSE "${case_BUILD_DIR}" "${case_DIR}/rocm")
fake_torch("${case_DIR}/libtorch" VERSION 2.13.0 CPU LAYOUT LIBTORCH)
misuse(
  "${call}"
  [[
hipify_sources(t): there is no translator from CUDA to HIP here.
  tried   <case>/libtorch: it holds no utils/hipify (libtorch's zip has no Python part)
  tried   hipify-perl on PATH, in ROCM_PATH/bin and /opt/rocm*/bin
  wanted  torch's translator (torch/utils/hipify), or hipify-perl
 Fix: -DCUDAOPS_HIPIFY=<python, or site-packages, of a torch 2.9 or later>
      or -DCUDAOPS_HIPIFY=<hipify-perl>
]]
  NO_MATCH
  ARGS "-DTorch_ROOT=${case_DIR}/libtorch"
)

# hipify-perl needs none, the translation around it does.
file(REMOVE_RECURSE "${case_BUILD_DIR}")
file(WRITE "${case_DIR}/perl/hipify-perl" "#!/bin/sh\n")
file(CHMOD "${case_DIR}/perl/hipify-perl" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
set(case_ARGS "")
misuse(
  "${call}"
  [[
hipify_sources(t): the translation needs a Python.
  found   no python3 on PATH
  wanted  Python 3.8 or later; no package
 Fix: -DPython_EXECUTABLE=<python3>
]]
  NO_MATCH
  ARGS "-DCUDAOPS_HIPIFY=${case_DIR}/perl/hipify-perl"
)
