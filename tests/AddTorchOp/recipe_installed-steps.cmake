# A recipe is installed where the op is NOT_BUILT, too; what it can't carry ends the installation with a sentence.
machine(VERSION 2.13.0 CUDA 13.0 NO_WHEELS)
file(WRITE "${case_DIR}/src/include/my_ops.h" "\n")
file(WRITE "${case_DIR}/src/more.cpp" "\n")
file(WRITE "${case_DIR}/src/device.cu" "#include <my_ops.h>\n")
configure(
  [==[
add_torch_op(both SOURCES more.cpp op.cpp CUDA_SOURCES op.cpp op.cu INSTALL both RECIPE)
add_torch_op(device CUDA_SOURCES device.cu INSTALL lib ARCHITECTURES 80 90a RECIPE)
target_include_directories(device PRIVATE $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)
target_compile_options(device PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:--use_fast_math;-lineinfo>" -O2)
target_compile_definitions(device PRIVATE A=1 B)
target_link_libraries(device PRIVATE CudaOps::openmp -lm)
]==]
)
expect_target(device state NOT_BUILT reason_code NO_TOOLKIT)
case_build()
case_step(install COMMAND "${case_CMAKE}" --install "${case_BUILD_DIR}" --prefix "${case_DIR}/prefix")
file(GLOB_RECURSE files RELATIVE "${case_DIR}/prefix" "${case_DIR}/prefix/*")
case_equal(
  "installed files"
  "${files}"
  "both/both.recipe.json;both/both.recipe/source/more.cpp;both/both.recipe/source/op.cpp;both/both.recipe/source/op.cu;both/libboth.so;lib/device.recipe.json;lib/device.recipe/source/device.cu;lib/device.recipe/source/include/my_ops.h"
)
file(READ "${case_DIR}/prefix/lib/device.recipe.json" recipe)
foreach(
  pair
  IN
  ITEMS
    "architectures 1=90a"
    "cuda_sources 0=source/device.cu"
    "include_directories 0=source/include"
    "compile_options 0=$<$<COMPILE_LANGUAGE:CUDA>:--use_fast_math"
    "compile_definitions 1=B"
    "link_libraries 0=CudaOps::openmp"
    "abi=STABLE"
)
  string(REGEX MATCH "^([a-z_]+) ?([0-9]?)=(.*)$" pair "${pair}")
  set(expected "${CMAKE_MATCH_3}")
  string(JSON value GET "${recipe}" ${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
  case_equal("${pair}" "${value}" "${expected}")
endforeach()
# A file in both lists of sources stays in both.
file(READ "${case_DIR}/prefix/both/both.recipe.json" recipe)
foreach(
  pair
  IN
  ITEMS
    "sources 0=source/more.cpp"
    "sources 1=source/op.cpp"
    "cuda_sources 0=source/op.cpp"
    "cuda_sources 1=source/op.cu"
)
  string(REGEX MATCH "^([a-z_]+) ([0-9])=(.*)$" pair "${pair}")
  set(expected "${CMAKE_MATCH_3}")
  string(JSON value ERROR_VARIABLE ignored GET "${recipe}" ${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
  case_equal("${pair}" "${value}" "${expected}")
endforeach()
