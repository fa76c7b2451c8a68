# A61: the source tree stays as it is, and may be read-only; git has nothing to say about it.
hip_machine()
source(k.cu "#include \"k.cuh\"" "int k() { return last(); }"
)
source(k.cuh "#include <cuda_runtime.h>" "inline cudaError_t last() { return cudaGetLastError(); }"
)
project_says([[cudaops_add_kernels(k SHARED SOURCES k.cu)]])
case_step(git COMMAND git -C "${case_DIR}/src" init -q)
case_step(git COMMAND git -C "${case_DIR}/src" add .)
case_step(chmod COMMAND chmod -R a-w "${case_DIR}/src")
snapshot(before "${case_DIR}/src")
case_configure()
case_build()
snapshot(after "${case_DIR}/src")
case_equal("the sources" "${after_TIMES}" "${before_TIMES}")
case_step(status COMMAND git -C "${case_DIR}/src" status --porcelain --untracked-files=all --ignored)
case_not_match("git status" "${case_STEP_STDOUT}" "(\\?\\?| M|!!) ")
case_step(chmod COMMAND chmod -R u+w "${case_DIR}/src")
