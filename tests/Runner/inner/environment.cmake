foreach(
  name
  CUDA_HOME
  CUDA_PATH
  CUDACXX
  TORCH_CUDA_ARCH_LIST
  CUDAOPS_VERSION_POLICY
  VIRTUAL_ENV
  CMAKE_PREFIX_PATH
)
  if(DEFINED ENV{${name}})
    message(FATAL_ERROR "${name} is $ENV{${name}}")
  endif()
endforeach()
if("$ENV{CXX}" STREQUAL "nothing")
  message(FATAL_ERROR "CXX is $ENV{CXX}")
endif()
if(NOT "$ENV{CUDAOPS_STORE}" STREQUAL "${case_DIR}/store")
  message(FATAL_ERROR "CUDAOPS_STORE is $ENV{CUDAOPS_STORE}")
endif()
foreach(program nvcc python3 ccache cmake)
  find_program(found ${program} NO_CACHE NO_CMAKE_SYSTEM_PATH NO_CMAKE_PATH NO_CMAKE_ENVIRONMENT_PATH)
  if(found)
    message(FATAL_ERROR "${program} is on PATH: ${found}")
  endif()
endforeach()
