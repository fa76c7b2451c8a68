# A device symbol across two .cu: in an op with CUDA_SEPARABLE_COMPILATION, in kernels that an op links, in SHARED
# kernels that ctypes loads. The shared runtime where it is asked for. A missing library fails at the link.
real_machine()
if(NOT real_TORCH)
  return()
endif()
case_use_compiler_cache()
configure(
  [==[
add_torch_op(one SOURCES op.cpp CUDA_SOURCES rdc_a.cu rdc_b.cu)
set_target_properties(one PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
foreach(kind IN ITEMS OBJECT STATIC SHARED)
  cudaops_add_kernels(${kind}_kernels ${kind} SOURCES rdc_a.cu rdc_b.cu)
  set_target_properties(${kind}_kernels PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
endforeach()
file(WRITE calls.cpp "extern \"C\" int launch_scale(float*);\nint call() { return launch_scale(nullptr); }\n")
add_torch_op(with_object CUDA_SOURCES calls.cpp)
target_link_libraries(with_object PRIVATE OBJECT_kernels)
add_torch_op(with_static CUDA_SOURCES calls.cpp)
target_link_libraries(with_static PRIVATE STATIC_kernels)
add_torch_op(shared_runtime CUDA_SOURCES op.cu)
set_target_properties(shared_runtime PROPERTIES CUDA_RUNTIME_LIBRARY Shared)
file(WRITE undefined.cpp "int nowhere();\nint call() { return nowhere(); }\n")
add_torch_op(undefined SOURCES undefined.cpp)
set_target_properties(undefined PROPERTIES EXCLUDE_FROM_ALL ON)
]==]
  ARGS -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_ARCHITECTURES=80-real,90-virtual
)
expect_stdout("add_torch_op\\(shared_runtime\\): linked to the shared CUDA runtime: it runs with a torch for CUDA [0-9]+ only")
foreach(name IN ITEMS one with_object with_static SHARED_kernels)
  expect_target(${name} state BUILT architectures 80-real,90-virtual)
endforeach()
case_build()
case_ctest()
expect_stdout("with_object\\.architectures \\.+ +Passed" "with_static\\.architectures \\.+ +Passed")
foreach(name IN ITEMS one with_object with_static)
  case_step(
    "load ${name}"
    COMMAND "${real_TORCH}" -c "import torch, ctypes; ctypes.CDLL('${case_BUILD_DIR}/lib${name}.so', mode=2).launch_scale"
  )
endforeach()
case_step(
  ctypes
  COMMAND
    "${real_TORCH}" -I -S -c
    "import ctypes; ctypes.CDLL('${case_BUILD_DIR}/libSHARED_kernels.so', mode=2).launch_scale"
)
foreach(name IN ITEMS shared_runtime SHARED_kernels)
  case_step(dynamic COMMAND readelf -d "${case_BUILD_DIR}/lib${name}.so")
  if(name STREQUAL "shared_runtime")
    expect_stdout("NEEDED.*libcudart\\.so")
  else()
    refuse_stdout("NEEDED.*libcudart" "NEEDED.*torch")
  endif()
endforeach()
case_build(RESULT 1 ARGS --target undefined)
expect_stdout("undefined reference to .nowhere\\(\\)'")
