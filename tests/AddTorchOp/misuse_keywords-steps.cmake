# Keywords that are misspelt, in lower case, swallowed by a list, without a value, or given twice.
machine(CPU)

misuse(
  [[add_torch_op(my_op)]]
  [[
add_torch_op(my_op): SOURCES and CUDA_SOURCES are both missing.
  wanted at least one file
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op op.cpp)]]
  [[
add_torch_op(my_op): unknown argument 'op.cpp'.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCE op.cpp)]]
  [[
add_torch_op(my_op): unknown argument 'SOURCE', did you mean SOURCES?
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op sources op.cpp)]]
  [[
add_torch_op(my_op): unknown argument 'sources', did you mean SOURCES?
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCE op.cu)]]
  [[
add_torch_op(my_op): SOURCES holds 'CUDA_SOURCE', which is no file; did you mean CUDA_SOURCES?
  looked <case>/src/CUDA_SOURCE
  wanted a file, or one of SOURCES CUDA_SOURCES ARCHITECTURES ABI TORCH_TARGET CUDA PYTHON_MODULE PYTHON_TARGET PYTHON_PACKAGE INSTALL CUDA_CUBINS RECIPE
 Fix: CUDA_SOURCES (instead of CUDA_SOURCE)
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp cuda_sources op.cu)]]
  [[
add_torch_op(my_op): SOURCES holds 'cuda_sources', which is no file; did you mean CUDA_SOURCES?
  looked <case>/src/cuda_sources
  wanted a file, or one of SOURCES CUDA_SOURCES ARCHITECTURES ABI TORCH_TARGET CUDA PYTHON_MODULE PYTHON_TARGET PYTHON_PACKAGE INSTALL CUDA_CUBINS RECIPE
 Fix: CUDA_SOURCES (instead of cuda_sources)
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA AUTO extra)]]
  [[
add_torch_op(my_op): unknown argument 'extra'.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp ARCHS 80)]]
  [[
add_torch_op(my_op): SOURCES holds 'ARCHS', which is no file; did you mean ARCHITECTURES?
  looked <case>/src/ARCHS
  wanted a file, or one of SOURCES CUDA_SOURCES ARCHITECTURES ABI TORCH_TARGET CUDA PYTHON_MODULE PYTHON_TARGET PYTHON_PACKAGE INSTALL CUDA_CUBINS RECIPE
 Fix: ARCHITECTURES (instead of ARCHS)
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES 80 PYTHON_MODUL _C)]]
  [[
add_torch_op(my_op): "PYTHON_MODUL" is not an architecture.
  found ARCHITECTURES 80 PYTHON_MODUL _C
  accepted 9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major, >=80 keyword PYTHON_MODULE looks like it
 Fix: ARCHITECTURES 80 90a, or the like
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURE 80)]]
  [[
add_torch_op(my_op): CUDA_SOURCES holds 'ARCHITECTURE', which is no file; did you mean ARCHITECTURES?
  looked <case>/src/ARCHITECTURE
  wanted a file, or one of SOURCES CUDA_SOURCES ARCHITECTURES ABI TORCH_TARGET CUDA PYTHON_MODULE PYTHON_TARGET PYTHON_PACKAGE INSTALL CUDA_CUBINS RECIPE
 Fix: ARCHITECTURES (instead of ARCHITECTURE)
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp DEFINITIONS FOO=1)]]
  [[
add_torch_op(my_op): SOURCES holds 'DEFINITIONS', which is no file: macros go to target_compile_definitions().
  looked <case>/src/DEFINITIONS
  wanted a file, or one of SOURCES CUDA_SOURCES ARCHITECTURES ABI TORCH_TARGET CUDA PYTHON_MODULE PYTHON_TARGET PYTHON_PACKAGE INSTALL CUDA_CUBINS RECIPE
 Fix: target_compile_definitions(my_op PRIVATE FOO=1)
]]
)

misuse(
  [[add_torch_op(my_op SHARED SOURCES op.cpp)]]
  [[
add_torch_op(my_op): unknown argument 'SHARED'.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op OPTIONS SOURCES op.cpp)]]
  [[
add_torch_op(my_op): unknown argument 'OPTIONS': compile options go to target_compile_options().
 Fix: target_compile_options(my_op PRIVATE <option>)
]]
)

misuse(
  [[add_torch_op(my_op USAGE SOURCES op.cpp)]]
  [[
add_torch_op(my_op): unknown argument 'USAGE'.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES)]]
  [[
add_torch_op(my_op): SOURCES needs a value.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES "")]]
  [[
add_torch_op(my_op): SOURCES needs a value.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES "" CUDA_SOURCES "")]]
  [[
add_torch_op(my_op): SOURCES needs a value.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op CUDA_SOURCES)]]
  [[
add_torch_op(my_op): CUDA_SOURCES needs a value.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES CUDA_SOURCES op.cu)]]
  [[
add_torch_op(my_op): SOURCES needs a value.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp ABI)]]
  [[
add_torch_op(my_op): ABI needs a value.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op ABI SOURCES op.cpp)]]
  [[
add_torch_op(my_op): ABI needs a value.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp ABI "")]]
  [[
add_torch_op(my_op): ABI needs a value.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp INSTALL)]]
  [[
add_torch_op(my_op): INSTALL needs a value.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp INSTALL "")]]
  [[
add_torch_op(my_op): INSTALL needs a value.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp PYTHON_MODULE "")]]
  [[
add_torch_op(my_op): PYTHON_MODULE needs a value.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp TORCH_TARGET "")]]
  [[
add_torch_op(my_op): TORCH_TARGET needs a value.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA "")]]
  [[
add_torch_op(my_op): CUDA needs a value.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES)]]
  [[
add_torch_op(my_op): ARCHITECTURES needs a value.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES "")]]
  [[
add_torch_op(my_op): ARCHITECTURES needs a value.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp ABI STABLE ABI FULL)]]
  [[
add_torch_op(my_op): ABI is given twice.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp ABI stable)]]
  [[
add_torch_op(my_op): unknown ABI 'stable', did you mean STABLE?
  wanted STABLE FULL PYBIND
 Fix: ABI STABLE
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp ABI STABEL)]]
  [[
add_torch_op(my_op): unknown ABI 'STABEL', did you mean STABLE?
  wanted STABLE FULL PYBIND
 Fix: ABI STABLE
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp ABI "STABLE;FULL")]]
  [[
add_torch_op(my_op): unknown ABI 'STABLE;FULL'.
  wanted STABLE FULL PYBIND
 Fix: ABI STABLE
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp ABI C++)]]
  [[
add_torch_op(my_op): unknown ABI 'C++'.
  wanted STABLE FULL PYBIND
 Fix: ABI STABLE
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA ON)]]
  [[
add_torch_op(my_op): unknown CUDA 'ON'.
  wanted AUTO REQUIRED OFF
 Fix: CUDA AUTO
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA required)]]
  [[
add_torch_op(my_op): unknown CUDA 'required', did you mean REQUIRED?
  wanted AUTO REQUIRED OFF
 Fix: CUDA REQUIRED
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA 1)]]
  [[
add_torch_op(my_op): unknown CUDA '1'.
  wanted AUTO REQUIRED OFF
 Fix: CUDA AUTO
]]
)
