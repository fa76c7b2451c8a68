# A STABLE op with real tools: exactly the archs asked for, half arithmetic, Thrust in a .cpp, C++17 in a project that
# says 14, loaded and run in every torch from 2.10 on, installed, moved, no path of the build left in it.
real_machine()
if(NOT real_TORCH)
  return()
endif()
case_use_compiler_cache()
configure(
  [==[
set(CMAKE_CXX_STANDARD 14)
add_torch_op(real_op SOURCES op.cpp CUDA_SOURCES op_cuda.cpp op.cu INSTALL lib)
target_compile_definitions(real_op PRIVATE EXPECTED_STANDARD=201703L)
file(WRITE plain.cpp "static_assert(__cplusplus < 201500L, \"the project keeps its standard\");\n")
add_library(plain OBJECT plain.cpp)
]==]
  ARGS "-DCMAKE_CUDA_ARCHITECTURES=90" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_INSTALL_PREFIX=${case_DIR}/prefix"
)
expect_target(real_op state BUILT abi STABLE torch_target 2.10 architectures 90-real,90-virtual)
case_build(ARGS --verbose)
archs_on_compile_lines(archs)
case_equal("archs on the compile lines" "${archs}" "compute_90;sm_90")
refuse_stdout("-std=(c|gnu)\\+\\+20")
case_ctest()
expect_stdout("real_op\\.architectures \\.* +Passed")
foreach(torch IN LISTS real_TORCHES)
  case_step(
    "load in ${torch}"
    COMMAND
      "${torch}" -c
      "import torch; torch.ops.load_library('${case_BUILD_DIR}/libreal_op.so'); t = torch.arange(5.); assert torch.ops.real_op.twice(t).equal(2 * t); assert torch._C._dispatch_has_kernel_for_dispatch_key('real_op::twice', 'CUDA')"
  )
endforeach()

case_step(install COMMAND "${case_CMAKE}" --install "${case_BUILD_DIR}")
if(EXISTS "${case_DIR}/prefix")
  file(RENAME "${case_DIR}/prefix" "${case_DIR}/moved")
endif()
file(REMOVE "${case_BUILD_DIR}/libreal_op.so")
case_step(dynamic COMMAND readelf -d "${case_DIR}/moved/lib/libreal_op.so")
refuse_stdout("RUNPATH|RPATH" "libcudart" "NEEDED.*libtorch\\.so")
expect_stdout("NEEDED.*libtorch_cpu\\.so" "NEEDED.*libtorch_cuda\\.so")
foreach(place IN ITEMS "${case_DIR}" "${case_REPO}" site-packages)
  case_step("no ${place} in it" RESULT 1 COMMAND grep -c "${place}" "${case_DIR}/moved/lib/libreal_op.so")
endforeach()
case_step(
  load-moved
  COMMAND
    "${real_TORCH}" -c
    "import torch; torch.ops.load_library('${case_DIR}/moved/lib/libreal_op.so'); t = torch.arange(5.); assert torch.ops.real_op.twice(t).equal(2 * t)"
)
