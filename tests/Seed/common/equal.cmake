# What a seeded tree and one that CMake has made alone may differ in, taken out.

# tree_texts(<build dir> <out>): the texts of all generated files but logs and the detection's own leftovers.
function(tree_texts dir out)
  set(all "")
  file(GLOB_RECURSE files RELATIVE "${dir}" "${dir}/*")
  foreach(file IN LISTS files)
    # The sources and outputs of CMake's trials, and its log of them.
    if(
      file
        MATCHES
        "CompilerId|CMakeDetermineCompilerABI_|CMakeConfigureLog|CMakeOutput.log|CMakeError.log|CMakeFiles/CMakeTmp"
    )
      continue()
    endif()
    file(READ "${dir}/${file}" text)
    if(file STREQUAL "CMakeCache.txt")
      # Our own options; what -D says of the module.
      string(REGEX REPLACE "//[^\n]*\n_CUDAOPS_ENV[^\n]*\n" "" text "${text}")
    elseif(file MATCHES "ninja$|Makefile.cmake$")
      # The list of files that CMake has read: its modules of the detection on one side, ours on the other.
      string(REGEX REPLACE "\nbuild [^\n]*(: RERUN_CMAKE|CMakeCache.txt)[^\n]*" "\n" text "${text}")
      string(REGEX REPLACE "\nbuild [^\n]*: phony *\n" "\n" text "${text}")
      string(
        REGEX REPLACE "\n *\"[^\n]*(/Modules/|CMakeFiles/[0-9.]+/CMake|/detail/|/accelerate/|CudaOpsSeed)[^\n]*"
        ""
        text
        "${text}"
      )
      string(REGEX REPLACE "\nset\\(CMAKE_MAKEFILE_DEPENDS[^)]*\\)" "" text "${text}")
      string(REGEX REPLACE "\nset\\(CMAKE_MAKEFILE_PRODUCTS[^)]*\\)" "" text "${text}")
    endif()
    string(SHA1 hash "${text}")
    list(APPEND all "${file} ${hash}")
  endforeach()
  list(SORT all)
  set(${out} "${all}" PARENT_SCOPE)
endfunction()

# expect_equal_trees(<what> <languages> <argument>...): a fresh tree made without a seed and one made with seeds.
function(expect_equal_trees what languages)
  set(module "-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=${seed_MODULE}")
  set(build "${case_DIR}/build")
  set(
    configure
    "${case_CMAKE}"
    -S
    "${case_DIR}/src"
    -B
    "${build}"
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
    "${module}"
    ${ARGN}
  )
  file(REMOVE_RECURSE "${build}")
  case_environment(CUDAOPS_SEED_COMPILERS=OFF)
  case_step("${what}: CMake alone" COMMAND ${configure})
  tree_texts("${build}" alone_first)
  case_step("${what}: CMake alone, again" COMMAND "${case_CMAKE}" "${build}")
  tree_texts("${build}" alone_second)
  file(REMOVE_RECURSE "${build}")
  case_environment(UNSET CUDAOPS_SEED_COMPILERS)
  case_step("${what}: filling the store" COMMAND ${configure})
  tree_texts("${build}" filling_first)
  file(REMOVE_RECURSE "${build}")
  case_step("${what}: seeded" COMMAND ${configure} --log-level=VERBOSE)
  foreach(language IN LISTS languages)
    case_match("${what}: seeded" "${case_STEP_STDOUT}" "Seed: ${language} as detected before")
  endforeach()
  tree_texts("${build}" seeded_first)
  case_step("${what}: seeded, again" COMMAND "${case_CMAKE}" "${build}")
  tree_texts("${build}" seeded_second)
  list(LENGTH alone_first number)
  if(number LESS 8)
    case_fail("${what}: only ${number} files to compare")
  endif()
  foreach(pair IN ITEMS "alone_first filling_first" "alone_first seeded_first" "alone_second seeded_second")
    separate_arguments(pair)
    list(GET pair 0 a)
    list(GET pair 1 b)
    set(left ${${a}})
    set(right ${${b}})
    list(REMOVE_ITEM left ${${b}})
    list(REMOVE_ITEM right ${${a}})
    if(left OR right)
      case_fail("${what}: ${a} and ${b} differ" "${left}" "${right}")
    endif()
  endforeach()
endfunction()
