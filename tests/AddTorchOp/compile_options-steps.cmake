# Options of nvcc's without a language before them: files of ours are compiled without them, and a C++ file of the
# author's, which the compiler would refuse, is named when the directory ends.
machine(CUDA)
set(
  options
  [==[ PRIVATE --use_fast_math "SHELL:-Xptxas -v" "$<$<CONFIG:>:--expt-relaxed-constexpr;--extended-lambda>")]==]
)
configure("add_torch_op(device CUDA_SOURCES op.cu PYTHON_MODULE _C)
cudaops_add_kernels(kernels SOURCES more.cu)
target_compile_options(device ${options}
target_compile_options(kernels ${options}"
)
case_build(ARGS --verbose)
expect_stdout("nvcc[^\n]* --use_fast_math -Xptxas -v --expt-relaxed-constexpr --extended-lambda")

# What the C++ compiler takes, and what has a language, is the author's.
configure("add_torch_op(both SOURCES op.cpp CUDA_SOURCES op.cu)
target_compile_options(both PRIVATE -O2 -DA=1 \"$<$<COMPILE_LANGUAGE:CUDA>:--use_fast_math;-Xptxas;-v>\")"
)
misuse(
  [[
add_torch_op(both SOURCES op.cpp CUDA_SOURCES op.cu)
target_compile_options(both PRIVATE -O2 --use_fast_math "SHELL:-Xptxas -v")
]]
  [[
target_compile_options(both): the C++ compiler has no such option, and the target has C++ files.
  found --use_fast_math SHELL:-Xptxas -v
  C++ op.cpp, compiled by …
 Fix: target_compile_options(both PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:--use_fast_math;SHELL:-Xptxas -v>")
]]
)

# add_compile_options(-Wall -Werror) is meant for g++; nvcc's -Werror takes the next option for its value.
misuse(
  [[
add_compile_options(-Wall -Werror)
add_torch_op(both SOURCES op.cpp CUDA_SOURCES op.cu)
]]
  [[
target_compile_options(both): nvcc has another option of this name, and the target has CUDA files.
  found -Werror (target_compile_options() or add_compile_options())
  CUDA op.cu
 Fix: "$<$<COMPILE_LANGUAGE:CXX>:-Werror>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Werror>" (for nvcc's C++ compiler)
]]
)
# A standard that nvcc doesn't have is nvcc's to say.
configure("add_compile_options(-std=c++26)\nadd_torch_op(device CUDA_SOURCES op.cu)")
configure("add_compile_options(-Wall $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
add_torch_op(host SOURCES op.cpp)
add_torch_op(device CUDA_SOURCES op.cu)"
)

# An old -std= is the last word where it stands among the options, or where CMake has no reason to pass one.
foreach(
  option
  IN
  ITEMS
    "add_compile_options(-std=c++14)"
    "add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-std=gnu++1y>)"
    "add_compile_options($<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<NOT:$<CXX_COMPILER_ID:MSVC>>>:-Wall;-std=c++14>)"
    "add_compile_options(-O2 $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-std=c++14>)"
)
  string(REGEX MATCH "-std=[a-z0-9+]+" standard "${option}")
  misuse(
    "set(CMAKE_CXX_STANDARD_COMPUTED_DEFAULT 17)\n${option}\nadd_torch_op(both SOURCES op.cpp CUDA_SOURCES op.cu)\n"
    "target_compile_options(both): an option asks for an older C++ than the target's headers need.
  found ${standard} (target_compile_options() or add_compile_options())
  wanted C++17 or later; CMake passes what a target needs
 Fix: leave ${standard} out
  set(CMAKE_CXX_STANDARD 14) (in place of it, for the project's other targets)
"
  )
endforeach()
misuse(
  [[
set(CMAKE_CXX_STANDARD_COMPUTED_DEFAULT 17)
set(CMAKE_CXX_FLAGS "-O2 -std=c++11")
add_torch_op(both SOURCES op.cpp CUDA_SOURCES op.cu)
]]
  [[
CMAKE_CXX_FLAGS: an option asks for an older C++ than the target's headers need.
  found -std=c++11 (CMAKE_CXX_FLAGS, compiles both)
  wanted C++17 or later; CMake passes what a target needs
 Fix: leave -std=c++11 out
  set(CMAKE_CXX_STANDARD 11) (in place of it, for the project's other targets)
]]
)
configure("set(CMAKE_CXX_STANDARD_COMPUTED_DEFAULT 14)
set(CMAKE_CXX_FLAGS -std=c++14)
add_torch_op(older_compiler SOURCES op.cpp)
set(CMAKE_CXX_STANDARD_COMPUTED_DEFAULT 17)
set(CMAKE_CXX_STANDARD 20)
add_torch_op(newer_target SOURCES op.cpp)
add_compile_options(-std=c++17)
set(CMAKE_CXX_FLAGS -std=c++20)
unset(CMAKE_CXX_STANDARD)
add_torch_op(newer_flags SOURCES op.cpp)"
)

# For other files, other compilers and other configurations; of what isn't known nothing is said.
configure("set(CMAKE_CXX_STANDARD_COMPUTED_DEFAULT 17)
set(CMAKE_BUILD_TYPE Release)
add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-std=c++14> $<$<COMPILE_LANG_AND_ID:CXX,MSVC>:-std=c++14>)
add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Debug>>:-std=c++14>)
add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,5>>:-std=c++14>)
add_torch_op(others SOURCES op.cpp)"
)

# By its older policies CMake passes each standard that is set; without GNU's extensions it passes one, too.
configure("set(CMAKE_CXX_STANDARD_COMPUTED_DEFAULT 17)
set(CMAKE_CXX_FLAGS -std=c++14)
set(CMAKE_MINIMUM_REQUIRED_VERSION 3.18)
set(CMAKE_CXX_STANDARD 17)
add_torch_op(older_policies SOURCES op.cpp)
unset(CMAKE_CXX_STANDARD)
set(CMAKE_CXX_EXTENSIONS NO)
add_torch_op(no_extensions SOURCES op.cpp)"
)
if(CMAKE_VERSION VERSION_LESS 3.26)
  configure("set(CMAKE_CXX_STANDARD_COMPUTED_DEFAULT 14)
add_compile_options(-std=c++14)
add_torch_op(standard_behind_options SOURCES op.cpp)"
  )
endif()

# Without CUDA the kernels' library holds a file of ours alone.
machine(CPU)
file(REMOVE_RECURSE "${case_BUILD_DIR}")
configure("cudaops_add_kernels(kernels SOURCES more.cu)\ntarget_compile_options(kernels ${options}")
case_build()

# Of the years in which torch's wheels had other strings; a torch that has them still is left alone.
set(old_strings "add_definitions(-D_GLIBCXX_USE_CXX11_ABI=0)\nadd_torch_op(full ABI FULL SOURCES op.cpp)")
configure("${old_strings}")
configure("add_definitions(-D_GLIBCXX_USE_CXX11_ABI=0)\nadd_torch_op(stable SOURCES op.cpp)")
file(GLOB_RECURSE c10 "${case_DIR}/libc10.so")
file(APPEND "${c10}" "_ZN3c105ErrorC1ENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES6_PKv\n")
misuse(
  "${old_strings}"
  "
add_torch_op(full): torch's std::string is another than the op's.
  found _GLIBCXX_USE_CXX11_ABI=0 (the definitions or options of full, or of its directory)
  torch <case>/venv/lib/python3.11/site-packages/torch/lib/libc10.so has the strings of C++11
 Fix: leave _GLIBCXX_USE_CXX11_ABI=0 out
"
)
