# SPDX-License-Identifier: Apache-2.0
# An op as a part of a Python package: the build tree has the package as the install prefix will have it, so that tests
# import what users import.

_cudaops_use(base/message base/options base/state)

# _cudaops_check_package(<command(target)> <package> <install> <out-package> <out-install>): the package's directory, ""
# where there is none, and INSTALL without detours.
function(
  _cudaops_check_package
  command
  package
  install
  out_package
  out_install
)
  if(NOT install STREQUAL "")
    cmake_path(NORMAL_PATH install)
    string(REGEX REPLACE "/$" "" install "${install}")
  endif()
  set(${out_install} "${install}" PARENT_SCOPE)
  set(${out_package} "" PARENT_SCOPE)
  if(package STREQUAL "")
    return()
  endif()
  cmake_path(ABSOLUTE_PATH package NORMALIZE OUTPUT_VARIABLE path)
  string(REGEX REPLACE "/$" "" path "${path}")
  cmake_path(GET path FILENAME name)
  if(NOT IS_DIRECTORY "${path}")
    set(what "there is nothing")
    set(hint "<dir>   (the one with __init__.py)")
    if(EXISTS "${path}")
      set(what "this is a file")
      cmake_path(GET path PARENT_PATH hint)
      cmake_path(RELATIVE_PATH hint BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    endif()
    _cudaops_stop(
      "${command}: PYTHON_PACKAGE takes the directory of a package, and ${what}."
      FACTS "found   ${path}"
      FIX "PYTHON_PACKAGE ${hint}"
    )
  endif()
  string(REGEX REPLACE "([][*?])" "[\\1]" pattern "${path}")
  file(GLOB modules "${pattern}/*.py")
  if(modules STREQUAL "")
    file(GLOB below "${pattern}/*/__init__.py")
    set(hint "PYTHON_PACKAGE <dir>   (the one with __init__.py)")
    if(NOT below STREQUAL "")
      list(GET below 0 below)
      cmake_path(GET below PARENT_PATH below)
      cmake_path(GET below FILENAME below)
      cmake_path(APPEND package "${below}")
      set(hint "PYTHON_PACKAGE ${package}")
    endif()
    _cudaops_stop("${command}: PYTHON_PACKAGE holds no .py file." FACTS "found   ${path}" FIX "${hint}")
  endif()
  if(install STREQUAL "" OR install MATCHES "^\\.\\.?(/|$)")
    _cudaops_stop(
      "${command}: PYTHON_PACKAGE needs INSTALL, the package's directory below the install prefix."
      FACTS "found   '${install}'"
      FIX "INSTALL ${name}"
    )
  endif()
  cmake_path(GET path PARENT_PATH parent)
  cmake_path(GET parent FILENAME parent_name)
  if(EXISTS "${parent}/__init__.py" AND "/${install}/" MATCHES "/${parent_name}/${name}/")
    cmake_path(GET package PARENT_PATH whole)
    _cudaops_stop(
      "${command}: PYTHON_PACKAGE takes the whole package, and this is a part of one."
      FACTS "found   ${path}" "whole   ${parent}"
      FIX "PYTHON_PACKAGE ${whole}"
    )
  endif()
  set(${out_package} "${path}" PARENT_SCOPE)
endfunction()

# _cudaops_op_package(<target> <package> <install> <is a module>)
#
# A module, and a library that a package loads, lie where INSTALL puts them, below the project's build directory. There,
# and not below the directory of the call, because that is how the prefix gathers what several directories install.
function(_cudaops_op_package target package install module)
  if(install STREQUAL "" OR install MATCHES "^\\.\\.(/|$)" OR NOT (module OR package))
    return()
  endif()
  get_property(multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  get_target_property(base ${target} LIBRARY_OUTPUT_DIRECTORY)
  if(NOT base)
    set(base "${PROJECT_BINARY_DIR}")
  endif()
  cmake_path(ABSOLUTE_PATH base BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE)
  if(multi AND NOT base MATCHES "\\$<")
    string(APPEND base "/$<CONFIG>")
  endif()
  cmake_path(APPEND base "${install}" OUTPUT_VARIABLE directory)
  cmake_path(NORMAL_PATH directory)
  set_property(TARGET ${target} PROPERTY LIBRARY_OUTPUT_DIRECTORY "${directory}")
  foreach(config IN LISTS CMAKE_CONFIGURATION_TYPES CMAKE_BUILD_TYPE)
    string(TOUPPER "${config}" config)
    get_target_property(own ${target} LIBRARY_OUTPUT_DIRECTORY_${config})
    if(own)
      set_property(TARGET ${target} PROPERTY LIBRARY_OUTPUT_DIRECTORY_${config} "${own}/${install}")
    endif()
  endforeach()

  # Where imports begin, as levels above the module: in site-packages, or at the prefix, which will be that in a wheel; and at
  # what holds the package.
  set(roots "")
  string(REPLACE "/" ";" parts "${install}")
  list(FILTER parts EXCLUDE REGEX "^\\.?$")
  list(LENGTH parts depth)
  set(place 0)
  set(site 0)
  set(package_place ${depth})
  cmake_path(GET package FILENAME name)
  foreach(part IN LISTS parts)
    math(EXPR place "${place} + 1")
    if(part MATCHES "^(site|dist)-packages$")
      set(site ${place})
    elseif(part STREQUAL "${name}")
      set(package_place ${place})
    endif()
  endforeach()
  set(starts ${site})
  if(package)
    math(EXPR above "${package_place} - 1")
    list(PREPEND starts ${above})
    math(EXPR up "${depth} - ${package_place}")
    list(SUBLIST parts 0 ${package_place} to)
    list(JOIN to "/" to)
    _cudaops_target_set(${target} PACKAGE "${package}")
    _cudaops_target_set(${target} PACKAGE_UP "${up}")
    _cudaops_target_set(${target} PACKAGE_TO "${to}")
    _cudaops_target_set(${target} PACKAGE_INSTALL "${install}")
  endif()
  list(REMOVE_DUPLICATES starts)
  foreach(start IN LISTS starts)
    math(EXPR up "${depth} - ${start}")
    list(APPEND roots ${up})
  endforeach()
  if(NOT package)
    # Without a package no other file is beside the module, which could be imported by a wrong name.
    list(APPEND roots 0)
    list(REMOVE_DUPLICATES roots)
  endif()
  _cudaops_target_set(${target} IMPORT_ROOTS "${roots}")
endfunction()

# _cudaops_op_import_roots(<target> <out>): the directories for PYTHONPATH, as generator expressions.
function(_cudaops_op_import_roots target out)
  _cudaops_target_get(${target} IMPORT_ROOTS roots)
  set(result "")
  foreach(root IN LISTS roots)
    _cudaops_op_above(${target} ${root} directory)
    list(APPEND result "${directory}")
  endforeach()
  set(${out} "${result}" PARENT_SCOPE)
endfunction()

# _cudaops_op_above(<target> <levels> <out>): the directory of the target's file, or one above it.
function(_cudaops_op_above target levels out)
  set(directory "$<TARGET_FILE_DIR:${target}>")
  while(levels GREATER 0)
    set(directory "$<PATH:GET_PARENT_PATH,${directory}>")
    math(EXPR levels "${levels} - 1")
  endwhile()
  set(${out} "${directory}" PARENT_SCOPE)
endfunction()

# _cudaops_op_package_finish(<target>): the .py files, once for all ops of the package.
function(_cudaops_op_package_finish target)
  _cudaops_target_get(${target} PACKAGE package)
  # scikit-build-core packs them itself, and in an editable install leaves them where they are edited.
  _cudaops_wheel_build(wheel)
  if(wheel)
    return()
  endif()
  _cudaops_target_get(${target} PACKAGE_UP up)
  _cudaops_target_get(${target} PACKAGE_TO to)
  _cudaops_target_get(${target} PACKAGE_INSTALL install)
  get_target_property(directory ${target} LIBRARY_OUTPUT_DIRECTORY)
  cmake_path(ABSOLUTE_PATH directory BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE)
  string(REGEX REPLACE "/$" "" directory "${directory}")
  string(LENGTH "/${install}" length)
  string(LENGTH "${directory}" end)
  math(EXPR begin "${end} - ${length}")
  set(tail "")
  if(begin GREATER_EQUAL 0)
    string(SUBSTRING "${directory}" ${begin} -1 tail)
  endif()
  if(NOT tail STREQUAL "/${install}")
    _cudaops_stop(
      "add_torch_op(${target}): LIBRARY_OUTPUT_DIRECTORY takes the library out of its package."
      FACTS "found   ${directory}" "wanted  a directory that ends with INSTALL: ${install}"
      FIX "leave the property to add_torch_op(), which sets it to ${PROJECT_BINARY_DIR}/${install}"
          "or <dir>/${install}"
    )
  endif()
  string(REPEAT "/.." ${up} above)
  cmake_path(SET place NORMALIZE "${directory}${above}")
  string(REGEX REPLACE "/$" "" place "${place}")
  _cudaops_state_get_of(PACKAGE "${place}" known)
  if(known STREQUAL "")
    _cudaops_op_package_target(${target} "${package}" "${up}" "${to}")
    _cudaops_state_set("PACKAGE ${place}" "${target}")
    set(known ${target})
  endif()
  _cudaops_target_get(${known} PACKAGE other)
  if(NOT other STREQUAL package)
    _cudaops_stop(
      "add_torch_op(${target}): a package has its .py files in one directory."
      FACTS "found   ${package}" "and     ${other} of ${known}, both for ${place}"
      FIX "the same PYTHON_PACKAGE, or another INSTALL"
    )
  endif()
  add_dependencies(${target} ${known}_package)
endfunction()

function(_cudaops_op_package_target target package up to)
  _cudaops_op_above(${target} ${up} place)
  cmake_path(SET tool NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../tools/python_package.cmake")
  set(state "${CMAKE_CURRENT_BINARY_DIR}/CudaOps/${target}_package")
  get_property(multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(multi)
    string(APPEND state "/$<CONFIG>")
  endif()
  add_custom_command(
    OUTPUT "${state}.stamp"
    COMMAND "${CMAKE_COMMAND}" "-Dfrom=${package}" "-Dto=${place}" "-Dstate=${state}" -P "${tool}"
    DEPENDS "${tool}"
    DEPFILE "${state}.d"
    COMMENT "Python package ${to}"
    VERBATIM
  )
  add_custom_target(${target}_package ALL DEPENDS "${state}.stamp")
  install(CODE "include([==[${tool}]==])\n_cudaops_package_install([==[${package}]==] [==[${to}]==])")
endfunction()
