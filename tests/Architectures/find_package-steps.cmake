# The whole way through find_package(CudaTorchMatch), with a toolkit and a torch that are not the machine's: what
# stands in CMAKE_CUDA_ARCHITECTURES afterwards, with CUDA enabled by us and before us.
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)

# found(<what> <source> <CMAKE_CUDA_ARCHITECTURES> [AGAIN] [LANGUAGES <lang>...] [BEFORE <code>] [ARGS <arg>...])
function(found what source expected)
  cmake_parse_arguments(PARSE_ARGV 3 arg "AGAIN" "BEFORE" "LANGUAGES;ARGS")
  if(NOT arg_LANGUAGES)
    set(arg_LANGUAGES CXX)
  endif()
  if(NOT arg_AGAIN)
    file(REMOVE_RECURSE "${case_BUILD_DIR}")
  endif()
  file(REMOVE "${case_DIR}/result.txt")
  case_project(
    NO_SEED
    LANGUAGES ${arg_LANGUAGES}
    PRELUDE "set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)\n${case_PRELUDE}"
    BODY
      "${arg_BEFORE}\nfind_package(CudaTorchMatch REQUIRED)\nfile(WRITE [==[${case_DIR}/result.txt]==] \"\${CMAKE_CUDA_ARCHITECTURES}|\${CMAKE_CUDA_FLAGS}\")\nfile(WRITE \"\${CMAKE_CURRENT_SOURCE_DIR}/a.cu\" \"\")\nadd_library(a OBJECT a.cu)"
  )
  case_configure(
    ARGS
      "-DCMAKE_CUDA_COMPILER=${case_DIR}/cuda/bin/nvcc"
      "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python"
      "-DCUDAOPS_VERSION_POLICY=STRICT"
      -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
      ${arg_ARGS}
  )
  set(result "")
  if(EXISTS "${case_DIR}/result.txt")
    file(READ "${case_DIR}/result.txt" result)
  endif()
  case_equal("${what}" "${result}" "${expected}|")
  case_report_equal("${source}" architectures source)
  set(case_STEP_STDOUT "${case_STEP_STDOUT}" PARENT_SCOPE)
endfunction()

# compiled_for(<code>...): the consumer's own target, and nothing else.
function(compiled_for)
  file(READ "${case_BUILD_DIR}/compile_commands.json" commands)
  string(REGEX MATCHALL ",code=[^ \"\\]*" codes "${commands}")
  list(JOIN ARGN " " expected)
  string(REPLACE ";" " " codes "${codes}")
  string(REPLACE ",code=" "code=" codes "${codes}")
  case_equal("code of the consumer's own target" "${codes}" "${expected}")
endfunction()

case_environment("TORCH_CUDA_ARCH_LIST=9.0a 12.0+PTX")
found("environment" "environment TORCH_CUDA_ARCH_LIST" "90a-real;120")
compiled_for("code=[sm_90a]" "code=[compute_120,sm_120]")

case_environment(TORCH_CUDA_ARCH_LIST=9.0)
foreach(again IN ITEMS "" AGAIN)
  found("CUDA enabled before ${again}" "environment TORCH_CUDA_ARCH_LIST" "90-real" ${again} LANGUAGES CXX CUDA)
  compiled_for("code=[sm_90]")
  case_not_match("CUDA enabled before ${again}" "${case_STEP_STDOUT}" "is not used")
endforeach()
case_environment(UNSET TORCH_CUDA_ARCH_LIST)

found(
  "OFF before find_package"
  CMAKE_CUDA_ARCHITECTURES
  "90"
  BEFORE "set(CMAKE_CUDA_ARCHITECTURES OFF)"
  ARGS -DCMAKE_CUDA_ARCHITECTURES=90
)
compiled_for("code=[compute_90,sm_90]")
foreach(again IN ITEMS "" AGAIN)
  # Neither is a spelling that CMake 3.25 reads there.
  found(
    "torch's spelling ${again}"
    CMAKE_CUDA_ARCHITECTURES
    "90-real;120f"
    ${again}
    ARGS "-DCMAKE_CUDA_ARCHITECTURES=9.0;120f"
  )
  compiled_for("code=[sm_90]" "code=[compute_120f,sm_120f]")
endforeach()
