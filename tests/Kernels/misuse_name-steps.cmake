# A name that is missing, empty, a keyword, taken or CMake's own.
machine(CPU)

misuse_name(cudaops_add_kernels "the name of the target" [[SOURCES op.cpp]])

misuse(
  [[cudaops_add_kernels(OBJECT SOURCES op.cpp)]]
  [[
cudaops_add_kernels(): the first argument is the name of the target.
  found 'OBJECT'
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_kernels(my::k SOURCES op.cpp)]]
  [[
cudaops_add_kernels(my::k): not a name for a target.
  found 'my::k'
  wanted letters, digits, and _ . + -, beginning with a letter or _
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_kernels(clean SOURCES op.cpp)]]
  [[
cudaops_add_kernels(clean): CMake has a target of this name.
  found 'clean'
 Fix: another name: my_clean, or the like
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES op.cpp)
cudaops_add_kernels(k SOURCES op.cpp)]]
  [[
cudaops_add_kernels(k): there is a target of this name already.
  found k, made in <case>/src
 Fix: another name: it is the name of the file too
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES op.cpp)
add_torch_op(k SOURCES op.cpp)]]
  [[
add_torch_op(k): there is a target of this name already.
  found k, made in <case>/src
 Fix: another name: it is the name of the file too
]]
)
