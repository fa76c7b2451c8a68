# An op and kernels built, cleaned, built again: all hits, with Ninja and with Makefiles, whose include directories come
# in option files, with letters outside ASCII too; in a subdirectory, where commands run elsewhere; and no value stands
# apart from its option where a cache would take it for a file. (ccache#1663, sccache#2816)
real_machine()
if(NOT real_TORCH)
  return()
endif()
use_cache(ccache)
file(
  WRITE "${case_DIR}/src/sub/CMakeLists.txt"
  "cudaops_add_kernels(sub_kernels SHARED SOURCES k.cu h.cpp)\ntarget_include_directories(sub_kernels PRIVATE . über)\n"
)
file(WRITE "${case_DIR}/src/sub/k.h" "#define TIMES 3\n")
file(WRITE "${case_DIR}/src/sub/k.cu" "#include <k.h>\n__global__ void kernel(float* x) { x[0] *= TIMES; }\n")
file(WRITE "${case_DIR}/src/sub/h.cpp" "#include <k.h>\nint times() { return TIMES; }\n")
foreach(case_GENERATOR IN ITEMS Ninja "Unix Makefiles")
  string(MAKE_C_IDENTIFIER "${case_GENERATOR}" id)
  # A blank in its path too.
  set(build "${case_DIR}/build of ${id}")
  project_says("add_torch_op(real_op SOURCES op.cpp CUDA_SOURCES op_cuda.cpp op.cu)\nadd_subdirectory(sub)")
  case_configure(BUILD_DIR "${build}" ARGS "-DTORCH_CUDA_ARCH_LIST=8.0 9.0" -DCMAKE_BUILD_TYPE=Release)
  case_build(BUILD_DIR "${build}" ARGS --verbose)
  refuse_stdout("[^-]-(-threads|t|-diag-suppress|-diag-warn) ")
  # What Ninja's build has left serves the other generator as well, where its commands are the same ones.
  hits(hit missed)
  case_build(BUILD_DIR "${build}" ARGS --clean-first)
  expect_hits("${case_GENERATOR}, after clean" 7 0)
  case_build(BUILD_DIR "${build}")
  expect_hits("${case_GENERATOR}, nothing to do" 0 0)

  # The dependency files of hits: a header of the project's.
  file(APPEND "${case_DIR}/src/sub/k.h" "// ${id}\n")
  case_build(BUILD_DIR "${build}")
  expect_hits("${case_GENERATOR}, a header touched" 0 2)
endforeach()
