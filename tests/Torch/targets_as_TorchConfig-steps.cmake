# Our targets say what torch's own CMake files say: headers, definitions, C++ standard, libraries. Those files stop at
# a toolkit of another major, so they are asked without the part that looks for one.
if("${case_TORCH}" STREQUAL "")
  case_skip("no torch to compare with")
endif()
file(
  WRITE "${case_DIR}/say.cmake"
  [==[
function(say key)
  set(items "${ARGN}")
  list(REMOVE_DUPLICATES items)
  list(SORT items)
  file(APPEND "${OUT}" "${key}=${items}\n")
endfunction()
]==]
)
set(head "cmake_minimum_required(VERSION 3.25)\nproject(compare LANGUAGES CXX)\ninclude(\"${case_DIR}/say.cmake\")\n")
file(
  WRITE "${case_DIR}/ours/CMakeLists.txt"
  "${head}set(OUT \"${case_DIR}/ours.txt\")\n"
  [==[
find_package(CudaOps REQUIRED)
find_package(CudaTorchMatch REQUIRED)
get_target_property(includes CudaOps::torch INTERFACE_INCLUDE_DIRECTORIES)
say(includes ${includes})
get_target_property(definitions CudaOps::torch INTERFACE_COMPILE_DEFINITIONS)
say(definitions ${definitions})
get_target_property(features CudaOps::torch INTERFACE_COMPILE_FEATURES)
string(REGEX MATCH "cxx_std_([0-9]+)" ignored "${features}")
say(standard ${CMAKE_MATCH_1})
get_target_property(libraries CudaOps::torch INTERFACE_LINK_LIBRARIES)
set(files "")
foreach(library IN LISTS libraries)
  get_target_property(location ${library} IMPORTED_LOCATION)
  list(APPEND files "${location}")
endforeach()
say(libraries ${files})
]==]
)
file(
  WRITE "${case_DIR}/theirs/CMakeLists.txt"
  "${head}set(OUT \"${case_DIR}/theirs.txt\")\n"
  [==[
# TorchConfig.cmake reads Caffe2Config.cmake, which stops without a toolkit of torch's major: CUDA's part is left out.
macro(find_package name)
  if("${name}" STREQUAL "Caffe2")
    foreach(target IN ITEMS torch::cudart torch::nvtoolsext protobuf::libprotobuf caffe2::mkl torch::nvtx3)
      add_library(${target} INTERFACE IMPORTED)
    endforeach()
    include("${Torch_DIR}/../Caffe2/Caffe2Targets.cmake")
    set(Caffe2_FOUND TRUE)
  else()
    _find_package(${name} ${ARGN})
  endif()
endmacro()
find_package(Torch REQUIRED)
set(definitions "")
foreach(target IN ITEMS torch_cpu torch_cuda)
  get_target_property(more ${target} INTERFACE_COMPILE_DEFINITIONS)
  list(APPEND definitions ${more})
endforeach()
say(includes ${TORCH_INCLUDE_DIRS})
say(definitions ${definitions})
get_target_property(features torch INTERFACE_COMPILE_FEATURES)
get_target_property(standard torch CXX_STANDARD)
if(features MATCHES "cxx_std_([0-9]+)")
  set(standard ${CMAKE_MATCH_1})
endif()
say(standard ${standard})
set(files "")
foreach(target IN ITEMS c10 torch_cpu c10_cuda torch_cuda)
  get_target_property(location ${target} IMPORTED_LOCATION_RELEASE)
  list(APPEND files "${location}")
endforeach()
say(libraries ${files})
]==]
)
case_step(
  ours
  COMMAND
    "${case_CMAKE}" -S "${case_DIR}/ours" -B "${case_DIR}/ours/b" -G "${case_GENERATOR}" "-DCudaOps_ROOT=${case_REPO}"
    "-DPython_EXECUTABLE=${case_TORCH}" -DCMAKE_CUDA_ARCHITECTURES=90 "-DCUDAOPS_COMPATIBLE_VERSIONS=13.0:12.8"
)
execute_process(COMMAND "${case_TORCH}" "${case_REPO}/python/cudaops/torch_facts.py" OUTPUT_VARIABLE facts)
string(REGEX MATCH "\ntorch=([^\n]+)" ignored "${facts}")
case_step(
  theirs
  COMMAND
    # It warns of kineto, which no wheel holds.
    "${case_CMAKE}" --log-level=ERROR -S "${case_DIR}/theirs" -B "${case_DIR}/theirs/b" -G "${case_GENERATOR}"
    "-DTorch_DIR=${CMAKE_MATCH_1}/share/cmake/Torch"
)
file(READ "${case_DIR}/ours.txt" ours)
file(READ "${case_DIR}/theirs.txt" theirs)
case_equal("what CudaOps::torch says" "${ours}" "${theirs}")
