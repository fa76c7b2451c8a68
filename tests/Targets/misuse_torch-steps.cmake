# cudaops_target_torch(): every argument that can be wrong.
machine(CPU)
set(commands_USAGE "cudaops_target_torch(<target> [ABI STABLE|FULL|PYBIND] [TORCH_TARGET <version>] [CUDA])")

misuse(
  [[cudaops_target_torch()]]
  [[
cudaops_target_torch(): the first argument is a target.
  found ''
 Fix: <usage>
]]
)

misuse(
  [[cudaops_target_torch("")]]
  [[
cudaops_target_torch(): the first argument is a target.
  found ''
 Fix: <usage>
]]
)

misuse(
  [[cudaops_target_torch(ABI FULL)]]
  [[
cudaops_target_torch(ABI): the first argument is a target.
  found 'ABI'
 Fix: <usage>
]]
)

misuse(
  [[cudaops_target_torch(t)]]
  [[
cudaops_target_torch(t): the first argument is a target.
  found 't'
 Fix: <usage>
]]
)

misuse(
  [[add_library(t SHARED op.cpp)
cudaops_target_torch(t FULL)]]
  [[
cudaops_target_torch(t): unknown argument 'FULL'.
 Fix: <usage>
]]
)

misuse(
  [[add_library(t SHARED op.cpp)
cudaops_target_torch(t ABI)]]
  [[
cudaops_target_torch(t): ABI needs a value.
 Fix: <usage>
]]
)

misuse(
  [[add_library(t SHARED op.cpp)
cudaops_target_torch(t ABI "")]]
  [[
cudaops_target_torch(t): ABI needs a value.
 Fix: <usage>
]]
)

misuse(
  [[add_library(t SHARED op.cpp)
cudaops_target_torch(t ABI full)]]
  [[
cudaops_target_torch(t): unknown ABI 'full', did you mean FULL?
  wanted STABLE FULL PYBIND
 Fix: ABI FULL
]]
)

misuse(
  [[add_library(t SHARED op.cpp)
cudaops_target_torch(t ABI FULL ABI STABLE)]]
  [[
cudaops_target_torch(t): ABI is given twice.
 Fix: <usage>
]]
)

misuse(
  [[add_library(t SHARED op.cpp)
cudaops_target_torch(t TORCH_TARGET 2.9)]]
  [[
cudaops_target_torch(t): the stable ABI begins with torch 2.10.
  found TORCH_TARGET 2.9
 Fix: TORCH_TARGET 2.10 or ABI FULL, with the torch that will run it
]]
)

misuse(
  [[add_library(t SHARED op.cpp)
cudaops_target_torch(t TORCH_TARGET 2.99)]]
  [[
cudaops_target_torch(t): TORCH_TARGET is newer than the torch it is built with.
  found torch 2.13.0+cpu (<case>/venv/bin/python (Python_EXECUTABLE))
  wanted TORCH_TARGET 2.99, whose functions these headers don't have
 Fix: TORCH_TARGET 2.10 or a newer torch: -DPython_EXECUTABLE=<python>
]]
)

misuse(
  [[add_library(t SHARED op.cpp)
cudaops_target_torch(t ABI FULL TORCH_TARGET 2.10)]]
  [[
cudaops_target_torch(t): TORCH_TARGET belongs to ABI STABLE.
  found ABI FULL, TORCH_TARGET 2.10
  rule a FULL library is tied to the torch it was built with
 Fix: leave TORCH_TARGET out, or ABI STABLE
]]
)

misuse(
  [[add_library(t SHARED op.cpp)
cudaops_target_torch(t CUDA REQUIRED)]]
  [[
cudaops_target_torch(t): unknown argument 'REQUIRED'.
 Fix: <usage>
]]
)

misuse(
  [[add_library(t SHARED op.cpp)
cudaops_target_torch(t cuda)]]
  [[
cudaops_target_torch(t): unknown argument 'cuda', did you mean CUDA?
 Fix: <usage>
]]
)

misuse(
  [[add_library(t INTERFACE)
cudaops_target_torch(t)]]
  [[
cudaops_target_torch(t): the target is not one that is compiled in this project.
  found t, INTERFACE_LIBRARY
  wanted a library or an executable
 Fix: <usage>
]]
)

misuse(
  [[add_library(t INTERFACE IMPORTED)
cudaops_target_torch(t)]]
  [[
cudaops_target_torch(t): the target is not one that is compiled in this project.
  found t, an imported target
  wanted a library or an executable
 Fix: <usage>
]]
)

misuse(
  [[add_custom_target(t)
cudaops_target_torch(t)]]
  [[
cudaops_target_torch(t): the target is not one that is compiled in this project.
  found t, UTILITY
  wanted a library or an executable
 Fix: <usage>
]]
)

misuse(
  [[add_library(x SHARED op.cpp)
add_library(t ALIAS x)
cudaops_target_torch(t)]]
  [[
cudaops_target_torch(t): the target is not one that is compiled in this project.
  found t, an alias of x
  wanted a library or an executable
 Fix: <usage>
]]
)

misuse(
  [[add_library(t SHARED op.cpp)
cudaops_target_torch(t)]]
  [[
cudaops_target_torch(t): no torch and no toolkit have been looked for yet.
  wanted find_package(CudaTorchMatch) before this call, in the top-level CMakeLists.txt
 Fix: find_package(CudaTorchMatch REQUIRED)
]]
  NO_MATCH
)
