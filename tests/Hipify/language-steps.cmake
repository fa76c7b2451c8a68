# An explicit LANGUAGE wins: on the source before the call or after it, on the translation after it. A project whose C++
# compiler is hipcc, without HIP as a language of CMake's, compiles translations as CXX.
hip_machine()
set(names before.cu after.cu translation.cu both.cu)
set(sources ${names} plain.cu said.cpp)
foreach(name IN LISTS sources)
  source(${name} "__global__ void k(int*) {}" "cudaError_t run() { return cudaGetLastError(); }")
endforeach()
list(JOIN sources " " sources)
configure(
  "set(sources ${sources})
set_source_files_properties(said.cpp PROPERTIES LANGUAGE CUDA)
set_source_files_properties(before.cu PROPERTIES LANGUAGE CXX)
set_source_files_properties(both.cu PROPERTIES LANGUAGE HIP)
hipify_sources(translated SOURCES \${sources})
add_library(translated OBJECT \${translated})
target_link_libraries(translated PRIVATE CudaOps::cuda_headers)
add_library(target OBJECT \${sources})
target_link_libraries(target PRIVATE CudaOps::cuda_headers)
cudaops_target_hipify(target)
set_source_files_properties(after.cu PROPERTIES LANGUAGE CXX)
foreach(name IN ITEMS translation.cu both.cu)
  foreach(target IN ITEMS translated target)
    set_source_files_properties(\"\${CMAKE_CURRENT_BINARY_DIR}/\${target}.hipified/\${name}\" PROPERTIES LANGUAGE CXX)
  endforeach()
endforeach()"
)
case_build()
foreach(target IN ITEMS translated target)
  foreach(name IN LISTS names)
    expect_stdout("Building CXX object [^\n]*/${target}\\.hipified/${name}\\.o")
  endforeach()
  foreach(name IN ITEMS plain.cu said.cpp)
    expect_stdout("Building HIP object [^\n]*/${target}\\.hipified/${name}\\.o")
  endforeach()
endforeach()

# Nothing but hipcc.
file(REMOVE_RECURSE "${case_BUILD_DIR}")
set(case_NO_SEED TRUE)
set(
  case_ARGS
  "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python"
  "-DCMAKE_CXX_COMPILER=${case_DIR}/rocm/bin/hipcc"
  -DCMAKE_CXX_FLAGS=--offload-arch=gfx90a
)
configure(
  [[
hipify_sources(t SOURCES plain.cu)
set_source_files_properties(${t} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-x;hip")
add_library(k SHARED ${t})
]]
  NO_MATCH
)
case_build()
expect_stdout("Building CXX object [^\n]*/plain\\.cu\\.o")
file(GLOB library "${case_BUILD_DIR}/libk.so")
set(code "")
if(library)
  file(STRINGS "${library}" code REGEX "amdgcn-amd-amdhsa--gfx90a")
endif()
if(NOT code)
  case_fail("libk.so holds no code for gfx90a")
endif()
