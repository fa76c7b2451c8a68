# A FULL op beside a project's own find_package(Torch), before and after ours: variables and flags are what the user
# gave, the op's compile lines have the one arch, C++ is torch's standard in a project that says 14, .cu files included.
real_machine()
if(NOT real_TORCH)
  return()
endif()
case_use_compiler_cache()
if(NOT EXISTS "${real_TOOLKIT}/lib64/libcudart.so" OR NOT EXISTS "${real_TOOLKIT}/lib64/libnvrtc.so")
  case_skip("torch's own CMake files want a toolkit with libcudart.so and libnvrtc.so")
  return()
endif()
set(standard 201703L)
if(real_TORCH_VERSION VERSION_GREATER_EQUAL 2.14)
  set(standard 202002L)
endif()
set(
  body
  [==[
set(CMAKE_CXX_STANDARD 14)
add_torch_op(full_op ABI FULL SOURCES full.cpp CUDA_SOURCES op.cu)
target_compile_definitions(full_op PRIVATE EXPECTED_STANDARD=@standard@)
file(WRITE plain.cpp "static_assert(__cplusplus < 201500L, \"the project keeps its standard\");\n")
add_library(plain OBJECT plain.cpp rdc_b.cu)
# Torch's own targets carry flags of the host compiler.
set_property(TARGET torch APPEND PROPERTY INTERFACE_COMPILE_OPTIONS -Wall -fopenmp)
file(WRITE after.txt "${CMAKE_CUDA_ARCHITECTURES}|${first}|${CMAKE_CXX_STANDARD}\n")
]==]
)
string(CONFIGURE "${body}" body @ONLY)
execute_process(
  COMMAND "${real_TORCH}" -c "import torch.utils as t; print(t.cmake_prefix_path, end='')"
  OUTPUT_VARIABLE prefix
)
set(find "list(APPEND CMAKE_PREFIX_PATH [==[${prefix}]==])\nfind_package(Torch REQUIRED)\n")
case_environment("CUDA_HOME=${real_TOOLKIT}")
foreach(order IN ITEMS before after)
  if(order STREQUAL "before")
    # It wants CUDA to be on for its C++20.
    configure(
      "set(first \"\${CMAKE_CUDA_ARCHITECTURES}\")\n${body}"
      LANGUAGES "CXX CUDA"
      BEFORE "${find}"
      ARGS -DCMAKE_CUDA_ARCHITECTURES=90 -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CUDA_COMPILER=${real_TOOLKIT}/bin/nvcc"
    )
  else()
    configure(
      "set(first \"\${CMAKE_CUDA_ARCHITECTURES}\")\n${find}find_package(CudaTorchMatch REQUIRED)\n${body}"
      ARGS -DCMAKE_CUDA_ARCHITECTURES=90 -DCMAKE_BUILD_TYPE=Release
    )
  endif()
  case_not_match("what we say" "${case_STEP_STDERR}" "message\\.cmake|add_torch_op|find_package\\(Cuda")
  # Torch's own files warn of many things.
  if(NOT case_STEP_STDERR MATCHES "CMake Error")
    set_property(GLOBAL PROPERTY case_STDERR "")
  endif()
  expect_target(full_op state BUILT abi FULL torch_target "" architectures 90-real,90-virtual)
  if(EXISTS "${case_DIR}/src/after.txt")
    file(READ "${case_DIR}/src/after.txt" after)
    case_equal("variables, Torch ${order}" "${after}" "90|90|14\n")
  endif()
  case_build(ARGS --verbose)
  archs_on_compile_lines(archs)
  case_equal("archs on the compile lines" "${archs}" "compute_90;sm_90")
  case_step(
    load
    COMMAND
      "${real_TORCH}" -c
      "import torch; torch.ops.load_library('${case_BUILD_DIR}/libfull_op.so'); t = torch.arange(5.); assert torch.ops.full_op.twice(t).equal(2 * t)"
  )
  file(REMOVE_RECURSE "${case_BUILD_DIR}")
endforeach()
