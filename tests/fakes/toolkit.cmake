# SPDX-License-Identifier: Apache-2.0
# Toolkits that answer like nvcc 10.1 to 13.2 and can be broken in a named way.

# fake_toolkit(<dir> VERSION <x.y> [LAYOUT SYSTEM|CONDA|PIP] [WITHOUT <piece>...] [FAILS <text>]
#              [REAL_BOUNDS] [PTXAS_VERSION|CICC_VERSION|CRT_VERSION|HEADERS_VERSION <x.y>])
#
# SYSTEM (default): <dir>/bin/nvcc, nvvm, include, lib64, version.json, as /usr/local/cuda has them.
# CONDA:            <dir> is the environment's prefix; headers and libraries only under targets/x86_64-linux.
# PIP:              <dir> is a site-packages; <dir>/nvidia/cu<major>/{bin,nvvm,include,lib} and the dist-info folders.
# WITHOUT:          NVCC PTXAS CICC HEADERS CRT CUDART (libcudart_static.a) PROFILE (nvcc.profile)
# FAILS:            every call of nvcc ends with this text on stderr
# REAL_BOUNDS:      crt/host_config.h refuses the compilers that this release refuses; else it takes whatever this
#                   machine has, so that a case about something else doesn't depend on it
# <piece>_VERSION:  the release of that piece, where it isn't nvcc's
function(fake_toolkit dir)
  cmake_parse_arguments(
    PARSE_ARGV 1
    arg
    "REAL_BOUNDS"
    "VERSION;LAYOUT;FAILS;PTXAS_VERSION;CICC_VERSION;CRT_VERSION;HEADERS_VERSION"
    "WITHOUT"
  )
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_VERSION)
    message(FATAL_ERROR "fake_toolkit: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(release "${arg_VERSION}")
  _fake_toolkit_facts("${release}" full archs suffixed gnu clang)
  if(NOT arg_REAL_BOUNDS)
    set(gnu 99)
    set(clang 99)
  endif()
  foreach(piece IN ITEMS PTXAS CICC CRT HEADERS)
    if(NOT arg_${piece}_VERSION)
      set(arg_${piece}_VERSION "${release}")
    endif()
    _fake_toolkit_full("${arg_${piece}_VERSION}" full_${piece})
  endforeach()
  string(REGEX REPLACE "\\..*" "" major "${release}")

  set(root "${dir}")
  set(include "${dir}/include")
  set(lib "${dir}/lib64")
  if(arg_LAYOUT STREQUAL "CONDA")
    set(include "${dir}/targets/x86_64-linux/include")
    set(lib "${dir}/targets/x86_64-linux/lib")
    file(MAKE_DIRECTORY "${dir}/lib")
    file(WRITE "${dir}/conda-meta/cuda-nvcc-${full}-0.json" "{\"name\": \"cuda-nvcc\", \"version\": \"${full}\"}\n")
  elseif(arg_LAYOUT STREQUAL "PIP")
    set(root "${dir}/nvidia/cu${major}")
    set(include "${root}/include")
    set(lib "${root}/lib")
    foreach(wheel IN ITEMS cuda_nvcc|${full} nvvm|${full_CICC} cuda_crt|${full_CRT} cuda_runtime|${full_HEADERS})
      string(REPLACE "|" ";" wheel "${wheel}")
      list(GET wheel 0 name)
      list(GET wheel 1 version)
      file(
        WRITE "${dir}/nvidia_${name}-${version}.dist-info/METADATA"
        "Metadata-Version: 2.1\nName: nvidia-${name}\nVersion: ${version}\n"
      )
    endforeach()
  elseif(arg_LAYOUT AND NOT arg_LAYOUT STREQUAL "SYSTEM")
    message(FATAL_ERROR "fake_toolkit: LAYOUT ${arg_LAYOUT}")
  else()
    file(
      WRITE "${root}/version.json"
      "{\n  \"cuda\": {\"name\": \"CUDA SDK\", \"version\": \"${full}\"},\n  \"cuda_nvcc\": {\"name\": \"CUDA NVCC\", \"version\": \"${full}\"}\n}\n"
    )
  endif()

  # nvcc and its helpers
  list(GET archs 0 default_arch)
  if(release VERSION_GREATER_EQUAL 11.0 AND release VERSION_LESS 13.0)
    set(default_arch 52)
  endif()
  list(JOIN archs " " archs)
  list(JOIN suffixed " " suffixed)
  set(list_option "")
  if(release VERSION_GREATER_EQUAL 11.1)
    set(list_option 1)
  endif()
  set(refusal "")
  if(arg_CICC_VERSION VERSION_GREATER arg_PTXAS_VERSION)
    _fake_toolkit_ptx("${arg_CICC_VERSION}" ptx)
    _fake_toolkit_ptx("${arg_PTXAS_VERSION}" ptx_max)
    set(refusal "ptxas a.ptx, line 9; fatal   : Unsupported .version ${ptx}; current version is ${ptx_max}")
  endif()
  set(fails "${arg_FAILS}")
  if(NOT "NVCC" IN_LIST arg_WITHOUT)
    _fake_program("${case_TESTS_DIR}/fakes/nvcc.sh.in" "${root}/bin/nvcc")
    foreach(tool IN ITEMS cudafe++ fatbinary nvlink)
      _fake_tool("${root}/bin/${tool}" "${full}")
    endforeach()
  endif()
  if(NOT "PROFILE" IN_LIST arg_WITHOUT AND NOT "NVCC" IN_LIST arg_WITHOUT)
    file(WRITE "${root}/bin/nvcc.profile" "TOP = $(_HERE_)/..\n")
  endif()
  if(NOT "PTXAS" IN_LIST arg_WITHOUT AND NOT "NVCC" IN_LIST arg_WITHOUT)
    _fake_tool("${root}/bin/ptxas" "${full_PTXAS}")
  endif()
  if(NOT "CICC" IN_LIST arg_WITHOUT AND NOT "NVCC" IN_LIST arg_WITHOUT)
    _fake_tool("${root}/nvvm/bin/cicc" "${full_CICC}")
    file(WRITE "${root}/nvvm/libdevice/libdevice.10.bc" "")
  endif()

  # headers and libraries
  if(NOT "HEADERS" IN_LIST arg_WITHOUT)
    string(REGEX MATCH "^([0-9]+)\\.([0-9]+)" matched "${arg_HEADERS_VERSION}")
    math(EXPR number "${CMAKE_MATCH_1} * 1000 + ${CMAKE_MATCH_2} * 10")
    configure_file("${case_TESTS_DIR}/fakes/cuda_runtime.h.in" "${include}/cuda_runtime.h" @ONLY)
    configure_file("${case_TESTS_DIR}/fakes/cuda_runtime_api.h.in" "${include}/cuda_runtime_api.h" @ONLY)
    file(WRITE "${include}/cuda.h" "#pragma once\n#define CUDA_VERSION ${number}\n")
    if(release VERSION_GREATER_EQUAL 13.0)
      file(WRITE "${include}/cccl/thrust/complex.h" "#pragma once\n")
    else()
      file(WRITE "${include}/thrust/complex.h" "#pragma once\n")
    endif()
    if(NOT "CRT" IN_LIST arg_WITHOUT)
      configure_file("${case_TESTS_DIR}/fakes/host_config.h.in" "${include}/crt/host_config.h" @ONLY)
    endif()
  endif()
  file(MAKE_DIRECTORY "${lib}/stubs")
  # An archive without members.
  file(WRITE "${lib}/libcudadevrt.a" "!<arch>\n")
  if(NOT "CUDART" IN_LIST arg_WITHOUT)
    file(WRITE "${lib}/libcudart_static.a" "!<arch>\n")
  endif()
  fake_library("${lib}/libcudart.so.${major}")
  if(NOT arg_LAYOUT STREQUAL "PIP")
    file(CREATE_LINK "libcudart.so.${major}" "${lib}/libcudart.so" SYMBOLIC)
    fake_library("${lib}/stubs/libcuda.so" SONAME libcuda.so.1)
  endif()
endfunction()

# fake_library(<file> [SONAME <name>]): a shared library with nothing in it, made once for each SONAME.
function(fake_library file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SONAME" "")
  cmake_path(GET file FILENAME name)
  cmake_path(GET file PARENT_PATH dir)
  if(NOT arg_SONAME)
    set(arg_SONAME "${name}")
  endif()
  set(kept "${case_TOOLS_DIR}/../libraries/${arg_SONAME}")
  if(NOT EXISTS "${kept}")
    # Cases run at the same time: made under another name, then renamed.
    string(RANDOM LENGTH 8 tag)
    file(MAKE_DIRECTORY "${case_TOOLS_DIR}/../libraries")
    execute_process(
      COMMAND "${case_CXX}" -shared -nostdlib "-Wl,-soname,${arg_SONAME}" -o "${kept}.${tag}" -x c /dev/null
      COMMAND_ERROR_IS_FATAL ANY
    )
    file(RENAME "${kept}.${tag}" "${kept}")
  endif()
  file(MAKE_DIRECTORY "${dir}")
  file(COPY_FILE "${kept}" "${file}")
endfunction()

function(_fake_program template file)
  configure_file("${template}" "${file}" @ONLY USE_SOURCE_PERMISSIONS)
  file(
    CHMOD "${file}"
    PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE
  )
endfunction()

# ptxas and the like: they answer --version.
function(_fake_tool file full)
  cmake_path(GET file FILENAME name)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" release "${full}")
  set(text "#!/bin/sh\n")
  if(name STREQUAL "cicc")
    # cicc has no --version; its release stands in the file.
    string(APPEND text "# Cuda compilation tools, release ${release}, V${full}\necho 'Missing input file'\n")
  else()
    string(
      APPEND text
      "echo '${name}: NVIDIA (R) stand-in'\necho 'Cuda compilation tools, release ${release}, V${full}'\n"
    )
  endif()
  file(WRITE "${file}" "${text}")
  file(
    CHMOD "${file}"
    PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE
  )
endfunction()

# The full version of a release, as the last update of each has it; an unknown release gets a made-up third number.
function(_fake_toolkit_full release out)
  set(
    known
    10.1.243
    11.2.152
    11.3.109
    11.5.119
    11.8.89
    12.1.105
    12.4.131
    12.6.85
    12.8.93
    12.9.86
    13.0.88
    13.2.78
    13.5.20
  )
  set(${out} "${release}.99" PARENT_SCOPE)
  foreach(full IN LISTS known)
    if(full MATCHES "^${release}\\.[0-9]+$")
      set(${out} "${full}" PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# The PTX version that cicc of a release writes.
function(_fake_toolkit_ptx release out)
  string(REGEX MATCH "^([0-9]+)\\.([0-9]+)" matched "${release}")
  set(minor "${CMAKE_MATCH_2}")
  if(release VERSION_GREATER_EQUAL 13.0)
    set(${out} "9.${minor}" PARENT_SCOPE)
  elseif(release VERSION_GREATER_EQUAL 12.5)
    math(EXPR minor "${minor} - 1")
    set(${out} "8.${minor}" PARENT_SCOPE)
  else()
    set(${out} "8.${minor}" PARENT_SCOPE)
  endif()
endfunction()

# What nvcc of a release can build and which compilers it takes.
function(
  _fake_toolkit_facts
  release
  out_full
  out_archs
  out_suffixed
  out_gnu
  out_clang
)
  _fake_toolkit_full("${release}" full)
  set(${out_full} "${full}" PARENT_SCOPE)
  set(suffixed "")
  if(release VERSION_GREATER_EQUAL 13.0)
    set(
      archs
      75
      80
      86
      87
      88
      89
      90
      100
      110
      103
      120
      121
    )
    set(
      suffixed
      90a
      100a
      100f
      103a
      103f
      110a
      110f
      120a
      120f
      121a
      121f
    )
    set(gnu 15)
    set(clang 21)
  elseif(release VERSION_GREATER_EQUAL 12.0)
    set(
      archs
      50
      52
      53
      60
      61
      62
      70
      72
      75
      80
      86
      87
      89
      90
    )
    set(suffixed 90a)
    set(gnu 12)
    set(clang 15)
    if(release VERSION_GREATER_EQUAL 12.9)
      list(
        APPEND archs
        100
        101
        103
        120
        121
      )
      list(
        APPEND suffixed
        100a
        100f
        101a
        101f
        103a
        103f
        120a
        120f
        121a
        121f
      )
    elseif(release VERSION_GREATER_EQUAL 12.8)
      list(APPEND archs 100 101 120)
      list(APPEND suffixed 100a 101a 120a)
    endif()
    if(release VERSION_GREATER_EQUAL 12.8)
      set(gnu 14)
      set(clang 20)
    elseif(release VERSION_GREATER_EQUAL 12.4)
      set(gnu 13)
      set(clang 18)
    endif()
  else()
    set(
      archs
      35
      37
      50
      52
      53
      60
      61
      62
      70
      72
      75
    )
    set(gnu 8)
    set(clang 9)
    if(release VERSION_GREATER_EQUAL 11.1)
      list(APPEND archs 80 86)
      set(gnu 10)
      set(clang 12)
    endif()
    if(release VERSION_GREATER_EQUAL 11.5)
      list(APPEND archs 87)
      set(gnu 11)
      set(clang 13)
    endif()
    if(release VERSION_GREATER_EQUAL 11.8)
      list(APPEND archs 89 90)
      set(clang 15)
    endif()
  endif()
  set(${out_archs} "${archs}" PARENT_SCOPE)
  set(${out_suffixed} "${suffixed}" PARENT_SCOPE)
  set(${out_gnu} "${gnu}" PARENT_SCOPE)
  set(${out_clang} "${clang}" PARENT_SCOPE)
endfunction()
