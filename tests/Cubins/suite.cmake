# Architectures compiled apart: the object is the one that nvcc makes of them together, whatever was kept from before.
include("${case_TESTS_DIR}/Cache/suite.cmake")

# Kernels of every kind; what nvcc compiles is told on stdout. For two_projects().
set(
  kinds_CODE
  [==[
cudaops_add_kernels(kinds SHARED ${CUBINS} SOURCES kinds.cu)
target_compile_options(kinds PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda;--resource-usage>")
]==]
)

# two_projects(<code> ARGS <argument>...): a project whose kernels with CUDA_CUBINS and without are built in two trees,
# apart and together. <code> may use ${CUBINS}.
function(two_projects code)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ARGS")
  project_says("${code}")
  foreach(kind IN ITEMS apart together)
    set(cubins "")
    if(kind STREQUAL "apart")
      set(cubins CUDA_CUBINS)
    endif()
    case_configure(BUILD_DIR "${case_DIR}/${kind}" ARGS -DCMAKE_BUILD_TYPE=Release "-DCUBINS=${cubins}" ${arg_ARGS})
  endforeach()
endfunction()

# expect_equal_code(<what> <file>...): device code and everything else that the two trees have in these libraries.
function(expect_equal_code what)
  foreach(library IN LISTS ARGN)
    foreach(kind IN ITEMS apart together)
      execute_process(
        COMMAND objcopy -O binary -j .nv_fatbin "${case_DIR}/${kind}/${library}" "${case_DIR}/${kind}.fatbin"
        ERROR_VARIABLE error
      )
      set(fatbin_${kind} "${kind} has none: ${error}")
      if(EXISTS "${case_DIR}/${kind}.fatbin")
        file(SHA256 "${case_DIR}/${kind}.fatbin" fatbin_${kind})
        file(REMOVE "${case_DIR}/${kind}.fatbin")
      endif()
      execute_process(
        COMMAND objdump -dr --no-show-raw-insn -j .text -j .rodata "${case_DIR}/${kind}/${library}"
        OUTPUT_VARIABLE code
        ERROR_VARIABLE ignored
      )
      # What stands before it names the file.
      string(FIND "${code}" "Disassembly of section" begin)
      string(SUBSTRING "${code}" ${begin} -1 code)
      string(LENGTH "${code}" length_${kind})
      string(SHA256 code_${kind} "${code}")
    endforeach()
    case_equal("${what}: fatbin of ${library}" "${fatbin_apart}" "${fatbin_together}")
    if(length_apart LESS 100)
      case_fail("${what}: no code was read of ${library}")
    endif()
    case_equal("${what}: host code of ${library}" "${code_apart}" "${code_together}")
  endforeach()
endfunction()
