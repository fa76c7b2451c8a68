# Sources that don't exist, are directories, or of another kind.
machine(CPU)
file(MAKE_DIRECTORY "${case_DIR}/src/csrc" "${case_DIR}/src/folder.cpp")
file(WRITE "${case_DIR}/src/op.py" "")
file(WRITE "${case_DIR}/src/noending" "")
file(WRITE "${case_DIR}/src/csrc/deep.cpp" "")

misuse(
  [[add_torch_op(my_op SOURCES op.ccp)]]
  [[
add_torch_op(my_op): SOURCES names a file that doesn't exist.
  found op.ccp
  looked <case>/src/op.ccp
  there is <case>/src/op.cpp
 Fix: the right name, or add the command that generates it before this call (its OUTPUT counts)
]]
)

misuse(
  [[add_torch_op(my_op SOURCES oo.cpp)]]
  [[
add_torch_op(my_op): SOURCES names a file that doesn't exist.
  found oo.cpp
  looked <case>/src/oo.cpp
  there is <case>/src/op.cpp
 Fix: the right name, or add the command that generates it before this call (its OUTPUT counts)
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp csrc/nothing_like_it.cpp)]]
  [[
add_torch_op(my_op): SOURCES names a file that doesn't exist.
  found csrc/nothing_like_it.cpp
  looked <case>/src/csrc/nothing_like_it.cpp
 Fix: the right name, or add the command that generates it before this call (its OUTPUT counts)
]]
)

misuse(
  [[add_torch_op(my_op SOURCES missing/op.cpp)]]
  [[
add_torch_op(my_op): SOURCES names a file that doesn't exist.
  found missing/op.cpp
  looked <case>/src/missing/op.cpp
 Fix: the right name, or add the command that generates it before this call (its OUTPUT counts)
]]
)

misuse(
  [[add_torch_op(my_op SOURCES csrc)]]
  [[
add_torch_op(my_op): SOURCES is a list of files, and this is a directory.
  found <case>/src/csrc
 Fix: list the files one by one
]]
)

misuse(
  [[add_torch_op(my_op SOURCES folder.cpp)]]
  [[
add_torch_op(my_op): SOURCES is a list of files, and this is a directory.
  found <case>/src/folder.cpp
 Fix: list the files one by one
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.py)]]
  [[
add_torch_op(my_op): SOURCES doesn't accept files of this kind.
  found op.py
  wanted .c .cc .cpp .cxx .cu .hip, or headers: .h .hpp .cuh
 Fix: leave it out, or give it one of these endings
]]
)

misuse(
  [[add_torch_op(my_op SOURCES noending)]]
  [[
add_torch_op(my_op): SOURCES doesn't accept files of this kind.
  found noending
  wanted .c .cc .cpp .cxx .cu .hip, or headers: .h .hpp .cuh
 Fix: leave it out, or give it one of these endings
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp REQUIRED)]]
  [[
add_torch_op(my_op): SOURCES holds 'REQUIRED', which is no file.
  looked <case>/src/REQUIRED
  wanted a file, or one of SOURCES CUDA_SOURCES ARCHITECTURES ABI TORCH_TARGET CUDA PYTHON_MODULE PYTHON_TARGET PYTHON_PACKAGE INSTALL CUDA_CUBINS RECIPE
 Fix: the name of a file, or a keyword
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cuu)]]
  [[
add_torch_op(my_op): CUDA_SOURCES names a file that doesn't exist.
  found op.cuu
  looked <case>/src/op.cuu
  there is <case>/src/op.cu
 Fix: the right name, or add the command that generates it before this call (its OUTPUT counts)
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES "op.cu more.cu")]]
  [[
add_torch_op(my_op): CUDA_SOURCES names a file that doesn't exist.
  found op.cu more.cu
  looked <case>/src/op.cu more.cu
 Fix: the right name, or add the command that generates it before this call (its OUTPUT counts)
]]
)

misuse(
  [[add_torch_op(my_op SOURCES "${CMAKE_CURRENT_SOURCE_DIR}/none.cpp")]]
  [[
add_torch_op(my_op): SOURCES names a file that doesn't exist.
  found <case>/src/none.cpp
  looked <case>/src/none.cpp
 Fix: the right name, or add the command that generates it before this call (its OUTPUT counts)
]]
)

misuse(
  [[add_torch_op(my_op SOURCES *.cpp)]]
  [[
add_torch_op(my_op): SOURCES names a file that doesn't exist.
  found *.cpp
  looked <case>/src/*.cpp
  there is <case>/src/op.cpp
 Fix: the right name, or add the command that generates it before this call (its OUTPUT counts)
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.h)]]
  [[
add_torch_op(my_op): SOURCES and CUDA_SOURCES hold headers only.
  found op.h
 Fix: add the .cpp or .cu files that include them
]]
)

misuse(
  [[add_torch_op(my_op SOURCES -O3)]]
  [[
add_torch_op(my_op): SOURCES names a file that doesn't exist.
  found -O3
  looked <case>/src/-O3
 Fix: the right name, or add the command that generates it before this call (its OUTPUT counts)
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp https://example.com/op.cpp)]]
  [[
add_torch_op(my_op): SOURCES names a file that doesn't exist.
  found https://example.com/op.cpp
  looked <case>/src/https:/example.com/op.cpp
 Fix: the right name, or add the command that generates it before this call (its OUTPUT counts)
]]
)

misuse(
  [[add_torch_op(my_op SOURCES ${unset_variable})]]
  [[
add_torch_op(my_op): SOURCES needs a value.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES "a[b.cpp")]]
  [[
add_torch_op(my_op): SOURCES holds a name that CMake's lists can't hold: no ';', and no '[' without its ']'.
  found a[b.cpp
 Fix: give the file another name
]]
)

misuse(
  [[add_torch_op(my_op SOURCES "a\\;b.cpp")]]
  [[
add_torch_op(my_op): SOURCES holds a name that CMake's lists can't hold: no ';', and no '[' without its ']'.
  found a\;b.cpp
 Fix: give the file another name
]]
)

misuse(
  [[add_torch_op(my_op SOURCES "$<1:op.cpp" op_cuda.cpp)]]
  [[
add_torch_op(my_op): SOURCES holds a generator expression without its end.
  found $<1:op.cpp
 Fix: close each $< with a >, and quote an expression that holds blanks or ';'
]]
)

# CMake would leave it out. Where C is enabled, or the file is compiled as C++, it is a source like others; where it is included
# by another, it is none.
file(WRITE "${case_DIR}/src/part.c" "")
misuse(
  [[add_torch_op(my_op SOURCES op.cpp)
target_sources(my_op PRIVATE part.c)]]
  [[
my_op: a source is C, and no project() enables C: CMake would leave it out, in silence.
  found …part.c
  enabled CXX
 Fix: project(<name> LANGUAGES C CXX)
 or set_source_files_properties(…part.c PROPERTIES LANGUAGE CXX) (C++, as torch's cpp_extension compiles it)
]]
)
foreach(command IN ITEMS add_torch_op cudaops_add_kernels)
  foreach(property IN ITEMS "LANGUAGE CXX" "HEADER_FILE_ONLY ON")
    configure("${command}(my_op SOURCES op.cpp part.c)\nset_source_files_properties(part.c PROPERTIES ${property})")
  endforeach()
  configure("${command}(my_op SOURCES op.cpp part.c)" LANGUAGES "C CXX")
endforeach()
