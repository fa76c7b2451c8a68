# The real nvcc: what it says it builds, and libraries whose fatbin is compared with what was asked for. 120f with
# CUDA_SEPARABLE_COMPILATION is the one that CMake 3.25 can't put into CMAKE_CUDA_ARCHITECTURES.
# (pytorch#113948, DeepSpeed#8619)
find_program(nvcc NAMES nvcc HINTS /usr/local/cuda/bin ENV CUDA_HOME PATH_SUFFIXES bin NO_CACHE)
set(release "")
if(nvcc)
  execute_process(COMMAND "${nvcc}" --version OUTPUT_VARIABLE release ERROR_QUIET)
endif()
if(NOT release MATCHES "release (1[3-9]|12\\.9)")
  case_skip("no nvcc of CUDA 12.9 or newer on this machine")
  return()
endif()

foreach(name IN ITEMS a b)
  file(
    WRITE "${case_DIR}/src/${name}.cu"
    "__global__ void kernel_${name}(float *x) { *x = 1; }\nvoid run_${name}() { kernel_${name}<<<1, 1>>>(nullptr); }\n"
  )
endforeach()
case_project(
  NO_SEED
  LANGUAGES CXX
  PRELUDE
    "include([==[${case_REPO}/cmake/CudaOpsArchitectures.cmake]==])"
  BODY
    [==[
cudaops_resolve_architectures(archs REQUEST 9.0a "12.0f" 8.0+PTX NVCC "${CMAKE_CUDA_COMPILER}")
set(CMAKE_CUDA_ARCHITECTURES OFF)
enable_language(CUDA)

add_library(plain SHARED a.cu b.cu)
cudaops_target_architectures(plain 75)
cudaops_target_architectures(plain ${archs})

add_library(device_link SHARED a.cu b.cu)
set_target_properties(device_link PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
cudaops_target_architectures(device_link 120f-real)

# The consumer's own target, from the variable.
_cudaops_arch_spell(CMAKE_CUDA_ARCHITECTURES 100f-real 90-real 90-virtual)
add_library(own SHARED a.cu)
]==]
)
case_configure(ARGS "-DCMAKE_CUDA_COMPILER=${nvcc}")
# Twice: CMake checks the variable only while it looks for the compiler.
case_configure()
case_build(ARGS --verbose)
string(REGEX MATCHALL "[^\n]*nvcc[^\n]* -x cu [^\n]*" lines "${case_STEP_STDOUT}")
set(compiles 0)
foreach(line IN LISTS lines)
  string(REGEX MATCHALL "arch=compute_[0-9a-z]+,code=[^ \"]*" codes "${line}")
  string(REGEX MATCHALL "--threads[= ][0-9]+" threads "${line}")
  if(line MATCHES "plain")
    math(EXPR compiles "${compiles} + 1")
    # A list in brackets is one word to CMake's lists, too.
    string(REPLACE ";" " " codes "${codes}")
    case_equal(
      "what nvcc is told"
      "${codes}"
      "arch=compute_90a,code=[sm_90a] arch=compute_120f,code=[sm_120f] arch=compute_80,code=[compute_80,sm_80]"
    )
    # As many as there are cores, of three.
    case_match("in parallel, said once" "${threads}" "^--threads=[23]$")
  else()
    case_not_match("one arch, or a target without our command" "${line}" "--threads|compute_75")
  endif()
endforeach()
case_equal("files of the first library" "${compiles}" 2)

foreach(expected "plain=compute_80,sm_80,sm_90a,sm_120f" "device_link=sm_120f" "own=compute_90,sm_90,sm_100f")
  string(REGEX MATCH "^(.*)=(.*)$" ignored "${expected}")
  set(name "${CMAKE_MATCH_1}")
  string(REPLACE "," ";" wanted "${CMAKE_MATCH_2}")
  case_step(
    inspect
    COMMAND "${case_PYTHON}" -B "${case_REPO}/python/cudaops/_run.py" inspect_library "${case_BUILD_DIR}/lib${name}.so" --archs
  )
  string(REGEX MATCHALL "[^, \n]+" found "${case_STEP_STDOUT}")
  list(SORT found)
  list(SORT wanted)
  case_equal("fatbin of ${name}" "${found}" "${wanted}")
endforeach()
