# SPDX-License-Identifier: Apache-2.0
# How ops and shared kernels are linked: whole, but for Python's symbols.

_cudaops_use(base/hooks base/programs base/stamps base/state launch/launch launch/launcher)

# _cudaops_link_whole(<target> <abi>): <abi> is empty for kernels.
#
# A missing library fails at the link, with its name. The option stands here, so that those of an author come after it.
function(_cudaops_link_whole target abi)
  _cudaops_hide_static_runtime(${target})
  _cudaops_state_get(BACKEND backend)
  _cudaops_state_get(TORCH_KIND kind)
  _cudaops_launch_excluded(${target} LINK link excluded)
  if(
    NOT CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF"
    # What a ROCm torch would define is in no library here.
    OR (abi AND backend STREQUAL "HIP" AND NOT kind STREQUAL "HIP")
    # It would be refused for Python's symbols.
    OR (abi STREQUAL "PYBIND" AND excluded)
  )
    return()
  endif()
  target_link_options(${target} PRIVATE "LINKER:--no-undefined")
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _cudaops_link_launcher [[${target}]] [[${abi}]])")
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

# _cudaops_link_launcher(<target> <abi>)
#
# Links <target> through launcher/link.cpp, which knows what --no-undefined doesn't: that Python's symbols come from the
# interpreter. Whether they are used stands in the objects and archives that are linked, so it is found out then. Called
# at the end of the directory, when its author's properties are known.
function(_cudaops_link_launcher target abi)
  set(text "link_step\t1\n")
  _cudaops_launch_user(${target} LINK user)
  if(user STREQUAL "")
    _cudaops_announce(link ${target})
    _cudaops_target_get(${target} LINK_SETTINGS settings)
    string(APPEND text "${settings}")
  endif()
  set(uses_python may)
  if(abi STREQUAL "PYBIND")
    set(uses_python must)
  endif()
  _cudaops_launcher_line(text uses_python ${uses_python})
  _cudaops_python_tool(python)
  if(NOT python STREQUAL "" AND CMAKE_READELF)
    # Another Python, or a newer one in its place, exports other symbols.
    file(REAL_PATH "${python}" real)
    _cudaops_file_stamp("${real}" stamp)
    _cudaops_cxx(cxx)
    string(SHA1 key "2|${cxx}|${python}|${stamp}")
    string(SUBSTRING "${key}" 0 12 key)
    file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/CudaOps")
    _cudaops_launcher_line(text python_stub "${CMAKE_CURRENT_BINARY_DIR}/CudaOps/python-${key}.so")
    _cudaops_launcher_line(text python "${python}")
    _cudaops_launcher_line(text compiler "${cxx}")
    _cudaops_launcher_line(text readelf "${CMAKE_READELF}")
  endif()
  _cudaops_launch_add(${target} LINK link "${text}")
endfunction()
