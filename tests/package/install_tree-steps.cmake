# cmake --install, then find_package.
install_package("${case_DIR}/prefix")
consumer(ARGS "-DCMAKE_PREFIX_PATH=${case_DIR}/prefix")
expect_consumer("^${case_DIR}/prefix/share/cmake/CudaOps$")
# The image is the files of cmake/, the Python package and the kernels without their bindings to torch, and nothing in it
# knows where it was built.
file(GLOB_RECURSE installed RELATIVE "${case_DIR}/prefix/share/cmake/CudaOps" "${case_DIR}/prefix/*")
file(GLOB_RECURSE sources RELATIVE "${case_REPO}/cmake" "${case_REPO}/cmake/*")
file(
  GLOB_RECURSE package
  RELATIVE "${case_REPO}"
  "${case_REPO}/python/cudaops/*.py"
  "${case_REPO}/python/cudaops/kernels/occupancy.cpp"
  "${case_REPO}/python/cudaops/templates/*"
)
list(REMOVE_DUPLICATES package)
list(APPEND sources ${package})
file(
  GLOB kernels
  RELATIVE "${case_REPO}"
  "${case_REPO}/kernels/*/*.h"
  "${case_REPO}/kernels/*/*.cuh"
  "${case_REPO}/kernels/*/*/*.h"
  "${case_REPO}/kernels/*/*/*.cuh"
  "${case_REPO}/kernels/*/*.cu"
  "${case_REPO}/kernels/*/*.cpp"
)
list(FILTER kernels EXCLUDE REGEX "torch|^kernels/build")
list(APPEND sources ${kernels} kernels/ops.cmake)
list(FILTER sources EXCLUDE REGEX "__pycache__|\\.pyc$")
list(FILTER installed EXCLUDE REGEX "__pycache__|\\.pyc$")
list(REMOVE_ITEM installed LICENSE)
list(SORT installed)
list(SORT sources)
case_equal("installed files" "${installed}" "${sources}")
file(GLOB_RECURSE files "${case_DIR}/prefix/*")
foreach(file IN LISTS files)
  file(READ "${file}" text)
  case_not_match("a path of this machine in ${file}" "${text}" "<case>|<tree>|<repo>")
endforeach()
# What is installed is whole: each file's own headers are there.
foreach(file IN LISTS kernels)
  cmake_path(GET file PARENT_PATH folder)
  file(STRINGS "${case_DIR}/prefix/share/cmake/CudaOps/${file}" lines REGEX "^#include \"")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" header "${line}")
    if(NOT EXISTS "${case_DIR}/prefix/share/cmake/CudaOps/${folder}/${header}")
      case_fail("${file} includes what isn't installed" "${header}")
    endif()
  endforeach()
endforeach()
