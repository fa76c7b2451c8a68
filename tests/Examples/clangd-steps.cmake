# An editor with clangd sees each example without an error, device code too: options of nvcc's and the C++ standard that
# g++ has without one are in each .clangd.
if(example_OTHER_CMAKE)
  case_skip("clangd sees the same whatever CMake has configured")
  return()
endif()
file(GLOB examples RELATIVE "${case_REPO}/examples" "${case_REPO}/examples/*/CMakeLists.txt")
foreach(project IN LISTS examples)
  cmake_path(GET project PARENT_PATH example)
  if(NOT EXISTS "${case_REPO}/examples/${example}/.clangd")
    case_fail("examples/${example} has no .clangd")
  endif()
endforeach()
find_program(clangd clangd NO_CACHE)
if(NOT clangd OR NOT example_CUDA)
  case_skip("no clangd, or no CUDA, on this machine")
  return()
endif()

# clean(<file>): no diagnostic. What else it tries (renaming, moving code) may fail.
function(clean file)
  execute_process(
    COMMAND "${clangd}" "--check=${file}"
    WORKING_DIRECTORY "${example_DIR}"
    OUTPUT_VARIABLE said
    ERROR_VARIABLE said
  )
  string(REGEX MATCHALL "E\\[[0-9:.]+\\] \\[[^\n]+" errors "${said}")
  list(JOIN errors "\n" errors)
  case_equal("clangd on ${file}" "${errors}" "")
  case_match("clangd on ${file}" "${said}" "All checks completed")
endfunction()

example_begin(03_shared_kernels)
example_configure(sm89)
clean(kernels/matmul_hopper.cu)
clean(kernels/matmul.h)
clean(gram_cuda.cpp)
