# A fake ROCm is one that CMake itself takes for the real thing, in each layout, and its libraries hold code objects.
foreach(triple IN ITEMS 6.4|OPT|gfx90a 5.2|DEBIAN|gfx90a:xnack+ 7.0|CONDA|gfx942)
  string(REPLACE "|" ";" triple "${triple}")
  list(GET triple 0 version)
  list(GET triple 1 layout)
  list(GET triple 2 arch)
  set(dir "${case_DIR}/${layout}")
  fake_rocm("${dir}" VERSION ${version} LAYOUT ${layout})
  set(args "")
  if(layout STREQUAL "OPT")
    list(APPEND args "-DCMAKE_HIP_COMPILER=${dir}/llvm/bin/clang++")
  elseif(layout STREQUAL "CONDA")
    list(APPEND args "-DCMAKE_HIP_COMPILER=${dir}/bin/clang++")
    case_environment("HIP_DEVICE_LIB_PATH=${dir}/lib/amdgcn/bitcode" UNSET ROCM_PATH)
  else()
    # What distributions need: a root where CMake 3.25 finds hip-lang, and the places said to clang (here by the
    # environment: CMake 3.25 cuts flags at blanks).
    file(MAKE_DIRECTORY "${case_DIR}/root/lib/cmake")
    file(CREATE_LINK "${dir}/usr/lib/x86_64-linux-gnu/cmake/hip-lang" "${case_DIR}/root/lib/cmake/hip-lang" SYMBOLIC)
    case_environment("ROCM_PATH=${dir}/usr" "HIP_DEVICE_LIB_PATH=${dir}/usr/lib/x86_64-linux-gnu/amdgcn/bitcode")
    list(
      APPEND args
      "-DCMAKE_HIP_COMPILER=${dir}/usr/bin/clang++-15"
      "-DCMAKE_HIP_COMPILER_ROCM_ROOT=${case_DIR}/root"
      -DCMAKE_TRY_COMPILE_PLATFORM_VARIABLES=CMAKE_LIBRARY_ARCHITECTURE
    )
  endif()
  file(MAKE_DIRECTORY "${dir}-src")
  string(REPLACE "." "" digits "${version}")
  file(
    WRITE "${dir}-src/a.hip"
    "#include <hip/hip_runtime.h>
#if !defined(__HIP__) || HIP_VERSION_MAJOR * 10 + HIP_VERSION_MINOR != ${digits}
#error this is another HIP
#endif
__global__ void k(int* x) { x[threadIdx.x] = 1; }
"
  )
  file(
    WRITE "${dir}-src/CMakeLists.txt"
    "cmake_minimum_required(VERSION 3.25)
set(CMAKE_HIP_ARCHITECTURES gfx1030 ${arch})
project(fake LANGUAGES CXX HIP)
if(NOT CMAKE_HIP_COMPILER_ID STREQUAL Clang)
  message(FATAL_ERROR \"\${CMAKE_HIP_COMPILER_ID} \${CMAKE_HIP_COMPILER_VERSION}\")
endif()
add_library(a SHARED a.hip)
"
  )
  case_configure(SOURCE_DIR "${dir}-src" BUILD_DIR "${dir}-build" ARGS ${args})
  case_build(BUILD_DIR "${dir}-build")
  case_step(section COMMAND objcopy -O binary --only-section=.hip_fatbin "${dir}-build/liba.so" "${dir}-fatbin")
  file(STRINGS "${dir}-fatbin" entries REGEX "amdgcn-amd")
  string(REPLACE "+" "\\+" regex "${arch}")
  case_match("code objects (${layout})" "${entries}" "hipv4-amdgcn-amd-amdhsa--gfx1030.*hipv4-amdgcn-amd-amdhsa--${regex}")
endforeach()
