# One .cpp with the bindings of both devices: in SOURCES and CUDA_SOURCES it is compiled once, in every op, and USE_CUDA
# says whether this one has CUDA, for each ABI.
machine(CUDA)
file(
  WRITE "${case_DIR}/src/binding.cpp"
  "extern \"C\" {\n#ifdef USE_CUDA\nint on_cuda() { return 1; }\n#else\nint on_cpu_alone() { return 1; }\n#endif\n}\n"
)
configure(
  [==[
add_torch_op(stable SOURCES binding.cpp CUDA_SOURCES op.cu ./binding.cpp)
add_torch_op(full ABI FULL SOURCES binding.cpp CUDA_SOURCES binding.cpp)
add_torch_op(hopper SOURCES binding.cpp CUDA_SOURCES binding.cpp op.cu ARCHITECTURES 90a)
add_torch_op(full_hopper ABI FULL SOURCES binding.cpp CUDA_SOURCES binding.cpp ARCHITECTURES 90a)
add_torch_op(off SOURCES binding.cpp CUDA_SOURCES binding.cpp CUDA OFF)
]==]
)
expect_target(stable state BUILT architectures 80-real,80-virtual)
expect_target(full state BUILT)
expect_target(hopper state CPU_ONLY reason_code NO_ARCHITECTURE)
expect_target(full_hopper state CPU_ONLY reason_code NO_ARCHITECTURE)
expect_target(off state CPU_ONLY reason_code REQUESTED_OFF)
case_build(ARGS --verbose)
set(build "${case_STEP_STDOUT}")
foreach(
  pair
  IN
  ITEMS stable=on_cuda full=on_cuda hopper=on_cpu_alone full_hopper=on_cpu_alone off=on_cpu_alone
)
  string(REGEX MATCH "^([a-z_]+)=([a-z_]+)$" pair "${pair}")
  set(op "${CMAKE_MATCH_1}")
  set(wanted "${CMAKE_MATCH_2}")
  string(REGEX MATCHALL "CMakeFiles/${op}\\.dir/[^ ]*binding\\.cpp\\.o -c" compiles "${build}")
  list(LENGTH compiles compiles)
  case_equal("compiles of binding.cpp in ${op}" "${compiles}" 1)
  case_step("symbols of ${op}" COMMAND nm -D --defined-only "${case_BUILD_DIR}/lib${op}.so")
  string(REGEX MATCHALL "on_cuda|on_cpu_alone" found "${case_STEP_STDOUT}")
  case_equal("what ${op} was made of" "${found}" "${wanted}")
endforeach()
