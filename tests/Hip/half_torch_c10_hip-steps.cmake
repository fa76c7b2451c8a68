# Half a ROCm torch: the file that is missing is named, by the match and by the op that needs it.
hip_machine(VERSION 2.13.0 ROCM 6.4 WITHOUT C10_HIP)
hip_sources()
match(ARGS ${hip_ARGS} AFTER "add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu)")
expect_stdout("incomplete: version\\.py says ROCm 6\\.4\\.43482-0f2d60242, but there is no libc10_hip\\.so \\(${case_DIR}/venv/lib")
