# Kernels need no torch: where both are missing they say that the toolkit is, the op says that torch is.
machine(CPU)
file(REMOVE_RECURSE "${case_DIR}/venv")
fake_python("${case_DIR}/venv")
configure("cudaops_add_kernels(my_kernels SOURCES op.cu)\nadd_torch_op(my_ops SOURCES op.cpp)")
expect_target(my_kernels state NOT_BUILT reason_code NO_TOOLKIT)
expect_target(my_ops state NOT_BUILT reason_code NO_TORCH)
