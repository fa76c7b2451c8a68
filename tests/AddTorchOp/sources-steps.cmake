# Sources that are there later, lie elsewhere, or have odd names; what a library is made of.
machine(CUDA)
file(WRITE "${case_DIR}/src/with blank.cpp" "int with_blank() { return 1; }\n")
file(WRITE "${case_DIR}/src/a[1].cpp" "int with_brackets() { return 1; }\n")
file(WRITE "${case_DIR}/src/UPPER.CPP.cpp" "int upper() { return 1; }\n")
file(
  WRITE "${case_DIR}/src/sub/CMakeLists.txt"
  "add_torch_op(sub_op SOURCES ../op.cpp deep/x.cpp CUDA_SOURCES ../op.cu)\n"
)
file(WRITE "${case_DIR}/src/sub/deep/x.cpp" "int deep() { return 1; }\n")
file(WRITE "${case_DIR}/src/op.hip" "#error not for CUDA\n")
configure(
  [==[
add_custom_command(
  OUTPUT made.cpp made.cu "${CMAKE_CURRENT_BINARY_DIR}/far/made.h"
  COMMAND "${CMAKE_COMMAND}" -E make_directory far
  COMMAND "${CMAKE_COMMAND}" -E touch made.cpp made.cu far/made.h
)
add_torch_op(
  generated
  SOURCES made.cpp "${CMAKE_CURRENT_BINARY_DIR}/far/made.h"
  CUDA_SOURCES "${CMAKE_CURRENT_BINARY_DIR}/made.cu"
)
set_source_files_properties(told.cpp PROPERTIES GENERATED TRUE)
add_custom_command(OUTPUT told.cpp COMMAND "${CMAKE_COMMAND}" -E touch told.cpp)
add_torch_op(told SOURCES told.cpp)
add_torch_op(
  odd
  SOURCES
    "with blank.cpp"
    "${CMAKE_CURRENT_SOURCE_DIR}/a[1].cpp"
    ./UPPER.CPP.cpp
    $<$<BOOL:1>:op.cpp>
    "$<$<BOOL:0>:none.cpp>"
    op.h
  CUDA_SOURCES op.cu "$<1:more.cu>" op.hip
)
add_torch_op(twice SOURCES op.cpp op.cpp SOURCES op_cuda.cpp CUDA_SOURCES op.cu CUDA_SOURCES more.cu)
add_torch_op(hip_only SOURCES op.cpp op.hip)
add_torch_op(hip_alone CUDA_SOURCES op.hip)
add_torch_op(off SOURCES op.cpp)
target_sources(off PRIVATE more.cu)
add_subdirectory(sub)
]==]
)
expect_target(generated state BUILT architectures 80-real,80-virtual)
expect_target(odd state BUILT)
expect_target(twice state BUILT)
expect_target(hip_only state CPU_ONLY reason_code NO_HIP_COMPILER)
expect_target(hip_alone state NOT_BUILT reason_code NO_HIP_COMPILER)
expect_target(sub_op state BUILT library "${case_BUILD_DIR}/sub/libsub_op.so")
case_build(ARGS --verbose)
foreach(
  op
  IN
  ITEMS generated told odd twice hip_only off sub/sub_op
)
  string(REGEX REPLACE "([^/]+)$" "lib\\1.so" file "${op}")
  if(NOT EXISTS "${case_BUILD_DIR}/${file}")
    case_fail("no ${file}")
  endif()
endforeach()
case_step(symbols COMMAND nm -D "${case_BUILD_DIR}/libodd.so")
expect_stdout("with_blank" "with_brackets" "upper")
