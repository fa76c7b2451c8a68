# The driver's libraries are looked for where find_library() would: in the places that CMake's variables and those of the
# environment name as well.
machine(CUDA)
foreach(file IN ITEMS libraries/libcuda.so prefix/lib/libnvidia-ml.so)
  file(WRITE "${case_DIR}/${file}" "")
endforeach()
case_environment(
  "CMAKE_LIBRARY_PATH=${case_DIR}/none:${case_DIR}/libraries"
  "CMAKE_PREFIX_PATH=${case_DIR}/none:${case_DIR}/prefix"
)
set(
  code
  [==[
foreach(target IN ITEMS cuda_driver nvml)
  set(location "")
  if(TARGET CudaOps::${target})
    get_target_property(location CudaOps::${target} IMPORTED_LOCATION)
  endif()
  message(STATUS "${target}: ${location}")
endforeach()
]==]
)
configure("${code}")
expect_stdout("cuda_driver: [^\n]*/libraries/libcuda\\.so" "nvml: [^\n]*/libnvidia-ml\\.so")
case_environment(UNSET CMAKE_LIBRARY_PATH CMAKE_PREFIX_PATH)
configure("${code}" ARGS "-DCMAKE_LIBRARY_PATH=${case_DIR}/libraries")
expect_stdout("cuda_driver: [^\n]*/libraries/libcuda\\.so")

# In a container the driver's files have no other name than their SONAME.
file(RENAME "${case_DIR}/libraries/libcuda.so" "${case_DIR}/libraries/libcuda.so.1")
file(REMOVE "${case_DIR}/cuda/lib64/stubs/libcuda.so")
configure("${code}" ARGS "-DCMAKE_LIBRARY_PATH=${case_DIR}/libraries")
expect_stdout("cuda_driver: [^\n]*/libraries/libcuda\\.so\\.1")
