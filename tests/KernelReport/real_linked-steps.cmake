# Kernels that are whole only after a device link are read from the library that has them linked, each once, and named with
# their file; of architectures that are compiled apart each counts.
real_machine()
if(NOT real_TORCH)
  return()
endif()
file(
  WRITE "${case_DIR}/src/linked.cu"
  "__device__ float called(float x);\n__global__ void linked(float* x) { *x = called(*x); }\n__device__ float called(float x) { return x * x; }\nvoid launch(float* x) { linked<<<1, 1>>>(x); }\n"
)
file(WRITE "${case_DIR}/src/library.cpp" "void launch(float*);\nvoid run(float* x) { launch(x); }\n")
file(
  WRITE "${case_DIR}/src/apart.cu"
  "__global__ void apart(float* x) { *x = 1; }\nvoid launch_apart(float* x) { apart<<<1, 1>>>(x); }\n"
)
configure(
  [[
cudaops_add_kernels(kernels STATIC SOURCES linked.cu)
set_target_properties(kernels PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
cudaops_add_kernels(library SHARED SOURCES library.cpp)
target_link_libraries(library PRIVATE kernels)
cudaops_add_kernels(apart CUDA_CUBINS SOURCES apart.cu)
cudaops_add_kernel_budget(library FILE budget.json)
]]
  ARGS "-DCMAKE_CUDA_ARCHITECTURES=80-real;90-real"
)
case_build()
case_build(ARGS --target cudaops_kernel_report)
expect_stdout("4 kernels for sm_80 sm_90; none spills")
refuse_stdout("not counted")
foreach(pair IN ITEMS "linked(float*)|library|linked.cu|2" "apart(float*)|apart|apart.cu|1")
  string(REPLACE "|" ";" pair "${pair}")
  list(POP_FRONT pair name)
  foreach(member IN ITEMS target file line)
    list(POP_FRONT pair expected)
    row(value "${name}" ${member})
    case_equal("${member} of ${name}" "${value}" "${expected}")
  endforeach()
endforeach()
case_build(ARGS --target library.update_kernels)
expect_stdout("library\\.update_kernels: 2 kernels in ${case_DIR}/src/budget\\.json")
