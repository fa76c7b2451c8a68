# SPDX-License-Identifier: Apache-2.0
# Installing: where an op looks for torch at run time, and that it tells no path of this machine.

_cudaops_use(base/message base/options base/state)

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
