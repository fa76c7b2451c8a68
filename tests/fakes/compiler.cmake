# SPDX-License-Identifier: Apache-2.0
# Host compilers of other releases.

# fake_gnu(<file> VERSION <x.y.z> [GLIBC <x.y>])
#
# The machine's C++ compiler under another release number. It says so to CMake's identification and, through a macro, to
# a fake toolkit's crt/host_config.h; the system's headers see the real one. GLIBC: what it answers when asked for its
# macros (-dM).
function(fake_gnu file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "VERSION;GLIBC" "")
  if(NOT arg_VERSION MATCHES "^[0-9]+\\.[0-9]+\\.[0-9]+$")
    message(FATAL_ERROR "fake_gnu: VERSION ${arg_VERSION}")
  endif()
  set(macros "")
  if(arg_GLIBC MATCHES "^([0-9]+)\\.([0-9]+)$")
    set(
      macros
      "case \" $* \" in *' -dM '*) echo '#define __GLIBC__ ${CMAKE_MATCH_1}'; echo '#define __GLIBC_MINOR__ ${CMAKE_MATCH_2}'; exit ;; esac\n"
    )
  endif()
  string(REGEX MATCH "^([0-9]+)\\.([0-9]+)\\.([0-9]+)$" matched "${arg_VERSION}")
  string(
    CONCAT text
    "#!/bin/sh\n"
    "case $1 in\n"
    "  -dumpversion) echo ${CMAKE_MATCH_1}; exit ;;\n"
    "  -dumpfullversion) echo ${arg_VERSION}; exit ;;\n"
    "  --version) echo 'g++ (stand-in) ${arg_VERSION}'; echo 'Copyright (C) Free Software Foundation, Inc.'; exit ;;\n"
    "esac\n"
    "${macros}"
    "case \" $* \" in *CompilerId*) set -- -Wno-builtin-macro-redefined -U__GNUC__ -U__GNUC_MINOR__ -U__GNUC_PATCHLEVEL__ "
    "-D__GNUC__=${CMAKE_MATCH_1} -D__GNUC_MINOR__=${CMAKE_MATCH_2} -D__GNUC_PATCHLEVEL__=${CMAKE_MATCH_3} \"$@\" ;; esac\n"
    "exec '${case_CXX}' -DFAKE_GNUC=${CMAKE_MATCH_1} \"$@\"\n"
  )
  file(WRITE "${file}" "${text}")
  file(
    CHMOD "${file}"
    PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE
  )
endfunction()
