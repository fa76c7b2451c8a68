# The full ABI: torch_hip and c10_hip are linked, torch's definitions for HIP are there.
hip_machine()
hip_sources()
file(APPEND "${case_DIR}/src/op_gpu.cpp" "#ifndef USE_CUDA\n#error USE_CUDA is not seen\n#endif\n")
match(ARGS ${hip_ARGS} AFTER "add_torch_op(my_op ABI FULL SOURCES op.cpp op_gpu.cpp CUDA_SOURCES op_gpu.cpp op.cu)
target_link_options(my_op PRIVATE -Wl,--no-as-needed)"
)
expect_target(my_op state BUILT abi FULL architectures gfx90a)
case_build(ARGS --verbose)
expect_stdout(
  "-DUSE_ROCM=1 .*op_gpu\\.cpp"
  "clang\\+\\+\"? [^\n]*-DCUDA_HAS_FP16=1[^\n]*-DHIPBLAS_V2[^\n]*-D__HIP_NO_HALF_OPERATORS__=1"
  "--offload-arch=gfx90a"
)
case_step(needed COMMAND readelf -d "${case_BUILD_DIR}/libmy_op.so")
foreach(library IN ITEMS torch_cpu c10 torch_hip c10_hip)
  case_match("NEEDED" "${case_STEP_STDOUT}" "\\[lib${library}\\.so\\]")
endforeach()
expect_code_objects("${case_BUILD_DIR}/libmy_op.so" gfx90a)
