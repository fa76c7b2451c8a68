# Calls that are refused.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
foreach(file IN ITEMS k.cu other/k.h sub/CMakeLists.txt)
  source(${file} "")
endforeach()
# Beyond the checkout.
file(WRITE "${case_DIR}/src/.git" "")
file(WRITE "${case_DIR}/elsewhere/k.cu" "")

set(usage "${commands_USAGE}")
set(commands_USAGE "here in full")
misuse("hipify_sources()" [[
hipify_sources(): the first argument is the variable for the result.
  found   ''
 Fix: hipify_sources(<out-var> SOURCES <file>...
  [INCLUDE_DIRECTORIES <dir>...] [OUTPUT_DIRECTORY <dir>])
]]
)
set(commands_USAGE "${usage}")
misuse("hipify_sources(SOURCES k.cu)" [[
hipify_sources(): the first argument is the variable for the result.
  found   'SOURCES'
 Fix: <usage>
]]
)
misuse("hipify_sources(t)" [[
hipify_sources(t): SOURCES is missing.
  wanted  at least one file
 Fix: <usage>
]]
)
misuse("hipify_sources(t k.cu SOURCES k.cu)" [[
hipify_sources(t): unknown argument 'k.cu'.
 Fix: <usage>
]]
)
misuse("hipify_sources(t SOURCES k.cu OUTPUT_DIRECTORY)" [[
hipify_sources(t): OUTPUT_DIRECTORY needs a value.
 Fix: <usage>
]]
)
misuse("hipify_sources(t SOURCES k.cu OUTPUT_DIRECTORY a OUTPUT_DIRECTORY b)" [[
hipify_sources(t): OUTPUT_DIRECTORY is given twice.
 Fix: <usage>
]]
)
misuse("hipify_sources(t SOURCES kk.cu)" [[
hipify_sources(t): SOURCES names a file that doesn't exist.
  found   kk.cu
  looked  <case>/src/kk.cu
  there is <case>/src/k.cu
 Fix: the right name, or add the command that generates it before this call (its OUTPUT counts)
]]
)
misuse("hipify_sources(t SOURCES k.cu INCLUDE_DIRS other)" [[
hipify_sources(t): SOURCES holds 'INCLUDE_DIRS', which is no file; did you mean INCLUDE_DIRECTORIES?
  looked  <case>/src/INCLUDE_DIRS
  wanted  a file, or one of SOURCES INCLUDE_DIRECTORIES OUTPUT_DIRECTORY
 Fix: INCLUDE_DIRECTORIES   (instead of INCLUDE_DIRS)
]]
)
misuse("hipify_sources(t SOURCES other/k.h)" [[
hipify_sources(t): SOURCES holds headers only.
  found   other/k.h
 Fix: add the .cpp or .cu files that include them
]]
)
misuse("hipify_sources(t SOURCES $<TARGET_OBJECTS:x>)" [[
hipify_sources(t): SOURCES takes no generator expressions.
  found   $<TARGET_OBJECTS:x>
  wanted  the name of a file: which file it is must be known at configure
 Fix: if() around the call, or list(APPEND <sources> <file>)
]]
)
misuse("hipify_sources(t SOURCES ../elsewhere/k.cu)" [[
hipify_sources(t): a source is in no directory that is translated.
  found   <case>/elsewhere/k.cu
  wanted  a file below <case>/src
          or below <case>/build
 Fix: INCLUDE_DIRECTORIES <directory above it>
]]
)
misuse("hipify_sources(t SOURCES k.cu OUTPUT_DIRECTORY \"\${CMAKE_CURRENT_SOURCE_DIR}/..\")" [[
hipify_sources(t): OUTPUT_DIRECTORY contains the sources.
  found   <case>
  sources <case>/src
 Fix: a directory of its own in the build tree
]]
)
foreach(directory IN ITEMS "\$<1:x>" "[x" "x\;y")
  misuse("hipify_sources(t SOURCES k.cu OUTPUT_DIRECTORY [==[${directory}]==])" "
hipify_sources(t): OUTPUT_DIRECTORY is one directory, known at configure, without brackets.
  found   ${directory}
 Fix: a directory of its own in the build tree, or leave it out"
  )
