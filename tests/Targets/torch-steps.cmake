# The small steps on targets of one's own: what each ABI puts on the compile line, with CUDA and without, and that
# torch is linked PRIVATE.
need_python_headers()
machine(CUDA)
file(WRITE "${case_DIR}/src/main.cpp" "int main() { return 0; }\n")
configure(
  [==[
foreach(target IN ITEMS stable newer stable_cuda full full_cuda pybind)
  file(WRITE ${target}.cpp "")
  add_library(${target} SHARED ${target}.cpp)
endforeach()
cudaops_target_torch(stable)
cudaops_target_torch(newer TORCH_TARGET 2.13)
cudaops_target_torch(stable_cuda ABI STABLE TORCH_TARGET 2.11.0 CUDA)
cudaops_target_torch(full ABI FULL)
cudaops_target_torch(full_cuda ABI FULL CUDA)
cudaops_target_torch(pybind ABI PYBIND)
add_executable(exe main.cpp)
cudaops_target_torch(exe ABI FULL)
cudaops_target_defaults(exe)
foreach(target IN ITEMS stable full pybind)
  get_target_property(interface ${target} INTERFACE_LINK_LIBRARIES)
  message(STATUS "${target}: ${interface}")
endforeach()
]==]
)
expect_stdout(
  "stable: \\$<LINK_ONLY:CudaOps::torch_stable>|stable: interface-NOTFOUND"
  "full: \\$<LINK_ONLY:CudaOps::torch>|full: interface-NOTFOUND"
)
case_build(ARGS --verbose)
foreach(
  expected
  IN
  ITEMS
    "stable|TORCH_TARGET_VERSION=0x020a000000000000|USE_CUDA"
    "newer|TORCH_TARGET_VERSION=0x020d000000000000|USE_CUDA"
    "stable_cuda|TORCH_TARGET_VERSION=0x020b000000000000 -DUSE_CUDA|TORCH_EXTENSION"
    "full|torch/csrc/api/include|TORCH_TARGET_VERSION|USE_CUDA"
    "full_cuda|-DUSE_CUDA|TORCH_TARGET_VERSION"
    "pybind|-fvisibility=hidden|TORCH_TARGET_VERSION"
)
  string(REGEX MATCH "^([^|]+)\\|([^|]+)\\|(.+)$" matched "${expected}")
  set(target "${CMAKE_MATCH_1}")
  set(wanted "${CMAKE_MATCH_2}")
  set(refused "${CMAKE_MATCH_3}")
  string(REGEX MATCH "[^\n]* -c [^\n]*/${target}\\.cpp" line "${case_STEP_STDOUT}")
  case_match("compile line of ${target}" "${line}" "${wanted}")
  case_not_match("compile line of ${target}" "${line}" "${refused}")
endforeach()
