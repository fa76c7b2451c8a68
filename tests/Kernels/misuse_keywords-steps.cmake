# Keywords that are misspelt, in lower case, swallowed by a list, without a value, or in contradiction.
machine(CPU)

misuse(
  [[cudaops_add_kernels(k)]]
  [[
cudaops_add_kernels(k): SOURCES is missing.
  wanted at least one file
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_kernels(k op.cpp)]]
  [[
cudaops_add_kernels(k): unknown argument 'op.cpp'.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCE op.cpp)]]
  [[
cudaops_add_kernels(k): unknown argument 'SOURCE', did you mean SOURCES?
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES)]]
  [[
cudaops_add_kernels(k): SOURCES needs a value.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES "")]]
  [[
cudaops_add_kernels(k): SOURCES needs a value.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_kernels(k object SOURCES op.cpp)]]
  [[
cudaops_add_kernels(k): unknown argument 'object', did you mean OBJECT?
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_kernels(k OBJECT SHARED SOURCES op.cpp)]]
  [[
cudaops_add_kernels(k): takes one kind of library.
  found OBJECT SHARED
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_kernels(k MODULE SOURCES op.cpp)]]
  [[
cudaops_add_kernels(k): unknown argument 'MODULE'.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES op.cpp shared)]]
  [[
cudaops_add_kernels(k): SOURCES holds 'shared', which is no file; did you mean SHARED?
  looked <case>/src/shared
  wanted a file, or one of OBJECT STATIC SHARED SOURCES ARCHITECTURES CUDA_CUBINS DEFINE
 Fix: SHARED (instead of shared)
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES op.cpp SHARD)]]
  [[
cudaops_add_kernels(k): SOURCES holds 'SHARD', which is no file; did you mean SHARED?
  looked <case>/src/SHARD
  wanted a file, or one of OBJECT STATIC SHARED SOURCES ARCHITECTURES CUDA_CUBINS DEFINE
 Fix: SHARED (instead of SHARD)
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES op.cu ARCHITECTURES)]]
  [[
cudaops_add_kernels(k): ARCHITECTURES needs a value.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES op.cu ARCHS 80)]]
  [[
cudaops_add_kernels(k): SOURCES holds 'ARCHS', which is no file; did you mean ARCHITECTURES?
  looked <case>/src/ARCHS
  wanted a file, or one of OBJECT STATIC SHARED SOURCES ARCHITECTURES CUDA_CUBINS DEFINE
 Fix: ARCHITECTURES (instead of ARCHS)
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES op.cu ARCHITECTURES 80 DEFIN HAVE_K)]]
  [[
cudaops_add_kernels(k): "DEFIN" is not an architecture.
  found ARCHITECTURES 80 DEFIN HAVE_K
  accepted 9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major, >=80 keyword DEFINE looks like it
 Fix: ARCHITECTURES 80 90a, or the like
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES op.cu ARCHITECTURES sm_80)]]
  [[
cudaops_add_kernels(k): "sm_80" is nvcc's spelling; here it is 80-real.
  found ARCHITECTURES sm_80
  accepted 9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major, >=80
 Fix: ARCHITECTURES 80-real
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES op.cu DEFINE)]]
  [[
cudaops_add_kernels(k): DEFINE needs a value.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES op.cu DEFINE "")]]
  [[
cudaops_add_kernels(k): DEFINE needs a value.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES op.cu DEFINE HAVE_K=1)]]
  [[
cudaops_add_kernels(k): DEFINE is not the name of a macro.
  found HAVE_K=1
  wanted letters, digits and _; its value is 1
 Fix: DEFINE HAVE_k
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES op.cu DEFINE -DHAVE_K)]]
  [[
cudaops_add_kernels(k): DEFINE is not the name of a macro.
  found -DHAVE_K
  wanted letters, digits and _; its value is 1
 Fix: DEFINE HAVE_k
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES op.cu DEFINE A DEFINE B)]]
  [[
cudaops_add_kernels(k): DEFINE is given twice.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES op.cu DEFINE A B)]]
  [[
cudaops_add_kernels(k): unknown argument 'B'.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES op.cu CUDA REQUIRED)]]
  [[
cudaops_add_kernels(k): SOURCES holds 'CUDA', which is no file.
  looked <case>/src/CUDA
  wanted a file, or one of OBJECT STATIC SHARED SOURCES ARCHITECTURES CUDA_CUBINS DEFINE
 Fix: the name of a file, or a keyword
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES op.cpp ABI STABLE)]]
  [[
cudaops_add_kernels(k): SOURCES holds 'ABI', which is no file.
  looked <case>/src/ABI
  wanted a file, or one of OBJECT STATIC SHARED SOURCES ARCHITECTURES CUDA_CUBINS DEFINE
 Fix: the name of a file, or a keyword
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES op.cpp ARCHITECTURES 80)]]
  [[
cudaops_add_kernels(k): ARCHITECTURES applies to .cu files, and SOURCES holds none.
 Fix: leave ARCHITECTURES out
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES op.cpp DEFINE HAVE_K)]]
  [[
cudaops_add_kernels(k): DEFINE applies to .cu files, and SOURCES holds none.
 Fix: leave DEFINE out
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES op.cu)]]
  [[
cudaops_add_kernels(k): no torch and no toolkit have been looked for yet.
  wanted find_package(CudaTorchMatch) before this call, in the top-level CMakeLists.txt
 Fix: find_package(CudaTorchMatch REQUIRED)
]]
  NO_MATCH
)
