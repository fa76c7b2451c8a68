# SPDX-License-Identifier: Apache-2.0
# What cudaops_add_gtest() and cudaops_add_benchmark() check alike. program_COMMAND names the command; <command> stands for
# it in calls and texts.
set(commands_USAGE "${program_COMMAND}(<name> SOURCES <file>... [LINK_LIBRARIES <target>...])")

function(misuse_program code text)
  string(REPLACE "<command>" "${program_COMMAND}" code "${code}")
  string(REPLACE "<command>" "${program_COMMAND}" text "${text}")
  misuse("${code}" "${text}" ${ARGN})
endfunction()

misuse_name(${program_COMMAND} "the name of the target" [[SOURCES op.cpp]])

misuse_program(
  [[<command>(t OPTIONS)]]
  [[
<command>(t): unknown argument 'OPTIONS': compile options go to target_compile_options().
 Fix: target_compile_options(t PRIVATE <option>)
]]
)

misuse_program(
  [[add_executable(t op.cpp)
<command>(t SOURCES op.cpp)]]
  [[
<command>(t): there is a target of this name already.
  found t, made in <case>/src
 Fix: another name: it is the name of the file too
]]
)

misuse_program(
  [[<command>(t)]]
  [[
<command>(t): SOURCES is missing.
  wanted at least one file
 Fix: <usage>
]]
)

misuse_program(
  [[<command>(t op.cpp)]]
  [[
<command>(t): unknown argument 'op.cpp'.
 Fix: <usage>
]]
)

misuse_program(
  [[<command>(t SOURCES)]]
  [[
<command>(t): SOURCES needs a value.
 Fix: <usage>
]]
)

misuse_program(
  [[<command>(t SOURCES "")]]
  [[
<command>(t): SOURCES needs a value.
 Fix: <usage>
]]
)

misuse_program(
  [[<command>(t SOURCES missing.cpp)]]
  [[
<command>(t): SOURCES names a file that doesn't exist.
  found missing.cpp
  looked <case>/src/missing.cpp
 Fix: the right name, or add the command that generates it before this call (its OUTPUT counts)
]]
)

misuse_program(
  [[<command>(t SOURCES op.cpp LINK_LIBRARY k)]]
  [[
<command>(t): SOURCES holds 'LINK_LIBRARY', which is no file; did you mean LINK_LIBRARIES?
  looked <case>/src/LINK_LIBRARY
  wanted a file, or one of SOURCES LINK_LIBRARIES
 Fix: LINK_LIBRARIES (instead of LINK_LIBRARY)
]]
)

misuse_program(
  [[<command>(t SOURCES op.cpp LIBRARIES k)]]
  [[
<command>(t): SOURCES holds 'LIBRARIES', which is no file; did you mean LINK_LIBRARIES?
  looked <case>/src/LIBRARIES
  wanted a file, or one of SOURCES LINK_LIBRARIES
 Fix: LINK_LIBRARIES (instead of LIBRARIES)
]]
)

misuse_program(
  [[<command>(t SOURCES op.cpp link_libraries k)]]
  [[
<command>(t): SOURCES holds 'link_libraries', which is no file; did you mean LINK_LIBRARIES?
  looked <case>/src/link_libraries
  wanted a file, or one of SOURCES LINK_LIBRARIES
 Fix: LINK_LIBRARIES (instead of link_libraries)
]]
)

misuse_program(
  [[<command>(t LINK_LIBRARIES k)]]
  [[
<command>(t): SOURCES is missing.
  wanted at least one file
 Fix: <usage>
]]
)

misuse_program(
  [[<command>(t SOURCES op.cu)]]
  [[
<command>(t): without CUDA nothing is left of SOURCES.
  found op.cu
 Fix: put main parts into a .cpp, and the .cu into cudaops_add_kernels()
]]
)

misuse_program(
  [[<command>(t SOURCES op.h)]]
  [[
<command>(t): SOURCES holds headers only.
  found op.h
 Fix: add the .cpp or .cu files that include them
]]
)

misuse_program(
  [[<command>(all SOURCES op.cpp)]]
  [[
<command>(all): CMake has a target of this name.
  found 'all'
 Fix: another name: my_all, or the like
]]
)

misuse_program(
  [[<command>(t SOURCES op.cpp)]]
  [[
<command>(t): no torch and no toolkit have been looked for yet.
  wanted find_package(CudaTorchMatch) before this call, in the top-level CMakeLists.txt
 Fix: find_package(CudaTorchMatch REQUIRED)
]]
  NO_MATCH
)
