# SPDX-License-Identifier: Apache-2.0
# ROCm installations of releases 5.2 to 7.1 without a real clang; they can lack a named piece.

# fake_rocm(<dir> VERSION <x.y[.z]> [LAYOUT OPT|DEBIAN|CONDA] [ARCHS <gfx>...] [GPUS <gfx>...] [WITHOUT <piece>...]
#           [BITCODE <relative dir>] [FAILS <text>])
#
# OPT (default): <dir>/{bin,include,lib,lib/llvm,llvm,amdgcn,share,.info}, as /opt/rocm has them.
# DEBIAN:        <dir>/usr, as Debian's packages fill it: clang++ has its version in its name and finds nothing by
#                itself, libraries and CMake files lie in the multi-arch directory.
# CONDA:         <dir> is the environment's prefix.
# ARCHS:         what there are device libraries for; default: what the compiler knows (DEBIAN: what the package has)
# GPUS:          what rocm_agent_enumerator finds
# BITCODE:       where the device libraries lie, below the prefix, where it isn't the layout's place
# FAILS:         every call of clang++ ends with this text on stderr
# WITHOUT:       COMPILER (clang++) HIPCC DEVICE_LIBS HEADERS (include/hip) HIP_RUNTIME_H RUNTIME (libamdhip64) HIP_LANG
#                VERSION_FILES (.info/version, share/hip/version)
function(fake_rocm dir)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "VERSION;LAYOUT;BITCODE;FAILS" "ARCHS;GPUS;WITHOUT")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_VERSION)
    message(FATAL_ERROR "fake_rocm: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  foreach(piece IN LISTS arg_WITHOUT)
    if(NOT piece MATCHES "^(COMPILER|HIPCC|DEVICE_LIBS|HEADERS|HIP_RUNTIME_H|RUNTIME|HIP_LANG|VERSION_FILES)$")
      message(FATAL_ERROR "fake_rocm: WITHOUT ${piece}")
    endif()
  endforeach()
  if(NOT arg_LAYOUT)
    set(arg_LAYOUT OPT)
  endif()
  _fake_rocm_facts("${arg_VERSION}" rocm)
  set(major "${rocm_MAJOR}")
  set(minor "${rocm_MINOR}")
  set(patch "${rocm_PATCH}")
  set(hip_full "${rocm_HIP}")
  set(clang_archs "${rocm_ARCHS}")
  set(clang_xnack "${rocm_XNACK}")
  set(clang_sramecc "${rocm_SRAMECC}")
  set(clang_default_arch "${rocm_DEFAULT_ARCH}")
  set(clang_version "${rocm_CLANG}")
  set(
    target_id_rule
    "format is a processor name followed by an optional colon-delimited list of features followed by an enable/disable sign (e.g., 'gfx908:sramecc+:xnack-')"
  )
  set(fails "${arg_FAILS}")
  set(cxx "${case_CXX}")
  string(REGEX REPLACE "\\..*" "" clang_major "${clang_version}")

  if(arg_LAYOUT STREQUAL "OPT")
    set(root "${dir}")
    set(lib "${root}/lib")
    set(clang "${root}/lib/llvm/bin/clang++")
    set(clang_resources "\"\${here%/bin}/lib/clang/${clang_major}\"")
    set(bitcode "amdgcn/bitcode")
    set(clang_triple x86_64-unknown-linux-gnu)
    set(
      banner
      "AMD clang version ${clang_version} (roc-${major}.${minor}.${patch} 25000 0000000000000000000000000000000000000000)"
    )
  elseif(arg_LAYOUT STREQUAL "DEBIAN")
    set(root "${dir}/usr")
    set(lib "${root}/lib/x86_64-linux-gnu")
    set(clang "${root}/lib/llvm-${clang_major}/bin/clang++")
    set(clang_resources "'${root}/lib/llvm-${clang_major}/lib/clang/${clang_version}'")
    set(bitcode "lib/x86_64-linux-gnu/amdgcn/bitcode")
    set(clang_triple x86_64-pc-linux-gnu)
    set(banner "Debian clang version ${clang_version}")
    if(NOT arg_ARCHS)
      # rocm-device-libs is older than the compiler.
      set(arg_ARCHS ${rocm_ARCHS})
      list(FILTER arg_ARCHS EXCLUDE REGEX "^gfx1[12]")
    endif()
  elseif(arg_LAYOUT STREQUAL "CONDA")
    set(root "${dir}")
    set(lib "${root}/lib")
    set(clang "${root}/bin/clang++")
    set(clang_resources "'${root}/lib/clang/${clang_major}'")
    set(bitcode "lib/amdgcn/bitcode")
    set(clang_triple x86_64-conda-linux-gnu)
    set(banner "clang version ${clang_version}")
    file(
      WRITE "${root}/conda-meta/hip-${rocm_HIP_RELEASE}-0.json"
      "{\"name\": \"hip\", \"version\": \"${rocm_HIP_RELEASE}\"}\n"
    )
  else()
    message(FATAL_ERROR "fake_rocm: LAYOUT ${arg_LAYOUT}")
  endif()
  if(arg_BITCODE)
    set(bitcode "${arg_BITCODE}")
  endif()
  if(NOT arg_ARCHS)
    set(arg_ARCHS ${rocm_ARCHS})
  endif()
  list(JOIN clang_archs " " clang_archs)
  list(JOIN clang_xnack " " clang_xnack)
  list(JOIN clang_sramecc " " clang_sramecc)

  # Programs
  set(
    find_here
    "case $0 in */*) self=$0 ;; *) self=$(command -v \"$0\") ;; esac\nhere=$(cd \"$(dirname \"$(readlink -f \"$self\")\")\" && pwd)"
  )
  set(hipcc_root "\${here%/bin}")
  set(hipcc_clang "\${here%/bin}/bin/clang++")
  if(arg_LAYOUT STREQUAL "OPT")
    set(hipcc_clang "\${here%/bin}/lib/llvm/bin/clang++")
  elseif(arg_LAYOUT STREQUAL "DEBIAN")
    set(hipcc_clang "\${here%/bin}/bin/clang++-${clang_major}")
  endif()
  if(NOT "COMPILER" IN_LIST arg_WITHOUT)
    _fake_program("${case_TESTS_DIR}/fakes/hip_clang.sh.in" "${clang}")
    cmake_path(GET clang PARENT_PATH bin)
    if(arg_LAYOUT STREQUAL "OPT")
      file(MAKE_DIRECTORY "${root}/bin")
      file(CREATE_LINK lib/llvm "${root}/llvm" SYMBOLIC)
      file(CREATE_LINK clang++ "${bin}/amdclang++" SYMBOLIC)
      file(CREATE_LINK ../lib/llvm/bin/amdclang++ "${root}/bin/amdclang++" SYMBOLIC)
    elseif(arg_LAYOUT STREQUAL "DEBIAN")
      file(MAKE_DIRECTORY "${root}/bin")
      file(CREATE_LINK ../lib/llvm-${clang_major}/bin/clang++ "${root}/bin/clang++-${clang_major}" SYMBOLIC)
    endif()
  endif()
  if(NOT "HIPCC" IN_LIST arg_WITHOUT)
    _fake_program("${case_TESTS_DIR}/fakes/hipcc.sh.in" "${root}/bin/hipcc")
    _fake_program("${case_TESTS_DIR}/fakes/hipconfig.sh.in" "${root}/bin/hipconfig")
  endif()
  set(text "#!/bin/sh\n")
  if(arg_LAYOUT STREQUAL "DEBIAN" AND NOT arg_GPUS)
    string(
      APPEND text
      "echo 'Traceback (most recent call last):' >&2\n"
      "echo \"FileNotFoundError: [Errno 2] No such file or directory: '/sys/class/kfd/kfd/topology/nodes/'\" >&2\n"
      "exit 1\n"
    )
  else()
    string(APPEND text "echo gfx000\n")
    foreach(gpu IN LISTS arg_GPUS)
      string(APPEND text "echo '${gpu}'\n")
    endforeach()
  endif()
  _fake_rocm_script("${root}/bin/rocm_agent_enumerator" "${text}")

  # Headers
  if(NOT "HEADERS" IN_LIST arg_WITHOUT)
    string(REGEX MATCH "^([0-9]+)\\.([0-9]+)\\.([0-9]+)" matched "${rocm_HIP}")
    string(
      CONCAT text
      "#ifndef HIP_VERSION_H\n#define HIP_VERSION_H\n\n"
      "#define HIP_VERSION_MAJOR ${CMAKE_MATCH_1}\n"
      "#define HIP_VERSION_MINOR ${CMAKE_MATCH_2}\n"
      "#define HIP_VERSION_PATCH ${CMAKE_MATCH_3}\n"
      "#define HIP_VERSION_GITHASH \"\"\n"
      "#define HIP_VERSION    (HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH)\n\n#endif\n"
    )
    file(WRITE "${root}/include/hip/hip_version.h" "${text}")
    configure_file("${case_TESTS_DIR}/fakes/hip_runtime_api.h.in" "${root}/include/hip/hip_runtime_api.h" COPYONLY)
    if(NOT "HIP_RUNTIME_H" IN_LIST arg_WITHOUT)
      configure_file("${case_TESTS_DIR}/fakes/hip_runtime.h.in" "${root}/include/hip/hip_runtime.h" COPYONLY)
    endif()
    foreach(header IN ITEMS hip_fp16.h hip_bf16.h hip_bfloat16.h hip_cooperative_groups.h)
      file(WRITE "${root}/include/hip/${header}" "#pragma once\n#include <hip/hip_runtime.h>\n")
    endforeach()
    if(arg_LAYOUT STREQUAL "OPT")
      file(
        WRITE "${root}/include/rocm-core/rocm_version.h"
        "#pragma once\n#define ROCM_VERSION_MAJOR   ${major}\n#define ROCM_VERSION_MINOR   ${minor}\n#define ROCM_VERSION_PATCH   ${patch}\n"
      )
    endif()
  endif()
  if(NOT "VERSION_FILES" IN_LIST arg_WITHOUT AND NOT arg_LAYOUT STREQUAL "DEBIAN")
    string(REGEX MATCH "^([0-9]+)\\.([0-9]+)\\.([0-9]+)" matched "${rocm_HIP}")
    file(
      WRITE "${root}/share/hip/version"
      "HIP_VERSION_MAJOR=${CMAKE_MATCH_1}\nHIP_VERSION_MINOR=${CMAKE_MATCH_2}\nHIP_VERSION_PATCH=${CMAKE_MATCH_3}\n"
    )
    if(arg_LAYOUT STREQUAL "OPT")
      file(WRITE "${root}/.info/version" "${major}.${minor}.${patch}-47\n")
    endif()
  endif()

  # Libraries and device libraries
  set(soname libamdhip64.so.${major})
  if(NOT "RUNTIME" IN_LIST arg_WITHOUT)
    fake_library("${lib}/libamdhip64.so.${rocm_HIP_RELEASE}" SONAME ${soname})
    file(CREATE_LINK libamdhip64.so.${rocm_HIP_RELEASE} "${lib}/${soname}" SYMBOLIC)
    file(CREATE_LINK ${soname} "${lib}/libamdhip64.so" SYMBOLIC)
  endif()
  file(MAKE_DIRECTORY "${lib}/cmake")
  if(NOT "DEVICE_LIBS" IN_LIST arg_WITHOUT)
    foreach(
      name
      IN
      ITEMS ocml ockl hip opencl oclc_abi_version_400 oclc_abi_version_500
    )
      file(WRITE "${root}/${bitcode}/${name}.bc" "BC")
    endforeach()
    foreach(arch IN LISTS arg_ARCHS)
      string(REGEX REPLACE "^gfx" "" isa "${arch}")
      file(WRITE "${root}/${bitcode}/oclc_isa_version_${isa}.bc" "BC")
    endforeach()
    file(WRITE "${root}/lib/cmake/AMDDeviceLibs/AMDDeviceLibsConfig.cmake" "set(AMD_DEVICE_LIBS_TARGETS \"\")\n")
  endif()
  file(WRITE "${lib}/cmake/amd_comgr/amd_comgr-config.cmake" "# nothing in it is used\n")

  # CMake's files. Those of releases before 5.5 look for what they need where CMake looks by itself, which holds for /usr
  # only.
  if(NOT "HIP_LANG" IN_LIST arg_WITHOUT)
    set(hints " HINTS \"\${_IMPORT_PREFIX}\"")
    if(arg_LAYOUT STREQUAL "OPT" AND arg_VERSION VERSION_LESS 5.5)
      set(hints "")
    endif()
    cmake_path(RELATIVE_PATH root BASE_DIRECTORY "${lib}/cmake/hip-lang" OUTPUT_VARIABLE up)
    set(runtime "libamdhip64.so.${rocm_HIP_RELEASE}")
    string(
      CONCAT text
      "include(CMakeFindDependencyMacro)\n"
      "get_filename_component(_DIR \"\${CMAKE_CURRENT_LIST_DIR}\" REALPATH)\n"
      "get_filename_component(_IMPORT_PREFIX \"\${_DIR}/${up}\" REALPATH)\n"
      "find_dependency(AMDDeviceLibs${hints})\n"
      "find_dependency(amd_comgr${hints})\n"
      "include(\"\${CMAKE_CURRENT_LIST_DIR}/hip-lang-targets.cmake\")\n"
      "set_target_properties(hip-lang::device PROPERTIES\n"
      "  INTERFACE_INCLUDE_DIRECTORIES \"\$<\$<COMPILE_LANGUAGE:HIP>:\${_IMPORT_PREFIX}/include>\"\n"
      "  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES \"\$<\$<COMPILE_LANGUAGE:HIP>:\${_IMPORT_PREFIX}/include>\"\n"
      "  INTERFACE_COMPILE_DEFINITIONS \"\$<\$<COMPILE_LANGUAGE:HIP>:__HIP_ROCclr__=1>\"\n"
      "  INTERFACE_LINK_OPTIONS \"\$<\$<LINK_LANGUAGE:HIP>:--hip-link>\"\n"
      ")\n"
      "set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET hip-lang::device)\n"
    )
    file(WRITE "${lib}/cmake/hip-lang/hip-lang-config.cmake" "${text}")
    cmake_path(RELATIVE_PATH lib BASE_DIRECTORY "${root}" OUTPUT_VARIABLE lib_name)
    string(
      CONCAT text
      "add_library(hip-lang::amdhip64 SHARED IMPORTED)\n"
      "add_library(hip-lang::host INTERFACE IMPORTED)\n"
      "set_target_properties(hip-lang::host PROPERTIES INTERFACE_LINK_LIBRARIES hip-lang::amdhip64)\n"
      "add_library(hip-lang::device INTERFACE IMPORTED)\n"
      "set_target_properties(hip-lang::device PROPERTIES INTERFACE_LINK_LIBRARIES hip-lang::host)\n"
      "set_target_properties(hip-lang::amdhip64 PROPERTIES\n"
      "  IMPORTED_LOCATION \"\${_IMPORT_PREFIX}/${lib_name}/${runtime}\" IMPORTED_SONAME ${soname})\n"
      "if(NOT EXISTS \"\${_IMPORT_PREFIX}/${lib_name}/${runtime}\")\n"
      "  message(FATAL_ERROR \"The imported target \\\"hip-lang::amdhip64\\\" references the file\n"
      "   \\\"\${_IMPORT_PREFIX}/${lib_name}/${runtime}\\\"\nbut this file does not exist.\")\n"
      "endif()\n"
    )
    file(WRITE "${lib}/cmake/hip-lang/hip-lang-targets.cmake" "${text}")
  endif()
endfunction()

# _fake_rocm_facts(<x.y[.z]> <prefix>): what a release of ROCm holds. _MAJOR _MINOR _PATCH of ROCm, _HIP (as hipcc and
# torch say it), _HIP_RELEASE (as the library is called), _CLANG, and the processors that this clang knows.
function(_fake_rocm_facts version prefix)
  string(REGEX MATCH "^([0-9]+)\\.([0-9]+)(\\.([0-9]+))?$" matched "${version}")
  if(NOT matched)
    message(FATAL_ERROR "fake_rocm: VERSION ${version}")
  endif()
  set(release "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
  set(${prefix}_MAJOR "${CMAKE_MATCH_1}" PARENT_SCOPE)
  set(${prefix}_MINOR "${CMAKE_MATCH_2}" PARENT_SCOPE)
  set(patch 0)
  if(NOT "${CMAKE_MATCH_4}" STREQUAL "")
    set(patch "${CMAKE_MATCH_4}")
  endif()
  set(${prefix}_PATCH "${patch}" PARENT_SCOPE)
  # release, number and hash of HIP, clang
  set(
    known
    "5.2|21153-0|15.0.6"
    "5.4|22804-474e8620|15.0.0"
    "5.7|31921-1949b1621|17.0.0"
    "6.0|32831-204d35d16|17.0.0"
    "6.2|41133-dd7f95766|18.0.0git"
    "6.3|42131-fa1d09cbd|18.0.0git"
    "6.4|43482-0f2d60242|19.0.0git"
    "7.0|51831-7c9236b16|20.0.0git"
    "7.1|25424-4179531dcd|20.0.0git"
  )
  set(number "1000-000000000")
  set(clang 17.0.0)
  if(release VERSION_GREATER 7.1)
    set(clang 20.0.0git)
  endif()
  foreach(row IN LISTS known)
    if(row MATCHES "^${release}\\|(.*)\\|(.*)$")
      set(number "${CMAKE_MATCH_1}")
      set(clang "${CMAKE_MATCH_2}")
    endif()
  endforeach()
  set(${prefix}_HIP "${release}.${number}" PARENT_SCOPE)
  string(REGEX REPLACE "-.*" "" number "${number}")
  set(${prefix}_HIP_RELEASE "${release}.${number}" PARENT_SCOPE)
  set(${prefix}_CLANG "${clang}" PARENT_SCOPE)
  # In lines, as the compiler's generations brought them.
  string(
    CONCAT archs
    "gfx801 gfx802 gfx803 gfx805 gfx810 gfx900 gfx902 gfx904 gfx906 gfx908 gfx909 gfx90a gfx90c "
    "gfx1010 gfx1011 gfx1012 gfx1013 gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 "
    "gfx1100 gfx1101 gfx1102 gfx1103"
  )
  set(xnack "gfx801 gfx810 gfx900 gfx902 gfx904 gfx906 gfx908 gfx909 gfx90a gfx90c gfx1010 gfx1011 gfx1012 gfx1013")
  set(sramecc "gfx906 gfx908 gfx90a")
  set(default_arch gfx803)
  if(clang VERSION_LESS 20)
    string(APPEND archs " gfx940")
    string(APPEND xnack " gfx940")
    string(APPEND sramecc " gfx940")
  endif()
  if(clang VERSION_GREATER_EQUAL 17)
    string(APPEND archs " gfx942 gfx1150 gfx1151")
    string(APPEND xnack " gfx942")
    string(APPEND sramecc " gfx942")
  endif()
  if(clang VERSION_GREATER_EQUAL 18)
    string(APPEND archs " gfx1200 gfx1201")
  endif()
  if(clang VERSION_GREATER_EQUAL 19)
    string(APPEND archs " gfx950")
    string(APPEND xnack " gfx950")
    string(APPEND sramecc " gfx950")
    set(default_arch gfx906)
  endif()
  foreach(name IN ITEMS archs xnack sramecc)
    string(REPLACE " " ";" value "${${name}}")
    string(TOUPPER ${name} upper)
    set(${prefix}_${upper} "${value}" PARENT_SCOPE)
  endforeach()
  set(${prefix}_DEFAULT_ARCH "${default_arch}" PARENT_SCOPE)
endfunction()

# fake_fatbin(<file> <gfx>...): a library whose .hip_fatbin holds code objects for these processors, as libtorch_hip.so
# does.
function(fake_fatbin file)
  set(clang "${case_DIR}/.fatbin/lib/llvm/bin/clang++")
  if(NOT EXISTS "${clang}")
    fake_rocm("${case_DIR}/.fatbin" VERSION 7.0)
  endif()
  cmake_path(GET file FILENAME name)
  cmake_path(GET file PARENT_PATH dir)
  file(MAKE_DIRECTORY "${dir}")
  file(WRITE "${case_DIR}/.fatbin/${name}.hip" "\n")
  set(options "")
  foreach(arch IN LISTS ARGN)
    list(APPEND options "--offload-arch=${arch}")
  endforeach()
  get_property(path GLOBAL PROPERTY case_ENVIRONMENT_PATH)
  foreach(
    step
    IN
    ITEMS "-x hip -fPIC -c ${name}.hip -o ${name}.o" "-shared -nostdlib -Wl,-soname,${name} ${name}.o -o ${name}"
  )
    separate_arguments(step NATIVE_COMMAND "${step}")
    execute_process(
      COMMAND "${CMAKE_COMMAND}" -E env "PATH=${case_TOOLS_DIR}" "${clang}" ${options} ${step}
      WORKING_DIRECTORY "${case_DIR}/.fatbin"
      COMMAND_ERROR_IS_FATAL ANY
    )
  endforeach()
  file(COPY_FILE "${case_DIR}/.fatbin/${name}" "${file}")
endfunction()

function(_fake_rocm_script file text)
  file(WRITE "${file}" "${text}")
  file(
    CHMOD "${file}"
    PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE
  )
endfunction()
