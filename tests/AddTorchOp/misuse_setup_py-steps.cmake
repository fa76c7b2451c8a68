# What an op has in setup.py, or in other projects' CMake functions, as a keyword: the command of CMake's that says it.
machine(CPU)

# elsewhere(<arguments> <word> <what goes to which command> <line to paste>)
function(elsewhere arguments word what fix)
  misuse(
    "add_torch_op(my_op SOURCES op.cpp ${arguments})"
    "add_torch_op(my_op): SOURCES holds '${word}', which is no file: ${what}().
  looked <case>/src/${word}
  wanted a file, or one of SOURCES CUDA_SOURCES ARCHITECTURES ABI TORCH_TARGET CUDA PYTHON_MODULE PYTHON_TARGET PYTHON_PACKAGE INSTALL CUDA_CUBINS RECIPE
 Fix: ${fix}"
  )
endfunction()

set(options "compile options go to target_compile_options")
elsewhere("CUDA_FLAGS -O3 --use_fast_math" CUDA_FLAGS "${options}"
  [[target_compile_options(my_op PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-O3;--use_fast_math>")]]
)
elsewhere(extra_compile_args extra_compile_args "${options}" "target_compile_options(my_op PRIVATE <option>)")
set(directories "include directories go to target_include_directories")
elsewhere("INCLUDE_DIRECTORIES inc other CUDA OFF" INCLUDE_DIRECTORIES "${directories}" "target_include_directories(my_op PRIVATE inc other)")
elsewhere("include_dirs inc" include_dirs "${directories}" "target_include_directories(my_op PRIVATE inc)")
elsewhere("LIBRARIES cublas" LIBRARIES "libraries go to target_link_libraries" "target_link_libraries(my_op PRIVATE cublas)")
elsewhere("library_dirs d" library_dirs "directories of libraries go to target_link_directories" "target_link_directories(my_op PRIVATE d)")
elsewhere("extra_ldflags -s" extra_ldflags "link options go to target_link_options" "target_link_options(my_op PRIVATE -s)")
elsewhere("CXX_STANDARD 20" CXX_STANDARD "C++ standards go to target_compile_features" "target_compile_features(my_op PRIVATE cxx_std_20)")

# After other keywords.
misuse(
  [[add_torch_op(my_op NVCC_FLAGS -O3 SOURCES op.cpp)]]
  [[
add_torch_op(my_op): unknown argument 'NVCC_FLAGS': compile options go to target_compile_options().
 Fix: target_compile_options(my_op PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-O3>")
]]
)
misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES 80 DEFINITIONS A=1)]]
  [[
add_torch_op(my_op): "DEFINITIONS" is not an architecture: macros go to target_compile_definitions().
  found ARCHITECTURES 80 DEFINITIONS A=1
  accepted 9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major, >=80
 Fix: target_compile_definitions(my_op PRIVATE A=1)
]]
)
misuse(
  [[add_torch_op(my_op SOURCES op.cpp gencode arch=compute_90)]]
  [[
add_torch_op(my_op): SOURCES holds 'gencode', which is no file; did you mean ARCHITECTURES?
  looked <case>/src/gencode
  wanted a file, or one of SOURCES CUDA_SOURCES ARCHITECTURES ABI TORCH_TARGET CUDA PYTHON_MODULE PYTHON_TARGET PYTHON_PACKAGE INSTALL CUDA_CUBINS RECIPE
 Fix: ARCHITECTURES (instead of gencode)
]]
)

# The other commands that make targets, and one that has the keyword itself.
misuse(
  [[cudaops_add_kernels(my_kernels SOURCES op.cu LINK_LIBRARIES cublas)]]
  [[
cudaops_add_kernels(my_kernels): SOURCES holds 'LINK_LIBRARIES', which is no file: libraries go to target_link_libraries().
  looked <case>/src/LINK_LIBRARIES
  wanted a file, or one of OBJECT STATIC SHARED SOURCES ARCHITECTURES CUDA_CUBINS DEFINE
 Fix: target_link_libraries(my_kernels PRIVATE cublas)
]]
)
misuse(
  [[cudaops_add_gtest(my_test SOURCES op.cpp LIBRARIES my_kernels)]]
  [[
cudaops_add_gtest(my_test): SOURCES holds 'LIBRARIES', which is no file; did you mean LINK_LIBRARIES?
  looked <case>/src/LIBRARIES
  wanted a file, or one of SOURCES LINK_LIBRARIES
 Fix: LINK_LIBRARIES (instead of LIBRARIES)
]]
)
