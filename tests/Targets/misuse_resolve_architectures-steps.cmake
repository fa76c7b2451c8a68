# cudaops_resolve_architectures(): every argument that can be wrong.
machine(CUDA)
string(
  CONCAT commands_USAGE
  "cudaops_resolve_architectures(<out-var> [REQUEST <arch>...] [ARCHITECTURES <arch>...] [UNSERVED <out-var>] "
  "[NVCC <path>])"
)

misuse(
  [[cudaops_resolve_architectures()]]
  [[
cudaops_resolve_architectures(): the first argument is the variable for the result.
  found ''
 Fix: <usage>
]]
)

misuse(
  [[cudaops_resolve_architectures("")]]
  [[
cudaops_resolve_architectures(): the first argument is the variable for the result.
  found ''
 Fix: <usage>
]]
)

misuse(
  [[cudaops_resolve_architectures(REQUEST 80)]]
  [[
cudaops_resolve_architectures(): the first argument is the variable for the result.
  found 'REQUEST'
 Fix: <usage>
]]
)

misuse(
  [[cudaops_resolve_architectures(a 80)]]
  [[
cudaops_resolve_architectures(a): unknown argument '80'.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_resolve_architectures(a REQEST 80)]]
  [[
cudaops_resolve_architectures(a): unknown argument 'REQEST', did you mean REQUEST?
 Fix: <usage>
]]
)

misuse(
  [[cudaops_resolve_architectures(a request 80)]]
  [[
cudaops_resolve_architectures(a): unknown argument 'request', did you mean REQUEST?
 Fix: <usage>
]]
)

misuse(
  [[cudaops_resolve_architectures(a REQUEST 80 UNSERVD b)]]
  [[
cudaops_resolve_architectures(a): "UNSERVD" is not an architecture, did you mean UNSERVED?
  found REQUEST 80 UNSERVD b
  accepted 9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major
 Fix: REQUEST 80 90a, or the like
]]
)

misuse(
  [[cudaops_resolve_architectures(a REQUEST nonsense)]]
  [[
cudaops_resolve_architectures(a): "nonsense" is not an architecture.
  found REQUEST nonsense
  accepted 9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major
 Fix: REQUEST 80 90a, or the like
]]
)

misuse(
  [[cudaops_resolve_architectures(a REQUEST 70)]]
  [[
cudaops_resolve_architectures(a): no requested architecture can be built by this toolkit.
  requested 70 (from this call) toolkit CUDA 13.0 at <case>/cuda builds 7.5 to 12.1 problem 7.0: older than 7.5
 Fix: REQUEST 75 or a CUDA 12 toolkit: -DCUDAToolkit_ROOT=<dir>
]]
)

misuse(
  [[cudaops_resolve_architectures(a REQUEST >=80)]]
  [[
cudaops_resolve_architectures(a): ">=80" is not an architecture; only what code supports can be given as >=80.
  found REQUEST >=80
  accepted 9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major
 Fix: REQUEST 80 90a, or the like
]]
)

misuse(
  [[cudaops_resolve_architectures(a UNSERVED)]]
  [[
cudaops_resolve_architectures(a): UNSERVED needs a value.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_resolve_architectures(a NVCC)]]
  [[
cudaops_resolve_architectures(a): NVCC needs a value.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_resolve_architectures(a NVCC /nowhere/nvcc)]]
  [[
cudaops_resolve_architectures(a): NVCC is not a compiler.
  found /nowhere/nvcc
  wanted the path of nvcc
 Fix: NVCC <toolkit>/bin/nvcc
]]
)

misuse(
  [[cudaops_resolve_architectures(a NVCC ${CMAKE_CURRENT_SOURCE_DIR})]]
  [[
cudaops_resolve_architectures(a): NVCC is not a compiler.
  found <case>/src
  wanted the path of nvcc
 Fix: NVCC <toolkit>/bin/nvcc
]]
)

misuse(
  [[cudaops_resolve_architectures(a NVCC ${CMAKE_CURRENT_SOURCE_DIR}/op.cpp)]]
  [[
cudaops_resolve_architectures(a): NVCC doesn't answer as nvcc does.
  found <case>/src/op.cpp
  output (exit code Permission denied)
 Fix: NVCC <toolkit>/bin/nvcc
]]
)

misuse(
  [[cudaops_resolve_architectures(a ARCHITECTURES 3.10)]]
  [[
cudaops_resolve_architectures(a): "3.10" is not an architecture: a compute capability is <major>.<minor> with one digit of minor.
  found ARCHITECTURES 3.10
  accepted 9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major, >=80
 Fix: ARCHITECTURES 80 90a, or the like
]]
)

misuse(
  [[cudaops_resolve_architectures(a)]]
  [[
cudaops_resolve_architectures(a): no toolkit has been chosen yet.
  wanted find_package(CudaTorchMatch) before this call, or NVCC
 Fix: find_package(CudaTorchMatch REQUIRED)
]]
  NO_MATCH
)

misuse(
  [[function(wrap)
  cudaops_resolve_architectures()
endfunction()
wrap(x)]]
  [[
cudaops_resolve_architectures(): the first argument is the variable for the result.
  found ''
 Fix: <usage>
]]
)

misuse(
  [[function(wrap)
  cudaops_target_architectures()
endfunction()
wrap(x)]]
  [[
cudaops_target_architectures(): the first argument is a target.
  found ''
 Fix: cudaops_target_architectures(<target> <arch>...)
]]
)

foreach(name IN ITEMS "a b" "a;b" "[a" "$<1:a>")
  misuse("cudaops_resolve_architectures([==[${name}]==])"
    "cudaops_resolve_architectures(): the first argument is the variable for the result.
  found '${name}'
 Fix: <usage>"
  )
endforeach()

misuse(
  [[cudaops_resolve_architectures(a NVCC)]]
  [[
cudaops_resolve_architectures(a): NVCC needs a value.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_resolve_architectures(a UNSERVED a)]]
  [[
cudaops_resolve_architectures(a): UNSERVED is another variable, for what no architecture serves.
  found 'a'
 Fix: <usage>
]]
)
