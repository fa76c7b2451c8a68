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
  together("nvcc's phases are traced" "${call}" ${two} -DCUDAOPS_BUILD_TRACE=PHASES)
endif()

# Code that is linked later is no reason. Twice is once, and the step is the keyword's.
foreach(words IN ITEMS "PROPERTIES CUDA_SEPARABLE_COMPILATION ON" "PROPERTIES COMPILE_OPTIONS -rdc=true")
  configure("${call}\nset_target_properties(kernels ${words})" ARGS ${two} -DCUDAOPS_BUILD_TRACE=OFF)
  refuse_stdout("compiled together")
endforeach()
configure(
  "cudaops_add_kernels(kernels SHARED SOURCES op.cu CUDA_CUBINS)
target_compile_definitions(kernels PRIVATE MINE)
target_compile_options(kernels PRIVATE \"$<$<COMPILE_LANGUAGE:CUDA>:--use_fast_math>\")
cudaops_target_cubins(kernels)"
  ARGS ${two} -DCUDAOPS_BUILD_TRACE=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
)
refuse_stdout("compiled together")
# This nvcc knows no -dryrun.
case_build(ARGS --verbose)
expect_stdout("op_[0-9a-f]+\\.compute_80\\.cu\\.o" "op_[0-9a-f]+\\.compute_90\\.cu\\.o" "op_[0-9a-f]+\\.cu\\.o")
refuse_stdout("CudaOps: ")
# Nor is the source built that stands in compile_commands.json for editors, with the options of its steps.
refuse_stdout("kernels_compile_commands")
file(READ "${case_BUILD_DIR}/compile_commands.json" commands)
string(JSON number LENGTH "${commands}")
math(EXPR last "${number} - 1")
foreach(i RANGE ${last})
  string(JSON file GET "${commands}" ${i} file)
  string(JSON command GET "${commands}" ${i} command)
  # Up to what is compiled.
  string(REGEX REPLACE " -x cu -c .*" "" command "${command}")
  if(file STREQUAL "${case_DIR}/src/op.cu")
    set(source "${command}")
  elseif(file MATCHES "/op_[0-9a-f]+\\.cu$")
    set(step "${command}")
  endif()
endforeach()
case_match("the step's command" "${step}" "-DMINE .*--use_fast_math")
case_equal("the source's command" "${source}" "${step}")
