# Sources that don't exist or are of another kind.
machine(CPU)
file(MAKE_DIRECTORY "${case_DIR}/src/folder")
file(WRITE "${case_DIR}/src/k.ptx" "")

misuse(
  [[cudaops_add_kernels(k SOURCES oq.cu)]]
  [[
cudaops_add_kernels(k): SOURCES names a file that doesn't exist.
  found oq.cu
  looked <case>/src/oq.cu
  there is <case>/src/op.cu
 Fix: the right name, or add the command that generates it before this call (its OUTPUT counts)
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES folder)]]
  [[
cudaops_add_kernels(k): SOURCES is a list of files, and this is a directory.
  found <case>/src/folder
 Fix: list the files one by one
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES k.ptx)]]
  [[
cudaops_add_kernels(k): SOURCES doesn't accept files of this kind.
  found k.ptx
  wanted .c .cc .cpp .cxx .cu .hip, or headers: .h .hpp .cuh
 Fix: leave it out, or give it one of these endings
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES op.h)]]
  [[
cudaops_add_kernels(k): SOURCES holds headers only.
  found op.h
 Fix: add the .cpp or .cu files that include them
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES "x[.cu" op.cu)]]
  [[
cudaops_add_kernels(k): SOURCES holds a name that CMake's lists can't hold: no ';', and no '[' without its ']'.
  found x[.cu;op.cu
 Fix: give the file another name
]]
)
