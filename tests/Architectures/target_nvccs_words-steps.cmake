arch_configure(AFTER [==[
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/a.cu" "")
add_library(my_ops OBJECT "${CMAKE_CURRENT_BINARY_DIR}/a.cu")
cudaops_target_architectures(my_ops sm_90 compute_120)
]==]
)
