# Real installations of torch: each case runs once for each Python in
# CUDAOPS_TEST_TORCHES (case_TORCH), the toolkit is the one in /usr/local/cuda.

if("${case_TORCH}" STREQUAL "")
  case_skip("no torch here (CUDAOPS_TEST_TORCHES)")
  return()
endif()

case_use_compiler_cache()

# torch_facts(): what version.py says, read by that Python: torch_VERSION, torch_CUDA, torch_DIR.
function(torch_facts)
  string(
    CONCAT code
    "import importlib.util as u, os, runpy\n"
    "d = os.path.dirname(u.find_spec('torch').origin)\n"
    "v = runpy.run_path(os.path.join(d, 'version.py'))\n"
    "print(v['__version__'], v['cuda'] or 'none', d, end='')\n"
  )
  execute_process(COMMAND "${case_TORCH}" -c "${code}" OUTPUT_VARIABLE facts COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "^([^ ]+) ([^ ]+) (.+)$" matched "${facts}")
  set(torch_VERSION "${CMAKE_MATCH_1}" PARENT_SCOPE)
  set(torch_CUDA "${CMAKE_MATCH_2}" PARENT_SCOPE)
  set(torch_DIR "${CMAKE_MATCH_3}" PARENT_SCOPE)
endfunction()

# need_toolkit(): skips the case without /usr/local/cuda; else toolkit_RELEASE.
macro(need_toolkit)
  set(toolkit_RELEASE "")
  if(EXISTS "/usr/local/cuda/bin/nvcc")
    execute_process(COMMAND /usr/local/cuda/bin/nvcc --version OUTPUT_VARIABLE about)
    if(about MATCHES "release ([0-9]+\\.[0-9]+)")
      set(toolkit_RELEASE "${CMAKE_MATCH_1}")
    endif()
  endif()
  if(toolkit_RELEASE STREQUAL "")
    case_skip("no toolkit in /usr/local/cuda")
  endif()
endmacro()

# need_cuda_torch(): skips the case for a torch without CUDA.
macro(need_cuda_torch)
  if(torch_CUDA STREQUAL "none")
    case_skip("${torch_VERSION} is built without CUDA")
  endif()
endmacro()

# can_run(<out>): whether this torch can be imported (an installation without its dependencies can't).
function(can_run out)
  execute_process(COMMAND "${case_TORCH}" -c "import torch" RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
  set(${out} FALSE PARENT_SCOPE)
  if(result EQUAL 0)
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()
