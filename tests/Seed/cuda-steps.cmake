# CUDA, with a stand-in for nvcc: its inputs, its parts, its host compiler.
seed_toolkit("${case_DIR}/cuda" 13.0)
case_environment("CUDACXX=${case_DIR}/cuda/bin/nvcc")
seed_project("${case_DIR}/src" CXX CUDA BODY "add_library(three SHARED one.cpp three.cu)")
seed_configure("empty store" EXPECT CXX=KEPT CUDA=KEPT)
expect_seeds(2)
seed_configure("again" EXPECT CXX=USED CUDA=USED)
expect_cached(CMAKE_CUDA_COMPILER "${case_DIR}/cuda/bin/nvcc")
case_build()

foreach(
  pair
  IN
  ITEMS
    CUDAFLAGS=-lineinfo
    CUDAARCHS=80
    CUDAHOSTCXX=${case_CXX}
    NVCC_APPEND_FLAGS=-lineinfo
    NVCC_PREPEND_FLAGS=-lineinfo
    NVCC_CCBIN=${case_CXX}
    CUDA_VISIBLE_DEVICES=0
)
  string(REGEX REPLACE "=.*" "" name "${pair}")
  case_environment("${pair}")
  seed_configure("${pair}" EXPECT CUDA=KEPT)
  seed_configure("${pair} again" EXPECT CXX=USED CUDA=USED)
  if(name STREQUAL "CUDAARCHS")
    expect_cached(CMAKE_CUDA_ARCHITECTURES 80)
  endif()
  case_environment(UNSET ${name})
endforeach()
foreach(
  argument
  IN
  ITEMS
    -DCMAKE_CUDA_FLAGS=-lineinfo
    -DCMAKE_CUDA_ARCHITECTURES=90
    -DCMAKE_CUDA_HOST_COMPILER=${case_CXX}
    -DCMAKE_CUDA_STANDARD=17
)
  seed_configure("${argument}" EXPECT CXX=USED CUDA=KEPT ARGS ${argument})
endforeach()
seed_configure("archs again" EXPECT CXX=USED CUDA=USED ARGS -DCMAKE_CUDA_ARCHITECTURES=90)
expect_cached(CMAKE_CUDA_ARCHITECTURES 90)
seed_configure("none of them" EXPECT CXX=USED CUDA=USED)
# What C++ is told is nothing to CUDA.
seed_configure("C++ flags" EXPECT CXX=KEPT CUDA=USED ARGS -DCMAKE_CXX_FLAGS=-m64)
# CMake looks at the GPUs for this word. No target, because none can be built for it without one.
seed_project("${case_DIR}/native" CXX CUDA)
seed_configure(
  "native"
  EXPECT CXX=USED CUDA=DETECTED
  SAYS "GPUs are detected with it"
  PROJECT "${case_DIR}/native"
  ARGS -DCMAKE_CUDA_ARCHITECTURES=native
)

# A part that is exchanged under an unchanged nvcc.
foreach(part IN ITEMS bin/ptxas nvvm/bin/cicc include/crt/host_config.h include/cuda_runtime.h)
  file(APPEND "${case_DIR}/cuda/${part}" "\n")
  seed_configure("${part}" EXPECT CXX=USED CUDA=KEPT SAYS "CUDA is detected: a part of .* has changed")
  seed_configure("${part}, again" EXPECT CXX=USED CUDA=USED)
endforeach()
file(REMOVE "${case_DIR}/cuda/bin/cudafe++")
seed_configure("a part that is gone" EXPECT CXX=USED CUDA=KEPT SAYS "cudafe[+][+] is gone")
# Another gcc on PATH is another host compiler.
counting_compiler("${case_DIR}/early/g++" "${case_CXX}")
case_path("${case_DIR}/early")
seed_configure("another g++ on PATH" EXPECT CUDA=KEPT)

# Another release at the same place.
file(REMOVE_RECURSE "${case_DIR}/cuda")
seed_toolkit("${case_DIR}/cuda" 13.2)
seed_configure("another release" EXPECT CUDA=KEPT)
file(GLOB record "${case_DIR}/build/CMakeFiles/*/CMakeCUDACompiler.cmake")
file(STRINGS "${record}" line REGEX "CMAKE_CUDA_COMPILER_VERSION " ENCODING UTF-8)
case_match("the version" "${line}" "\"13[.]2[.]")
