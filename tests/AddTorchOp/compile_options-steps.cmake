# Options of nvcc's without a language before them: files of ours are compiled without them, and a C++ file of the
# author's, which the compiler would refuse, is named when the directory ends.
machine(CUDA)
set(
  options
  [==[ PRIVATE --use_fast_math "SHELL:-Xptxas -v" "$<$<CONFIG:>:--expt-relaxed-constexpr;--extended-lambda>")]==]
)
configure("add_torch_op(device CUDA_SOURCES op.cu PYTHON_MODULE _C)
cudaops_add_kernels(kernels SOURCES more.cu)
target_compile_options(device ${options}
target_compile_options(kernels ${options}"
)
case_build(ARGS --verbose)
expect_stdout("nvcc[^\n]* --use_fast_math -Xptxas -v --expt-relaxed-constexpr --extended-lambda")

# What the C++ compiler takes, and what has a language, is the author's.
configure("add_torch_op(both SOURCES op.cpp CUDA_SOURCES op.cu)
target_compile_options(both PRIVATE -O2 -DA=1 \"$<$<COMPILE_LANGUAGE:CUDA>:--use_fast_math;-Xptxas;-v>\")"
)
misuse(
  [[
add_torch_op(both SOURCES op.cpp CUDA_SOURCES op.cu)
target_compile_options(both PRIVATE -O2 --use_fast_math "SHELL:-Xptxas -v")
]]
  [[
target_compile_options(both): the C++ compiler has no such option, and the target has C++ files.
  found --use_fast_math SHELL:-Xptxas -v
  C++ op.cpp, compiled by …
 Fix: target_compile_options(both PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:--use_fast_math;SHELL:-Xptxas -v>")
]]
)

# Without CUDA the kernels' library holds a file of ours alone.
machine(CPU)
file(REMOVE_RECURSE "${case_BUILD_DIR}")
configure("cudaops_add_kernels(kernels SOURCES more.cu)\ntarget_compile_options(kernels ${options}")
case_build()
