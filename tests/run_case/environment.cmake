# SPDX-License-Identifier: Apache-2.0
# What the steps of a case see of the machine: their environment and PATH. Part of RunCase.cmake.

# case_environment(<VAR>=<value>... [UNSET <VAR>...]): for the steps that follow. Nothing of the developer's own
# environment reaches a case, so that it says the same everywhere.
function(case_environment)
  # Not as a list: a value may hold semicolons and single brackets.
  get_property(names GLOBAL PROPERTY case_ENVIRONMENT)
  set(unset FALSE)
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE ${last})
    set(entry "${ARGV${i}}")
    if(entry STREQUAL "UNSET")
      set(unset TRUE)
    elseif(unset)
      list(REMOVE_ITEM names "${entry}")
    else()
      string(FIND "${entry}" "=" position)
      string(SUBSTRING "${entry}" 0 ${position} name)
      math(EXPR position "${position} + 1")
      string(SUBSTRING "${entry}" ${position} -1 value)
      list(REMOVE_ITEM names "${name}")
      list(APPEND names "${name}")
      set_property(GLOBAL PROPERTY case_ENVIRONMENT_${name} "${value}")
    endif()
  endforeach()
  set_property(GLOBAL PROPERTY case_ENVIRONMENT ${names})
endfunction()

# case_keep_environment(<regex>): lets matching variables of the developer's environment through (proxies, package
# indexes), for cases that really need the network.
function(case_keep_environment regex)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E environment OUTPUT_VARIABLE all)
  string(REGEX MATCHALL "(^|\n)[A-Za-z_0-9]+=" all "${all}")
  foreach(name IN LISTS all)
    string(REGEX REPLACE "[\n=]" "" name "${name}")
    if(name MATCHES "${regex}")
      case_environment("${name}=$ENV{${name}}")
    endif()
  endforeach()
endfunction()

# case_path(<dir>...): puts directories before the PATH of the steps that follow.
function(case_path)
  list(JOIN ARGV ":" front)
  get_property(old GLOBAL PROPERTY case_ENVIRONMENT_PATH)
  case_environment("PATH=${front}:${old}")
endfunction()

# case_use_detections(): the case's store begins with the detection of the real nvcc that the fixture has made.
function(case_use_detections)
  if(EXISTS "${case_SEED_DIR}/store/seeds")
    file(COPY "${case_SEED_DIR}/store/seeds" DESTINATION "${case_DIR}/store")
  endif()
endfunction()

# case_use_compiler_cache(): the steps that follow compile through the ccache of this machine, as the build of the tests
# itself does; without one they just compile. For cases that look at what was compiled, not at how: they compile the same
# again and again, with each CMake and in each checkout.
function(case_use_compiler_cache)
  find_program(program ccache NO_CACHE)
  if(NOT program)
    return()
  endif()
  execute_process(
    COMMAND "${program}" --get-config cache_dir
    RESULT_VARIABLE result
    OUTPUT_VARIABLE directory
    ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE
  )
  if(result EQUAL 0 AND NOT directory STREQUAL "")
    file(MAKE_DIRECTORY "${case_DIR}/home/bin")
    file(CREATE_LINK "${program}" "${case_DIR}/home/bin/ccache" SYMBOLIC)
    case_path("${case_DIR}/home/bin")
    case_environment("CCACHE_DIR=${directory}")
  endif()
endfunction()
