arch_configure(AFTER [==[
add_library(my::ops SHARED IMPORTED)
cudaops_target_architectures(my::ops 90)
]==]
)
