# One grammar for every spelling, what is requested and from where, and what a toolkit and a piece of code make of it.
# Most cases are scripts. Those with steps configure a project that knows a toolkit (a fake CUDA 13.0) but enables no
# language, and look at what the request came to.

string(
  CONCAT arch_HEAD
  "include([==[${case_REPO}/cmake/CudaOpsArchitectures.cmake]==])\n"
  "_cudaops_use(arch/cuda)\n_cudaops_arch_ask_nvcc(supported [==[${case_DIR}/cuda/bin/nvcc]==])\n"
  "_cudaops_state_set(TOOLKIT_ARCHS \"\${supported}\")\n"
  "_cudaops_state_set(TOOLKIT_VERSION 13.0.88)\n"
  "_cudaops_state_set(TOOLKIT_ROOT /opt/cuda-13.0)\n"
  "_cudaops_state_set(VERDICT EXACT)\n"
)
string(
  CONCAT arch_TAIL
  "_cudaops_use(arch/request)\n_cudaops_arch_match(CUDA problem)\n"
  "foreach(key IN ITEMS ARCHITECTURES ARCHITECTURES_SOURCE ARCHITECTURES_REQUESTED ARCHITECTURES_VARIABLE)\n"
  "  _cudaops_state_get(\${key} value)\n"
  "  string(APPEND results \"\${key}=\${value}\\n\")\n"
  "endforeach()\n"
  "file(WRITE [==[${case_DIR}/results.txt]==] \"\${results}\")\n"
)

# arch_configure([BEFORE <code>] [AFTER <code>] [AGAIN] [ARGS <arg>...]): the project's build tree is new, except with
# AGAIN. BEFORE runs before the match, AFTER after it.
function(arch_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "AGAIN" "BEFORE;AFTER" "ARGS")
  if(NOT EXISTS "${case_DIR}/cuda")
    fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
  endif()
  if(NOT arg_AGAIN)
    file(REMOVE_RECURSE "${case_BUILD_DIR}")
  endif()
  file(REMOVE "${case_DIR}/results.txt")
  case_project(NO_SEED LANGUAGES NONE PRELUDE "${arch_HEAD}" BODY "${arg_BEFORE}\n${arch_TAIL}${arg_AFTER}\n")
  case_configure(ARGS ${arg_ARGS})
  set(case_STEP_STDOUT "${case_STEP_STDOUT}" PARENT_SCOPE)
  set(case_STEP_STDERR "${case_STEP_STDERR}" PARENT_SCOPE)
endfunction()

# arch_expect(<what> <entries> <source> <as requested>)
function(arch_expect what entries source requested)
  set(results "")
  if(EXISTS "${case_DIR}/results.txt")
    file(STRINGS "${case_DIR}/results.txt" results ENCODING UTF-8)
  endif()
  set(expected "ARCHITECTURES=${entries}" "ARCHITECTURES_SOURCE=${source}" "ARCHITECTURES_REQUESTED=${requested}")
  list(LENGTH results lines)
  if(lines LESS 3)
    case_fail("${what}: the match did not end")
    return()
  endif()
  list(FILTER results EXCLUDE REGEX "^ARCHITECTURES_VARIABLE=")
  case_equal("${what}" "${results}" "${expected}")
endfunction()
