# Kernels of each kind in an install tree, and exported from the build tree: their export says nothing of CudaOps, and a
# project that has no CudaOps links and runs them.
foreach(machine IN ITEMS CUDA CPU)
  file(REMOVE_RECURSE "${case_BUILD_DIR}" "${case_DIR}/venv" "${case_DIR}/prefix")
  machine(${machine})
  file(
    WRITE "${case_DIR}/src/op.cpp"
    "#include <op.h>\n#if !__has_include(<cudaops/check.h>)\n#error\n#endif\nint NAME() { return 1; }\n"
  )
  file(WRITE "${case_DIR}/src/include/op.h" "#pragma once\nint NAME();\n")
  configure(
    [==[
foreach(kind IN ITEMS OBJECT STATIC SHARED)
  cudaops_add_kernels(${kind}_kernels ${kind} SOURCES op.cpp op.cu DEFINE HAVE_CUDA)
  target_compile_definitions(${kind}_kernels PRIVATE NAME=${kind}_op)
  target_include_directories(
    ${kind}_kernels PUBLIC "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:include>"
  )
endforeach()
install(FILES include/op.h DESTINATION include)
install(
  TARGETS OBJECT_kernels STATIC_kernels SHARED_kernels
  EXPORT kernels
  OBJECTS DESTINATION objects
  ARCHIVE DESTINATION lib
  LIBRARY DESTINATION lib
)
install(EXPORT kernels NAMESPACE my:: FILE kernels-config.cmake DESTINATION lib/cmake/kernels)
export(EXPORT kernels NAMESPACE my:: FILE "${CMAKE_CURRENT_BINARY_DIR}/exported/kernels-config.cmake")
]==]
    ARGS "-DCMAKE_INSTALL_PREFIX=${case_DIR}/prefix"
  )
  case_build()
  case_step(install COMMAND "${case_CMAKE}" --install "${case_BUILD_DIR}")
  file(GLOB files "${case_DIR}/prefix/lib/cmake/kernels/*.cmake" "${case_BUILD_DIR}/exported/*.cmake")
  list(LENGTH files count)
  case_equal("files of the export" "${count}" "3")
  foreach(file IN LISTS files)
    file(READ "${file}" text)
    case_not_match("${file}" "${text}" "CudaOps::|cudaops/|check\\.h")
  endforeach()
endforeach()

# The last one is without CUDA: nothing but C++ is needed. The tree is moved, and what it was made of is gone.
if(EXISTS "${case_DIR}/prefix")
  file(RENAME "${case_DIR}/prefix" "${case_DIR}/moved")
endif()
file(RENAME "${case_DIR}/src/op.cpp" "${case_DIR}/src/gone.cpp")
file(
  WRITE "${case_DIR}/consumer/CMakeLists.txt"
  [==[
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
find_package(kernels REQUIRED)
foreach(kind IN ITEMS OBJECT STATIC SHARED)
  add_executable(${kind} main.cpp)
  target_compile_definitions(${kind} PRIVATE NAME=${kind}_op)
  target_link_libraries(${kind} PRIVATE my::${kind}_kernels)
  add_custom_command(TARGET ${kind} POST_BUILD COMMAND ${kind})
endforeach()
]==]
)
file(WRITE "${case_DIR}/consumer/main.cpp" "#include <op.h>\nint main() { return NAME() - 1; }\n")
foreach(place IN ITEMS "${case_DIR}/moved/lib/cmake/kernels" "${case_BUILD_DIR}/exported")
  file(REMOVE_RECURSE "${case_DIR}/consumer/build")
  case_step(
    consumer
    COMMAND
      "${case_CMAKE}" -S "${case_DIR}/consumer" -B "${case_DIR}/consumer/build" -G "${case_GENERATOR}"
      "-Dkernels_DIR=${place}"
  )
  case_step("build the consumer" COMMAND "${case_CMAKE}" --build "${case_DIR}/consumer/build")
endforeach()
