# Architectures among the options are said, with the request that they stand for; device code for the link is none. So is a
# variable that is set too late, unless it says the same.
machine(CUDA)
configure([==[
add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-arch=sm_86>")
cudaops_add_kernels(kernels SOURCES more.cu)
set_property(DIRECTORY PROPERTY COMPILE_OPTIONS)
add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu)
target_compile_options(my_op PRIVATE -march=native
  "$<$<COMPILE_LANGUAGE:CUDA>:-gencode=arch=compute_90,code=sm_90;SHELL:-gencode arch=compute_80,code=compute_80>")
add_torch_op(linked SOURCES op.cpp CUDA_SOURCES op.cu)
target_compile_options(linked PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-gencode=arch=compute_80,code=lto_80>")
set(CMAKE_CUDA_ARCHITECTURES 80-real)
add_torch_op(same SOURCES op.cpp CUDA_SOURCES op.cu)
set(CMAKE_CUDA_ARCHITECTURES 80 90a)
add_torch_op(late SOURCES op.cpp CUDA_SOURCES op.cu)
]==] ARGS "-DCMAKE_CUDA_FLAGS=-gencode arch=compute_75,code=sm_75"
)
