# The targets <name>.ptx and <name>.sass of what has device code, with the objects of linked kernels, <name>.ncu and
# <name>.nsys of benchmarks; never part of `all`.
machine(CUDA)
configure(
  [==[
cudaops_add_kernels(kernels SOURCES more.cu)
add_torch_op(op SOURCES op.cpp CUDA_SOURCES op.cu)
target_link_libraries(op PRIVATE kernels)
add_library(benchmark::benchmark INTERFACE IMPORTED)
cudaops_add_benchmark(bench SOURCES op_cuda.cpp)
add_torch_op(host SOURCES op.cpp)
add_torch_op(none CUDA_SOURCES op.cu ARCHITECTURES 90a)
]==]
)
case_build(ARGS --target op.sass --verbose -- -n)
expect_stdout(
  "_run\\.py\"? nvidia_tools\\.machine_code --kind sass --build \"?<case>/build\"? --name op --toolkit \"?<case>/cuda\"? -- [^\n]*/op\\.dir/[^\n]*op\\.cu\\.o\"? [^\n]*/kernels\\.dir/[^\n]*more\\.cu\\.o"
)
case_build(ARGS --target kernels.ptx --verbose -- -n)
expect_stdout("machine_code --kind ptx [^\n]*--name kernels [^\n]*more\\.cu\\.o")
refuse_stdout("op\\.cu\\.o")
case_build(ARGS --target bench.ncu --verbose -- -n)
expect_stdout("nvidia_tools\\.profiler --tool ncu --build \"?<case>/build\"? --name bench --toolkit \"?<case>/cuda\"? \"?<case>/build/bench")
case_build(ARGS --verbose -- -n)
refuse_stdout("machine_code" "profiler")
case_build(ARGS --target help)
refuse_stdout("host\\.(ptx|sass)" "none\\.(ptx|sass)")
expect_stdout("op\\.ptx" "bench\\.nsys")
