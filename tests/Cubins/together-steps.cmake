# What compiles architectures together although CUDA_CUBINS is said, and that the configure step says why. Where nvcc's
# plan can't be read, it compiles as ever.
machine(CUDA)
list(REMOVE_ITEM case_ARGS -DCMAKE_CUDA_ARCHITECTURES=80)
set(two -DCMAKE_CUDA_ARCHITECTURES=80,90 -DCUDAOPS_CACHE=OFF)
set(call "cudaops_add_kernels(kernels SOURCES op.cu CUDA_CUBINS)")

# together(<reason> <code> [<argument>...])
function(together reason code)
  configure("${code}" ARGS ${ARGN})
  expect_stdout("cudaops_add_kernels\\(kernels\\): architectures are compiled together: ${reason}")
endfunction()

together("CUDA_ARCHITECTURES is 80" "${call}" -DCMAKE_CUDA_ARCHITECTURES=80)
together("CUDA_ARCHITECTURES is 90-virtual" "${call}" -DCMAKE_CUDA_ARCHITECTURES=90-virtual)
together(
  "their compiles have a launcher already \\(my_launcher -x\\)"
  "${call}\nset_target_properties(kernels PROPERTIES CUDA_COMPILER_LAUNCHER \"my_launcher;-x\")"
  ${two}
)
together("UNITY_BUILD is ON" "${call}\nset_target_properties(kernels PROPERTIES UNITY_BUILD ON)" ${two})
together(
  "INTERPROCEDURAL_OPTIMIZATION is ON"
  "${call}\nset_target_properties(kernels PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)"
  ${two}
)
together("-dlto is among the options" "${call}\ntarget_compile_options(kernels PRIVATE -dlto)" ${two})
if(case_GENERATOR STREQUAL "Ninja")
  together("CUDAOPS_BUILD_TRACE is ON" "${call}" ${two} -DCUDAOPS_BUILD_TRACE=ON)
endif()

# Code that is linked later is no reason. Twice is once, and the step is the keyword's.
foreach(words IN ITEMS "PROPERTIES CUDA_SEPARABLE_COMPILATION ON" "PROPERTIES COMPILE_OPTIONS -rdc=true")
  configure("${call}\nset_target_properties(kernels ${words})" ARGS ${two} -DCUDAOPS_BUILD_TRACE=OFF)
  refuse_stdout("compiled together")
endforeach()
configure("${call}\ncudaops_target_cubins(kernels)" ARGS ${two} -DCUDAOPS_BUILD_TRACE=OFF)
refuse_stdout("compiled together")
# This nvcc knows no -dryrun.
case_build(ARGS --verbose)
expect_stdout("op_[0-9a-f]+\\.compute_80\\.cu\\.o" "op_[0-9a-f]+\\.compute_90\\.cu\\.o" "op_[0-9a-f]+\\.cu\\.o")
refuse_stdout("CudaOps: ")
