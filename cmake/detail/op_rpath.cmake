# SPDX-License-Identifier: Apache-2.0
# Linking and installing: what an op may leave undefined, where it looks for torch at run time, and that it tells no
# path of this machine.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

if(NOT COMMAND _cudaops_use)
  include("${CMAKE_CURRENT_LIST_DIR}/use.cmake")
endif()
_cudaops_use(message op_audit op_sources options state)

# _cudaops_op_linking(<target> <abi> <module> <host source>...)
#
# A missing library fails at the link, with its name. Python's own symbols come from the interpreter: a module whose
# sources use Python's API is looked through after the link instead.
function(_cudaops_op_linking target abi module)
  set(uses_python FALSE)
  if(abi STREQUAL "PYBIND")
    set(uses_python TRUE)
  elseif(module)
    _cudaops_includes_python(uses_python ${ARGN})
  endif()
  _cudaops_state_get(PYTHON_EXECUTABLE python)
  _cudaops_state_get(BACKEND backend)
  _cudaops_state_get(TORCH_KIND kind)
  if(backend STREQUAL "HIP" AND NOT kind STREQUAL "HIP")
    # What a ROCm torch would define is in no library here.
  elseif(CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF" AND NOT uses_python)
    target_link_options(${target} PRIVATE "LINKER:--no-undefined")
  elseif(CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF" AND python)
    _cudaops_inspect_command(command "${python}")
    add_custom_command(
      TARGET ${target}
      POST_BUILD
      COMMAND ${command} "$<TARGET_FILE:${target}>" --check-symbols
      VERBATIM
    )
  endif()
  _cudaops_hide_static_runtime(${target})
  # An absolute path to this machine's torch in an installed library would break a later `import torch` of another one.
  set_target_properties(${target} PROPERTIES INSTALL_RPATH_USE_LINK_PATH OFF)
endfunction()

# _cudaops_hide_static_runtime(<target>)
#
# A library may hold a C++ standard library of its own: -static-libstdc++, or a compiler that finds only the archive. In
# torch's process it is the second one. Exported, it shares some of its symbols with the first (those that ELF calls
# unique) and not others, so that both number the facets of a locale differently: the first number that is written to a
# stream is lost, or the process dies. Hidden, it is complete in itself. Without effect where the archive isn't linked.
function(_cudaops_hide_static_runtime target)
  if(CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF")
    target_link_options(
      ${target}
      PRIVATE "LINKER:--exclude-libs,libstdc++.a:libsupc++.a:libstdc++fs.a:libc++.a:libc++abi.a"
    )
  endif()
endfunction()

# _cudaops_hide_paths(<target>)
#
# Checks in torch's headers and assert() put __FILE__ into the library: paths of the machine that built it. Only for host
# sources: in nvcc's command line a path of the checkout would give each checkout its own entries in a shared compiler
# cache, which knows what this option means to a host compiler.
function(_cudaops_hide_paths target)
  if(
    NOT (CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 8)
    AND NOT (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 10)
  )
    return()
  endif()
  _cudaops_state_get(TORCH_INCLUDE_DIR torch)
  foreach(directory IN ITEMS "${torch}" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
    if(directory AND NOT directory MATCHES "[=;]")
      target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX,HIP>:-fmacro-prefix-map=${directory}/=>")
    endif()
  endforeach()
endfunction()

# _cudaops_op_install(<target> <dir>)
function(_cudaops_op_install target directory)
  _cudaops_target_get(${target} STATE state)
  if(state STREQUAL "NOT_BUILT")
    _cudaops_target_get(${target} REASON_CODE code)
    _cudaops_status("add_torch_op(${target}): INSTALL ${directory} is left out, the op is NOT_BUILT (${code})")
    return()
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION "${directory}" RUNTIME DESTINATION "${directory}")
  get_target_property(rpath ${target} INSTALL_RPATH)
  if(rpath)
    return()
  endif()
  set(place "${CMAKE_INSTALL_PREFIX}")
  cmake_path(APPEND place "${directory}")
  cmake_path(NORMAL_PATH place)
  set(site "")
  _cudaops_wheel_build(wheel)
  if(wheel)
    # The prefix is what becomes site-packages.
    set(site "${CMAKE_INSTALL_PREFIX}")
  elseif(place MATCHES "^(.*/(site|dist)-packages)(/|$)")
    set(site "${CMAKE_MATCH_1}")
  endif()
  if(site AND CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF")
    cmake_path(NORMAL_PATH site)
    cmake_path(RELATIVE_PATH site BASE_DIRECTORY "${place}" OUTPUT_VARIABLE up)
    cmake_path(SET origin NORMALIZE "${up}/torch/lib")
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${origin}")
  endif()
endfunction()
