# SPDX-License-Identifier: Apache-2.0
# Versions read from text that other programs wrote: torch's version.py, build-version, METADATA and ATen.h, and nvcc's
# banner. Pure: text in, values out, no file and no process, so `cmake -P` can try every spelling.

# _cudaops_read_torch_version(<text of torch/version.py> <out-prefix>)
#
#   _VERSION  as torch says it: 2.15.0+cu132, 2.16.0.dev20260101+cu132, 2.11.0a0+git1234
#   _RELEASE  its numbers only (2.15.0), for VERSION_LESS and version ranges
#   _KIND     CUDA, HIP or CPU
#   _CUDA     13.2, or empty
#   _HIP      6.4.43482-0f2d60242, or empty
#   _GIT      the commit, or empty
#   _ERROR    empty, or one sentence; everything else is empty then
function(_cudaops_read_torch_version text prefix)
  set(fields "VERSION;RELEASE;KIND;CUDA;HIP;GIT")
  foreach(name IN LISTS fields ITEMS ERROR)
    set(${name} "")
  endforeach()
  string(REPLACE "\r" "" text "\n${text}\n")
  # The greedy start makes the last assignment win, as it does in Python. Python files may begin with a byte order mark.
  string(ASCII 239 187 191 bom)
  string(REPLACE "\n${bom}" "\n" text "${text}")
  set(keys __version__ cuda hip git_version)
  set(names VERSION CUDA HIP GIT)
  foreach(key name IN ZIP_LISTS keys names)
    set(seen_${name} FALSE)
    if(text MATCHES "^.*\n${key}[ \t]*(:[^=\n]*)?=([^=\n][^\n]*)\n")
      set(value "${CMAKE_MATCH_2}")
      if(value MATCHES "^[ \t]*(None|'([^'\\]*)'|\"([^\"\\]*)\")[ \t]*(#.*)?$")
        set(seen_${name} TRUE)
        set(${name} "${CMAKE_MATCH_2}${CMAKE_MATCH_3}")
      elseif(NOT name STREQUAL "GIT")
        set(ERROR "torch/version.py sets ${key} to something that is neither a string nor None.")
        break()
      endif()
    endif()
  endforeach()

  if(ERROR STREQUAL "")
    if(NOT seen_VERSION)
      set(ERROR "torch/version.py sets no __version__.")
    elseif(NOT seen_CUDA)
      set(ERROR "torch/version.py does not say which CUDA torch was built with (no line sets cuda).")
    elseif(
      NOT VERSION MATCHES "^([0-9]+\\.[0-9]+(\\.[0-9]+)*)((a|b|rc)[0-9]+)?(\\.?(post|dev)[0-9]+)*(\\+[A-Za-z0-9._-]+)?$"
    )
      set(ERROR "torch/version.py holds a __version__ that is no version.")
    elseif(NOT CUDA MATCHES "^([0-9]+(\\.[0-9]+)+)?$")
      set(ERROR "torch/version.py holds a cuda that is no version.")
    elseif(NOT HIP MATCHES "^([0-9]+\\.[0-9]+[A-Za-z0-9.+-]*)?$")
      set(ERROR "torch/version.py holds a hip that is no version.")
    elseif(NOT CUDA STREQUAL "" AND NOT HIP STREQUAL "")
      set(ERROR "torch/version.py names both a CUDA and a HIP version.")
    else()
      string(REGEX MATCH "^[0-9]+(\\.[0-9]+)+" RELEASE "${VERSION}")
      if(NOT CUDA STREQUAL "")
        set(KIND CUDA)
      elseif(NOT HIP STREQUAL "")
        set(KIND HIP)
      else()
        set(KIND CPU)
      endif()
      if(NOT GIT MATCHES "^[0-9a-zA-Z]*$")
        set(GIT "")
      endif()
    endif()
  endif()
  foreach(name IN LISTS fields)
    if(NOT ERROR STREQUAL "")
      set(${name} "")
    endif()
    set(${prefix}_${name} "${${name}}" PARENT_SCOPE)
  endforeach()
  set(${prefix}_ERROR "${ERROR}" PARENT_SCOPE)
endfunction()

