arch_configure(AFTER [==[
add_library(my_ops INTERFACE)
cudaops_target_architectures(my_ops 90)
]==]
)
