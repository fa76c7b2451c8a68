# Kernels of every kind, an op, a source of a subdirectory and one that is made by a command: the same code as compiled
# together, by Ninja and by Makefiles; nothing to do afterwards; a header that one architecture includes compiles only
# that one again.
real_machine()
if(NOT real_TORCH)
  return()
endif()
file(COPY "${case_SUITE}/common/" DESTINATION "${case_DIR}/src")
file(WRITE "${case_DIR}/src/sub dir/seven.h" "#define SEVEN 7\n")
file(
  WRITE "${case_DIR}/src/sub dir/seven.cu"
  "#include <seven.h>\nstatic __global__ void seven(int* p) { *p = SEVEN * TIMES; }\nint use_seven(int* p) { seven<<<1, 1>>>(p); return 0; }\n"
)
file(
  WRITE "${case_DIR}/src/sub dir/CMakeLists.txt"
  [==[
cudaops_add_kernels(sub ${CUBINS} SOURCES seven.cu)
target_include_directories(sub SYSTEM PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
set_source_files_properties(seven.cu PROPERTIES COMPILE_DEFINITIONS "TIMES=2;MORE=\"a b\"")
add_custom_command(
  OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/made.cu"
  COMMAND "${CMAKE_COMMAND}" -E copy "${CMAKE_CURRENT_SOURCE_DIR}/made.in" "${CMAKE_CURRENT_BINARY_DIR}/made.cu"
  DEPENDS made.in
)
target_sources(sub PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/made.cu")
]==]
)
file(
  WRITE "${case_DIR}/src/sub dir/made.in"
  "__global__ void made(int* p) { *p = 1; }\nint use(int* p) { made<<<1, 1>>>(p); return 0; }\n"
)
set(
  code
  [==[
if(WITH_OP)
  add_torch_op(op SOURCES op.cpp CUDA_SOURCES op_cuda.cpp op.cu ${CUBINS})
endif()
cudaops_add_kernels(kinds SHARED ${CUBINS} SOURCES kinds.cu)
target_compile_definitions(kinds PRIVATE "TEXT=\"two words\"" "$<$<COMPILE_LANGUAGE:CUDA>:FOR_CUDA>")
add_subdirectory("sub dir")
cudaops_add_kernels(both SHARED SOURCES calls.cpp)
target_link_libraries(both PRIVATE sub)
# Said later than anything else.
target_compile_options(kinds PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda;--use_fast_math>")
]==]
)
file(
  WRITE "${case_DIR}/src/calls.cpp"
  "int use(int*);\nint use_seven(int*);\nint call() { return use(nullptr) + use_seven(nullptr); }\n"
)
set(archs "-DTORCH_CUDA_ARCH_LIST=8.0 9.0a+PTX")
set(case_GENERATOR Ninja)
two_projects("${code}" ARGS "${archs}" -DWITH_OP=ON -DCUDAOPS_CACHE=OFF)
refuse_stdout("compiled together")
foreach(kind IN ITEMS apart together)
  case_build(BUILD_DIR "${case_DIR}/${kind}" ARGS --parallel 2)
endforeach()
expect_equal_code("Ninja" libop.so libkinds.so libboth.so)
case_ctest(BUILD_DIR "${case_DIR}/apart")
expect_stdout("op\\.architectures \\.+ +Passed")

# Makefiles find nothing to do after Makefiles, in the directory with a blank too.
set(case_GENERATOR "Unix Makefiles")
set(with_make "${case_DIR}/with_make")
case_configure(BUILD_DIR "${with_make}" ARGS -DCUBINS=CUDA_CUBINS "${archs}" -DCUDAOPS_CACHE=OFF -DCMAKE_BUILD_TYPE=Release)
case_build(BUILD_DIR "${with_make}" ARGS --parallel 2)
case_build(BUILD_DIR "${with_make}")
refuse_stdout("Building CUDA")

# Seen by 90a alone.
file(WRITE "${case_DIR}/src/new.h" "#define NEW_VALUE 20\n")
foreach(tree IN ITEMS with_make apart together)
  case_build(BUILD_DIR "${case_DIR}/${tree}" ARGS --parallel 2)
  if(NOT tree STREQUAL "together")
    expect_stdout("kinds_[0-9a-f]+\\.compute_90a\\.cu" "kinds_[0-9a-f]+\\.cu\\.o")
    refuse_stdout("compute_80\\.cu" "op_[0-9a-f]+\\.")
  endif()
endforeach()
expect_equal_code("a header of 90a" libkinds.so)
file(REMOVE_RECURSE "${case_DIR}/together")
file(RENAME "${with_make}" "${case_DIR}/together")
expect_equal_code("Makefiles" libkinds.so)
