# SPDX-License-Identifier: Apache-2.0
# Stable ops are linked against stubs of torch's libraries, which take the linker ten times as long as the rest of the
# link.

_cudaops_use(base/message base/options base/probe base/programs base/stamps base/state launch/launcher)

# _cudaops_link_stubs_target(<target>)
#
# Stubs of torch's libraries for a stable op, and gold where the linker is not chosen: lines of LINK_SETTINGS.
function(_cudaops_link_stubs_target target)
  _cudaops_link_stubs(stubs)
  if(stubs STREQUAL "")
    return()
  endif()
  set(text "")
  _cudaops_launcher_line(text stubs "${stubs}")
  get_target_property(linker ${target} LINKER_TYPE)
  # SYSTEM adds no option that would show in the command.
  if(NOT linker OR linker STREQUAL "DEFAULT")
    _cudaops_launcher_line(text open 1)
  endif()
  _cudaops_target_set(${target} LINK_SETTINGS "${text}")
endfunction()

# _cudaops_link_stubs(<out>): the store's directory with stubs of this torch's libraries; empty where there is none.
function(_cudaops_link_stubs out)
  set(${out} "" PARENT_SCOPE)
  _cudaops_state_get(LINK_STUBS stubs)
  if(stubs)
    if(NOT stubs STREQUAL "none")
      set(${out} "${stubs}" PARENT_SCOPE)
    endif()
    return()
  endif()
  _cudaops_state_set(LINK_STUBS none)
  _cudaops_state_get(TORCH_LIB_DIR lib)
  set(libraries "")
  set(key "")
  foreach(library IN ITEMS torch_cpu torch_cuda torch_hip)
    if(EXISTS "${lib}/lib${library}.so")
      list(APPEND libraries "${lib}/lib${library}.so")
      _cudaops_file_stamp("${lib}/lib${library}.so" stamp)
      string(APPEND key "|${stamp}")
    endif()
  endforeach()
  _cudaops_store(store)
  _cudaops_launcher(program ignored)
  if(
    NOT CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF"
    OR libraries STREQUAL ""
    OR NOT CMAKE_NM
    OR NOT CMAKE_READELF
    OR program STREQUAL ""
  )
    return()
  endif()
  _cudaops_cxx(cxx)
  string(SHA1 key "3|${cxx}|${key}")
  set(stubs "${store}/link/${key}")
  if(NOT EXISTS "${stubs}/stamp")
    _cudaops_run(
      make
      COMMAND
        "${program}" --link-stubs "${cxx}" "${CMAKE_NM}"
        "${CMAKE_READELF}" "${stubs}" ${libraries}
    )
    if(NOT make_EXIT STREQUAL "0" OR NOT EXISTS "${stubs}/stamp")
      _cudaops_verbose("stable ops are linked against torch itself, without stubs: ${make_ERROR}")
      return()
    endif()
  endif()
  _cudaops_state_set(LINK_STUBS "${stubs}")
  set(${out} "${stubs}" PARENT_SCOPE)
endfunction()