# _cudaops_read_build_version(<text of a libtorch zip's build-version> <out-prefix>)
#
# _VERSION, _RELEASE, _KIND, _CUDA, _HIP, _ERROR as above. _KIND is UNKNOWN where the local part says nothing (2.11.0,
# +git1234, a vendor's own build): only the libraries beside the file can tell then.
#
# +cuXYZ: CUDA's major has two digits since 10, so with three digits and more the first two are the major and the rest is
# the minor (cu118 is 11.8, cu1210 is 12.10); with two digits each is one number (cu92 is 9.2, cu75 the oldest there was).
function(_cudaops_read_build_version text prefix)
  set(fields "VERSION;RELEASE;KIND;CUDA;HIP")
  foreach(name IN LISTS fields ITEMS ERROR)
    set(${name} "")
  endforeach()
  if(NOT "${text}" MATCHES "^[ \t\r\n]*(([0-9]+\\.[0-9]+(\\.[0-9]+)*)[A-Za-z0-9.]*(\\+([A-Za-z0-9._-]+))?)[ \t\r\n]*$")
    set(ERROR "build-version holds no version.")
  else()
    set(VERSION "${CMAKE_MATCH_1}")
    set(RELEASE "${CMAKE_MATCH_2}")
    set(KIND UNKNOWN)
    string(TOLOWER "${CMAKE_MATCH_5}" local)
    if(local MATCHES "^cu([0-9]+)([._-]|$)")
      set(digits "${CMAKE_MATCH_1}")
      if(digits MATCHES "^([1-9][0-9]|[7-9])(0|[1-9][0-9]?)$")
        set(KIND CUDA)
        set(CUDA "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
      else()
        set(ERROR "build-version names no CUDA version that can be read from +cu${digits}.")
      endif()
    elseif(local MATCHES "^rocm([0-9]+\\.[0-9]+(\\.[0-9]+)*)")
      set(KIND HIP)
      set(HIP "${CMAKE_MATCH_1}")
    elseif(local MATCHES "^(cpu|xpu)([._-]|$)")
      set(KIND CPU)
    endif()
  endif()
  foreach(name IN LISTS fields)
    if(NOT ERROR STREQUAL "")
      set(${name} "")
    endif()
    set(${prefix}_${name} "${${name}}" PARENT_SCOPE)
  endforeach()
  set(${prefix}_ERROR "${ERROR}" PARENT_SCOPE)
endfunction()

# _cudaops_read_nvcc_version(<text of nvcc --version> <out-var>)
#
# 13.0.88, or 13.0 where only the release is given, or empty where this is no nvcc. Wrappers print lines of their own
# around the banner.
function(_cudaops_read_nvcc_version text out)
  set(version "")
  if("${text}" MATCHES "Cuda compilation tools, release ([0-9]+\\.[0-9]+)(, V([0-9]+\\.[0-9]+(\\.[0-9]+)*))?")
    set(version "${CMAKE_MATCH_1}")
    set(full "${CMAKE_MATCH_3}")
    string(FIND "${full}." "${version}." at)
    if(at EQUAL 0)
      set(version "${full}")
    endif()
  endif()
  set(${out} "${version}" PARENT_SCOPE)
endfunction()

# _cudaops_read_requires_toolkit(<text of torch's METADATA> <out-var>)
#
# The toolkit that torch's wheel pins: 13.2.2 from cuda-toolkit[...]==13.2.2. Wheels before torch 2.11 pin the pieces, of
# which the runtime names the toolkit's minor version: 12.8 from nvidia-cuda-runtime-cu12==12.8.90. Empty where nothing
# is pinned. Pins for another system than Linux are passed over.
function(_cudaops_read_requires_toolkit text out)
  set(version "")
  string(REPLACE "\r" "" text "\n${text}")
  # The description follows the first empty line and may quote anything.
  string(FIND "${text}" "\n\n" end)
  if(end GREATER 0)
    string(SUBSTRING "${text}" 0 ${end} text)
  endif()
  string(TOLOWER "${text}\n" text)
  foreach(name IN ITEMS "cuda[-_.]toolkit" "nvidia[-_.]cuda[-_.]runtime([-_.]cu[0-9]+)?")
    set(rest "${text}")
    while(
      rest
        MATCHES
        "\nrequires-dist:[ \t]*${name}[ \t]*(\\[[^]\n]*\\])?[ \t]*\\(?==[ \t]*([0-9]+(\\.[0-9]+)+)[ \t]*\\)?[ \t]*(;[^\n]*)?\n"
    )
      # The name of the runtime holds a group of its own, so the pin is looked for in the line.
      set(line "${CMAKE_MATCH_0}")
      if(NOT line MATCHES ";.*(==[ ]*[\"'](windows|win32|darwin)[\"'])")
        string(REGEX MATCH "==[ \t]*([0-9.]+)" pin "${line}")
        set(version "${CMAKE_MATCH_1}")
        break()
      endif()
      string(FIND "${rest}" "${line}" at)
      string(LENGTH "${line}" length)
      math(EXPR at "${at} + ${length} - 1")
      string(SUBSTRING "${rest}" ${at} -1 rest)
    endwhile()
    if(NOT version STREQUAL "")
      if(name MATCHES "runtime")
        string(REGEX MATCH "^[0-9]+\\.[0-9]+" version "${version}")
      endif()
      break()
    endif()
  endforeach()
  set(${out} "${version}" PARENT_SCOPE)
endfunction()

# _cudaops_torch_cxx_standard(<text of ATen/ATen.h> <out-var>)
#
# The C++ standard that torch's full headers ask for (14, 17, 20, 23), or empty where the header doesn't say.
function(_cudaops_torch_cxx_standard text out)
  set(standard "")
  if("${text}" MATCHES "__cplusplus[ \t]*<[ \t]*(201103|201402|201703|202002|202302)L")
    string(SUBSTRING "${CMAKE_MATCH_1}" 2 2 standard)
  endif()
  set(${out} "${standard}" PARENT_SCOPE)
endfunction()
