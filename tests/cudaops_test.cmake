# SPDX-License-Identifier: Apache-2.0
# What the test folders are declared with. Used by tests/CMakeLists.txt only.

include_guard(GLOBAL)

# cudaops_add_case_suite(<Suite> [PROJECT] [LABELS <label>...] [EVERY_CMAKE] [EVERY_GENERATOR] [FOR_EACH_TORCH]
#                        [OTHER_CMAKE_CASES <regex>] [OTHER_GENERATOR_CASES <regex>] [TIMEOUT <s>]
#                        [QUICK [NOT_QUICK <regex>]] [BLANK_CASES <regex>] [DETECTIONS])
#
# One test "<Suite>.<case>" for each case in tests/<Suite>. A case is <case>.cmake or <case>-steps.cmake; they are
# collected from the folder, because a case that stands in the folder but not in a list would never run and nobody
# would notice. PROJECT: <case>.cmake is the body of a project; else a script. EVERY_CMAKE repeats the suite with the
# other CMake versions ("@4.4"), or only the cases that match OTHER_CMAKE_CASES, where the others don't come to anything
# that CMake releases do differently; EVERY_GENERATOR with Makefiles ("@make"), or only the cases that match
# OTHER_GENERATOR_CASES, where the others don't come to a build rule of the package's; FOR_EACH_TORCH once for each Python
# in CUDAOPS_TEST_TORCHES (variable case_TORCH in the case). QUICK gives the label `quick` to the cases of the main CMake
# and generator, but for those with the real compilers (real_*), with generated inputs (generated_*), and NOT_QUICK:
# together with the rest that has the label they take 90 s at most. BLANK_CASES are repeated in directories with a blank
# in their path ("@blank"). DETECTIONS: they call case_use_detections(), as PROJECT suites may.
function(cudaops_add_case_suite suite)
  cmake_parse_arguments(
    PARSE_ARGV 1
    arg
    "PROJECT;EVERY_CMAKE;EVERY_GENERATOR;FOR_EACH_TORCH;QUICK;DETECTIONS"
    "TIMEOUT;OTHER_CMAKE_CASES;OTHER_GENERATOR_CASES;BLANK_CASES;NOT_QUICK"
    "LABELS"
  )
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "cudaops_add_case_suite(${suite}): unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(dir "${CMAKE_CURRENT_SOURCE_DIR}/${suite}")
  if(NOT IS_DIRECTORY "${dir}")
    message(FATAL_ERROR "cudaops_add_case_suite(${suite}): no directory ${dir}")
  endif()
  file(GLOB files CONFIGURE_DEPENDS RELATIVE "${dir}" "${dir}/*.cmake")
  set(cases "")
  foreach(file IN LISTS files)
    if(NOT file MATCHES "^(suite|body)\\.cmake$|-check\\.cmake$")
      string(REGEX REPLACE "(-steps)?\\.cmake$" "" case "${file}")
      list(APPEND cases "${case}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES cases)
  if(NOT cases)
    message(FATAL_ERROR "cudaops_add_case_suite(${suite}): no case in ${dir}")
  endif()
  # A text without its case is a misspelt name.
  file(GLOB texts CONFIGURE_DEPENDS RELATIVE "${dir}" "${dir}/*-std*.txt" "${dir}/*-result.txt" "${dir}/*-check.cmake")
  foreach(text IN LISTS texts)
    string(REGEX REPLACE "-(stdout|stderr|result|check)\\.(txt|cmake)$" "" case "${text}")
    if(NOT case IN_LIST cases)
      message(FATAL_ERROR "cudaops_add_case_suite(${suite}): ${text} belongs to no case")
    endif()
  endforeach()

  set(kind SCRIPT)
  if(arg_PROJECT)
    set(kind PROJECT)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  # Each variant: suffix, CMake, generator, torch.
  set(variants "|${CUDAOPS_TEST_CMAKE}|${CUDAOPS_TEST_GENERATOR}|")
  if(arg_EVERY_CMAKE)
    foreach(version IN LISTS CUDAOPS_TEST_OTHER_CMAKES)
      list(
        APPEND variants
        "@${version}|${CUDAOPS_TEST_TOOLS_DIR}/cmake-${version}/cmake/data/bin/cmake|${CUDAOPS_TEST_GENERATOR}|"
      )
    endforeach()
  endif()
  if(arg_EVERY_GENERATOR)
    if(CUDAOPS_TEST_GENERATOR STREQUAL "Ninja")
      list(APPEND variants "@make|${CUDAOPS_TEST_CMAKE}|Unix Makefiles|")
    else()
      list(APPEND variants "@ninja|${CUDAOPS_TEST_CMAKE}|Ninja|")
    endif()
  endif()
  if(arg_BLANK_CASES)
    list(APPEND variants "@blank|${CUDAOPS_TEST_CMAKE}|${CUDAOPS_TEST_GENERATOR}|")
  endif()
  if(arg_FOR_EACH_TORCH)
    set(variants "")
    foreach(python IN LISTS CUDAOPS_TEST_TORCHES)
      _cudaops_test_torch_name(name "${python}")
      list(APPEND variants "@${name}|${CUDAOPS_TEST_CMAKE}|${CUDAOPS_TEST_GENERATOR}|${python}")
    endforeach()
    if(NOT variants)
      # Skipped, not left out: a list of tests must not shrink unseen.
      set(variants "@no-torch|${CUDAOPS_TEST_CMAKE}|${CUDAOPS_TEST_GENERATOR}|")
    endif()
  endif()

  foreach(case IN LISTS cases)
    foreach(variant IN LISTS variants)
      string(REPLACE "|" ";" variant "${variant}")
      list(GET variant 0 suffix)
      list(GET variant 1 cmake)
      list(GET variant 2 generator)
      list(GET variant 3 torch)
      if(suffix MATCHES "^@[0-9]" AND arg_OTHER_CMAKE_CASES AND NOT case MATCHES "${arg_OTHER_CMAKE_CASES}")
        continue()
      endif()
      if(
        suffix MATCHES "^@(make|ninja)$"
        AND arg_OTHER_GENERATOR_CASES
        AND NOT case MATCHES "${arg_OTHER_GENERATOR_CASES}"
      )
        continue()
      endif()
      if(suffix STREQUAL "@blank" AND NOT case MATCHES "${arg_BLANK_CASES}")
        continue()
      endif()
      set(name "${suite}.${case}${suffix}")
      set(seed "${CMAKE_CURRENT_BINARY_DIR}/seed${suffix}")
      set(place "${CMAKE_CURRENT_BINARY_DIR}/${suite}/${case}${suffix}")
      if(suffix STREQUAL "@blank")
        set(place "${CMAKE_CURRENT_BINARY_DIR}/${suite}/with a blank/${case}")
      endif()
      if(arg_FOR_EACH_TORCH OR suffix STREQUAL "@blank")
        set(seed "${CMAKE_CURRENT_BINARY_DIR}/seed")
      endif()
      add_test(
        NAME "${name}"
        COMMAND
          "${CMAKE_COMMAND}" "-Dcase_SETTINGS=${CMAKE_CURRENT_BINARY_DIR}/settings.cmake" "-Dcase_SUITE=${dir}"
          "-Dcase_NAME=${case}" "-Dcase_KIND=${kind}" "-Dcase_DIR=${place}" "-Dcase_CMAKE=${cmake}"
          "-Dcase_GENERATOR=${generator}" "-Dcase_SEED_DIR=${seed}" "-Dcase_TORCH=${torch}" -P
          "${CMAKE_CURRENT_SOURCE_DIR}/RunCase.cmake"
      )
      set(labels ${suite} ${arg_LABELS})
      if(
        arg_QUICK
        AND suffix STREQUAL ""
        AND NOT case MATCHES "^(real|generated)_"
        AND NOT (arg_NOT_QUICK AND case MATCHES "${arg_NOT_QUICK}")
      )
        list(APPEND labels quick)
      endif()
      set_tests_properties(
        "${name}"
        PROPERTIES LABELS "${labels}" TIMEOUT ${arg_TIMEOUT} SKIP_REGULAR_EXPRESSION "CASE SKIPPED:"
      )
      set(fixtures "")
      if(suffix MATCHES "^@[0-9]")
        list(APPEND fixtures tests.tools)
      endif()
      if(kind STREQUAL "PROJECT" OR arg_DETECTIONS)
        set_property(GLOBAL APPEND PROPERTY _cudaops_test_seeds "${seed}|${cmake}|${generator}")
        cmake_path(GET seed FILENAME seed_name)
        list(APPEND fixtures tests.${seed_name})
      endif()
      set_property(TEST "${name}" PROPERTY FIXTURES_REQUIRED ${fixtures})
    endforeach()
  endforeach()
endfunction()

# The name of a torch in a test's name: its version, read from the file, "none" where there is none.
function(_cudaops_test_torch_name out python)
  cmake_path(GET python PARENT_PATH bin)
  file(GLOB file "${bin}/../lib/python3*/site-packages/torch/version.py")
  set(name none)
  if(file)
    list(GET file 0 file)
    file(STRINGS "${file}" line REGEX "^__version__")
    if(line MATCHES "'([^']+)'")
      string(REPLACE "+" "-" name "torch-${CMAKE_MATCH_1}")
    endif()
  endif()
  set(${out} "${name}" PARENT_SCOPE)
endfunction()

# The fixtures that configure an empty C++ project once for each CMake and generator in use; the cases start from its
# compiler detection.
function(_cudaops_test_add_seeds)
  get_property(seeds GLOBAL PROPERTY _cudaops_test_seeds)
  list(REMOVE_DUPLICATES seeds)
  foreach(seed IN LISTS seeds)
    string(REPLACE "|" ";" seed "${seed}")
    list(GET seed 0 dir)
    list(GET seed 1 cmake)
    list(GET seed 2 generator)
    cmake_path(GET dir FILENAME name)
    add_test(
      NAME "tests.${name}"
      COMMAND
        "${CMAKE_COMMAND}" "-Dcase_SETTINGS=${CMAKE_CURRENT_BINARY_DIR}/settings.cmake"
        "-Dcase_SUITE=${CMAKE_CURRENT_SOURCE_DIR}/fixtures" -Dcase_NAME=seed -Dcase_KIND=PROJECT "-Dcase_DIR=${dir}"
        "-Dcase_CMAKE=${cmake}" "-Dcase_GENERATOR=${generator}" -P "${CMAKE_CURRENT_SOURCE_DIR}/RunCase.cmake"
    )
    set_tests_properties(
      "tests.${name}"
      PROPERTIES FIXTURES_SETUP "tests.${name}" TIMEOUT 120 SKIP_REGULAR_EXPRESSION "CASE SKIPPED:"
    )
    if(name MATCHES "^seed@[0-9]")
      set_property(TEST "tests.${name}" PROPERTY FIXTURES_REQUIRED tests.tools)
    endif()
  endforeach()
endfunction()

# A directory with links to the programs that a build needs and to nothing else: what lies beside them on this machine
# (nvcc in /usr/bin, python3 with a torch, ccache) must not decide what a case says.
function(_cudaops_test_make_tools_dir dir)
  file(MAKE_DIRECTORY "${dir}")
  set(
    programs
    sh
    bash
    env
    cat
    cp
    mv
    rm
    mkdir
    rmdir
    ln
    ls
    chmod
    touch
    true
    false
    uname
    grep
    sed
    awk
    sort
    head
    tail
    tr
    cut
    wc
    expr
    dirname
    basename
    readlink
    realpath
    find
    xargs
    date
    sleep
    id
    mktemp
    tee
    sha256sum
    stat
    od
    cc
    c++
    gcc
    g++
    ld
    ld.bfd
    ld.gold
    as
    ar
    nm
    ranlib
    strip
    objcopy
    objdump
    readelf
    size
    make
    ninja
    git
    tar
    gzip
    unzip
    nproc
    kill
    mkfifo
  )
  foreach(program IN LISTS programs)
    string(MAKE_C_IDENTIFIER "${program}" id)
    set(var "_cudaops_test_program_${id}")
    find_program(${var} ${program} NO_CACHE)
    if(${var})
      # bash asks its own name whether it is sh, ld.bfd which linker it is: link to the program, not to its target.
      file(CREATE_LINK "${${var}}" "${dir}/${program}" SYMBOLIC)
    endif()
  endforeach()
endfunction()
