arch_configure(AFTER [==[
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/a.cu" "")
add_library(my_ops OBJECT "${CMAKE_CURRENT_BINARY_DIR}/a.cu")
add_library(my::ops ALIAS my_ops)
cudaops_target_architectures(my::ops 90)
]==]
)