endforeach()
misuse("hipify_sources(t SOURCES k.cu OUTPUT_DIRECTORY m)\nhipify_sources(u SOURCES k.cu INCLUDE_DIRECTORIES other OUTPUT_DIRECTORY m)" [[
hipify_sources(u): k.cu is translated into <case>/build/m already, with other include directories.
  found   <case>/build/m/k.cu, made by another call
 Fix: another OUTPUT_DIRECTORY, or the same INCLUDE_DIRECTORIES
]]
)
misuse("cudaops_target_hipify()" [[
cudaops_target_hipify(): takes one argument, a target.
  found   ''
 Fix: cudaops_target_hipify(<target>)
]]
)
misuse("cudaops_target_hipify(nothing)" [[
cudaops_target_hipify(nothing): the first argument is a target.
  found   'nothing'
 Fix: cudaops_target_hipify(<target>)
]]
)
misuse("add_library(t OBJECT k.cpp)\ncudaops_target_hipify(t SOURCES)" [[
cudaops_target_hipify(): takes one argument, a target.
  found   't SOURCES'
 Fix: cudaops_target_hipify(<target>)
]]
)
source(sub/CMakeLists.txt "add_library(t OBJECT ../k.cu)")
misuse("add_subdirectory(sub)\ncudaops_target_hipify(t)" [[
cudaops_target_hipify(t): the target was made in another directory, and its commands belong there.
  found   <case>/src/sub
  here    <case>/src
 Fix: call it in <case>/src/sub/CMakeLists.txt
]]
)
misuse("add_library(t OBJECT $<$<BOOL:1>:k.cu>)\ncudaops_target_hipify(t)" [[
cudaops_target_hipify(t): a .cu file in a generator expression can't be translated.
  found   $<$<BOOL:1>:k.cu>
  wanted  the name of a file: which file it is must be known at configure
 Fix: if() around target_sources(t PRIVATE <file>)
]]
)
misuse("add_library(i INTERFACE)\ntarget_sources(i INTERFACE \"\${CMAKE_CURRENT_SOURCE_DIR}/k.cu\")\nadd_library(t OBJECT k.cu)\ntarget_link_libraries(t PRIVATE i)\ncudaops_target_hipify(t)" [[
cudaops_target_hipify(t): a .cu file among the INTERFACE sources of i can't be translated.
  found   <case>/src/k.cu
  wanted  a source of the target itself
 Fix: target_sources(t PRIVATE <file>), or an OBJECT library
]]
)
misuse("add_library(t OBJECT ../elsewhere/k.cu)\ncudaops_target_hipify(t)" [[
cudaops_target_hipify(t): a source is in no directory that is translated.
  found   <case>/elsewhere/k.cu
  wanted  a file below <case>/src
          or below <case>/build
 Fix: target_include_directories(t PRIVATE <directory above it>)
]]
)

# CUDAOPS_HIPIFY
set(call "hipify_sources(t SOURCES k.cu)")
set(
  rest
  [[
  wanted  hipify-perl, or a torch 2.9 or later: its Python, its site-packages or its own directory
 Fix: -DCUDAOPS_HIPIFY=<one of them>, or -UCUDAOPS_HIPIFY for the torch found
]]
)
foreach(
  pair
  IN
  ITEMS
    "src/nothing|no such file"
    "src|no torch/utils/hipify/hipify_python.py there"
    "plain/bin/python|Python …, no torch"
)
  string(REPLACE "|" ";" pair "${pair}")
  list(GET pair 0 path)
  list(GET pair 1 problem)
  fake_python("${case_DIR}/plain")
  misuse("${call}" "hipify_sources(t): CUDAOPS_HIPIFY names no translator. found <case>/${path} (${problem}) ${rest}" ARGS "-DCUDAOPS_HIPIFY=${case_DIR}/${path}")
endforeach()
fake_torch("${case_DIR}/old" VERSION 2.9.0 CPU)
set(file "old/lib/python${case_PYTHON_VERSION}/site-packages/torch/utils/hipify/hipify_python.py")
file(WRITE "${case_DIR}/${file}" "def preprocessor(output_directory):\n    pass\n")
misuse("${call}" "
hipify_sources(t): this translator is too old: it can't keep kernel launches as they are.
  found   <case>/${file}
  wanted  the translator of torch 2.9 or later
 Fix: -DCUDAOPS_HIPIFY=<python, or site-packages, of a torch 2.9 or later>
      or -DCUDAOPS_HIPIFY=<hipify-perl>" ARGS "-DCUDAOPS_HIPIFY=${case_DIR}/old"
)
