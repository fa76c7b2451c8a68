# RECIPE without a place to install it, and with what doesn't exist where the recipe is built.
machine(CPU)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp RECIPE)]]
  [[
add_torch_op(my_op): RECIPE is installed beside the library, and needs INSTALL.
 Fix: INSTALL <directory of the Python package>, below the install prefix
]]
)

foreach(library IN ITEMS kernels /usr/lib/libz.so "$<1:z>")
  misuse(
    "cudaops_add_kernels(kernels SOURCES op.cpp)
add_torch_op(my_op SOURCES op.cpp INSTALL lib RECIPE)
target_link_libraries(my_op PRIVATE \"${library}\")"
    "
add_torch_op(my_op): RECIPE can't carry a library that it links.
  found ${library}
  wanted CudaOps::<name>, or -l<name>
 Fix: name its sources among SOURCES or CUDA_SOURCES
   or leave RECIPE out
"
  )
endforeach()
