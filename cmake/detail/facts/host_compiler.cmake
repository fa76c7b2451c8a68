# SPDX-License-Identifier: Apache-2.0
# Which host compiler and which C library a toolkit takes, read from the toolkit's own headers: hand-kept tables have
# refused pairs that work. Pure: text in, values out. Text that isn't understood gives no bound, so never a refusal.

# _cudaops_host_config_bounds(<text of crt/host_config.h> <out-prefix>)
#
#   _GNU_MAX    newest gcc that is accepted, as a major version (15: every 15.x fits), or major.minor in old toolkits
#   _CLANG_MIN  oldest clang that is accepted (3.3 where the header refuses "3.2 and older")
#   _CLANG_MAX  newest clang that is accepted, as a major version (20 where the header refuses ">= 21")
#   _REFUSED    compiler ids of CMake's that the header refuses whatever their version (Intel, IntelLLVM)
#   _BOUNDS     all of them as keyword arguments for _cudaops_host_compiler_fits and _check
# Empty where the header has no such bound. The conditions count, not the sentences behind #error: 12.2 and 12.3 say
# "less than 16" there and accept clang 16.
function(_cudaops_host_config_bounds text prefix)
  set(GNU_MAX "")
  set(CLANG_MIN "")
  set(CLANG_MAX "")
  set(REFUSED "")
  # No list function may see these, and a condition may be continued on the next line.
  string(REGEX REPLACE "[];[\r]" "" text "${text}")
  string(REGEX REPLACE "\\\\[ \t]*\n" " " text "${text}")

  set(families GNU clang)
  set(majors gnuc clang_major)
  set(minors gnuc_minor clang_minor)
  foreach(family major minor IN ZIP_LISTS families majors minors)
    # The check stands in the #if just before its #error. Other clangs (HOS, Grace) have sentences of their own.
    if(NOT text MATCHES "#[ \t]*if([^\n]*)\n[ \t\n]*#[ \t]*error[^a-zA-Z\n]*unsupported ${family} version")
      continue()
    endif()
    string(TOLOWER "${CMAKE_MATCH_1}" condition)
    string(REGEX REPLACE "/\\*[^/]*\\*/|//.*" "" condition "${condition}")
    string(REGEX REPLACE "[ \t()]" "" condition "${condition}")
    string(REPLACE "||" ";" terms "${condition}")
    set(min "")
    set(max "")
    set(min_minor "")
    set(max_minor "")
    # Every term of an "or" refuses on its own, so a term that isn't understood may be passed over.
    foreach(term IN LISTS terms)
      if(term MATCHES "^__${major}__>(=?)([0-9][0-9]?[0-9]?)$")
        set(bound "${CMAKE_MATCH_2}")
        if(CMAKE_MATCH_1 STREQUAL "=")
          math(EXPR bound "${bound} - 1")
        endif()
        if(max STREQUAL "" OR bound VERSION_LESS max)
          set(max "${bound}")
        endif()
      elseif(term MATCHES "^__${major}__<([0-9][0-9]?[0-9]?)$")
        set(bound "${CMAKE_MATCH_1}")
        if(min STREQUAL "" OR bound VERSION_GREATER min)
          set(min "${bound}")
        endif()
      elseif(term MATCHES "^__${major}__==([0-9][0-9]?[0-9]?)&&__${minor}__>([0-9][0-9]?)$")
        set(max_minor "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
      elseif(term MATCHES "^__${major}__==([0-9][0-9]?[0-9]?)&&__${minor}__<([0-9][0-9]?)$")
        set(min_minor "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
      endif()
    endforeach()
    # A term on minor versions narrows the bound of that very major; alone it would be a hole, not a bound.
    foreach(bound IN ITEMS min max)
      string(REGEX MATCH "^[0-9]+" of "${${bound}_minor}")
      if(NOT of STREQUAL "" AND of STREQUAL "${${bound}}")
        set(${bound} "${${bound}_minor}")
      endif()
    endforeach()
    if(max STREQUAL "" OR NOT max VERSION_GREATER 0)
      continue()
    endif()
    if(family STREQUAL "GNU")
      set(GNU_MAX "${max}")
    elseif(min STREQUAL "" OR NOT min VERSION_GREATER max)
      set(CLANG_MIN "${min}")
      set(CLANG_MAX "${max}")
    endif()
  endforeach()

  if(text MATCHES "#[ \t]*if[ \t]+defined\\(__ICC\\)[ \t]*\n[ \t\n]*#[ \t]*error")
    list(APPEND REFUSED Intel)
  endif()
  if(text MATCHES "#[ \t]*if[ \t]+defined\\(__INTEL_CLANG_COMPILER\\)[ \t]*\n[ \t\n]*#[ \t]*error")
    list(APPEND REFUSED IntelLLVM)
  endif()

  set(bounds "")
  foreach(name IN ITEMS GNU_MAX CLANG_MIN CLANG_MAX REFUSED)
    set(${prefix}_${name} "${${name}}" PARENT_SCOPE)
    if(NOT "${${name}}" STREQUAL "")
      list(APPEND bounds ${name} ${${name}})
    endif()
  endforeach()
  set(${prefix}_BOUNDS "${bounds}" PARENT_SCOPE)
endfunction()

# _cudaops_host_compiler_fits(<out-var> ID <id> VERSION <version> [GNU_MAX <v>] [CLANG_MIN <v>] [CLANG_MAX <v>]
#   [REFUSED <id>...])
#
# TRUE unless a bound is known and broken. ID and VERSION are CMAKE_CXX_COMPILER_ID and _VERSION.
function(_cudaops_host_compiler_fits out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ID;VERSION;GNU_MAX;CLANG_MIN;CLANG_MAX" "REFUSED")
  set(fits TRUE)
  if("${arg_ID}" IN_LIST arg_REFUSED)
    set(fits FALSE)
  elseif("${arg_VERSION}" MATCHES "^([0-9]+)(\\.[0-9]+)?")
    set(major "${CMAKE_MATCH_1}")
    set(minor "${CMAKE_MATCH_0}")
    set(min "")
    set(max "")
    if("${arg_ID}" STREQUAL "GNU")
      set(max "${arg_GNU_MAX}")
    elseif("${arg_ID}" STREQUAL "Clang")
      set(min "${arg_CLANG_MIN}")
      set(max "${arg_CLANG_MAX}")
    endif()
    # A bound of "15" is about majors: 15.2 fits it.
    set(shown "${major}")
    if(max MATCHES "\\.")
      set(shown "${minor}")
    endif()
    if(NOT max STREQUAL "" AND shown VERSION_GREATER max)
      set(fits FALSE)
    elseif(NOT min STREQUAL "" AND minor VERSION_LESS min)
      set(fits FALSE)
    endif()
  endif()
  set(${out} "${fits}" PARENT_SCOPE)
endfunction()

# _cudaops_host_compiler_range(<out-var> [GNU_MAX <v>] [CLANG_MIN <v>] [CLANG_MAX <v>] [REFUSED <id>...])
#
# The bounds as text: "gcc up to 15, clang 3.3 to 20".
function(_cudaops_host_compiler_range out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "GNU_MAX;CLANG_MIN;CLANG_MAX" "REFUSED")
  set(parts "")
  if(NOT "${arg_GNU_MAX}" STREQUAL "")
    list(APPEND parts "gcc up to ${arg_GNU_MAX}")
  endif()
  if(NOT "${arg_CLANG_MAX}" STREQUAL "")
    if("${arg_CLANG_MIN}" STREQUAL "")
      list(APPEND parts "clang up to ${arg_CLANG_MAX}")
    else()
      list(APPEND parts "clang ${arg_CLANG_MIN} to ${arg_CLANG_MAX}")
    endif()
  endif()
  if(NOT "${arg_REFUSED}" STREQUAL "")
    list(JOIN arg_REFUSED " or " refused)
    list(APPEND parts "no ${refused}")
  endif()
  list(JOIN parts ", " text)
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# _cudaops_host_compiler_check(<out-prefix> ID <id> VERSION <version> <bounds>...
#   [PATH <compiler>] [SOURCE <text>] [TOOLKIT <version>] [TOOLKIT_ROOT <dir>] [FLAGS <text>]
#   [OTHERS <path>|<id>|<version>...])
#
#   <bounds>  ${<prefix>_BOUNDS} of _cudaops_host_config_bounds, unquoted
#   SOURCE    where the choice of PATH came from, such as CUDAHOSTCXX
#   FLAGS     all flags that reach nvcc (CMAKE_CUDA_FLAGS, NVCC_PREPEND_FLAGS, ...): they may switch nvcc's own check off
#   OTHERS    the other compilers of this machine, in the order of preference; those that fit are named in the cure
# _ERROR is empty or one sentence; _HEAD, _FACTS and _FIX are made for _cudaops_stop.
function(_cudaops_host_compiler_check prefix)
  cmake_parse_arguments(
    PARSE_ARGV 1
    arg
    ""
    "ID;VERSION;PATH;SOURCE;TOOLKIT;TOOLKIT_ROOT;FLAGS;GNU_MAX;CLANG_MIN;CLANG_MAX"
    "REFUSED;OTHERS"
  )
  set(error "")
  set(head "")
  set(facts "")
  set(fix "")
  set(bounds "")
  foreach(name IN ITEMS GNU_MAX CLANG_MIN CLANG_MAX REFUSED)
    if(NOT "${arg_${name}}" STREQUAL "")
      list(APPEND bounds ${name} ${arg_${name}})
    endif()
  endforeach()
  _cudaops_host_compiler_fits(fits ID "${arg_ID}" VERSION "${arg_VERSION}" ${bounds})
  if(NOT fits AND NOT "${arg_FLAGS}" MATCHES "-allow-unsupported-compiler|-D *__NV_NO_HOST_COMPILER_CHECK")
    _cudaops_host_compiler_range(range ${bounds})
    _cudaops_toolkit_named(toolkit wanted "${range}")
    set(error "${toolkit} does not support ${arg_ID} ${arg_VERSION} as host compiler (it supports ${range}).")
    set(head "find_package(CudaTorchMatch): the CUDA toolkit does not support this host compiler.")
    set(found "${arg_ID} ${arg_VERSION}")
    if(NOT "${arg_PATH}" STREQUAL "")
      string(APPEND found " at ${arg_PATH}")
    endif()
    if(NOT "${arg_SOURCE}" STREQUAL "")
      string(APPEND found " (${arg_SOURCE})")
    endif()
    # nvcc takes the last -ccbin, and these flags stand behind that of CMAKE_CUDA_HOST_COMPILER.
    set(without "")
    if("${arg_SOURCE}" MATCHES "(CMAKE_CUDA_FLAGS|CUDAFLAGS|NVCC_APPEND_FLAGS)$")
      set(without ", without -ccbin in ${CMAKE_MATCH_1}")
    endif()
    set(others "")
    set(count 0)
    foreach(other IN LISTS arg_OTHERS)
      if(other MATCHES "^(.*)\\|([^|]*)\\|([^|]*)$")
        set(path "${CMAKE_MATCH_1}")
        set(id "${CMAKE_MATCH_2}")
        set(version "${CMAKE_MATCH_3}")
        _cudaops_host_compiler_fits(fits ID "${id}" VERSION "${version}" ${bounds})
        if(fits AND NOT path STREQUAL "${arg_PATH}")
          string(REPLACE ";" "\\;" path "${path}")
          list(APPEND others "${id} ${version}")
          list(APPEND fix "-DCMAKE_CUDA_HOST_COMPILER=${path}   (${id} ${version}${without})")
          math(EXPR count "${count} + 1")
        endif()
      endif()
    endforeach()
    if(count EQUAL 0)
      set(here "here     no other compiler of this machine fits")
      list(APPEND fix "install one that fits, then -DCMAKE_CUDA_HOST_COMPILER=<compiler>${without}")
    else()
      list(JOIN others ", " others)
      set(here "here     ${others}")
    endif()
    set(facts "found    ${found}" "wanted   ${wanted}" "${here}")
    list(APPEND fix "-DCUDAToolkit_ROOT=<dir>   (a toolkit that supports ${arg_ID} ${arg_VERSION})")
    list(APPEND fix "-DCMAKE_CUDA_FLAGS=-allow-unsupported-compiler   (nvcc promises nothing then)")
  endif()
  set(${prefix}_ERROR "${error}" PARENT_SCOPE)
  set(${prefix}_HEAD "${head}" PARENT_SCOPE)
  set(${prefix}_FACTS "${facts}" PARENT_SCOPE)
  set(${prefix}_FIX "${fix}" PARENT_SCOPE)
endfunction()

# The toolkit of the calling function's arg_TOOLKIT and arg_TOOLKIT_ROOT in a sentence, and what it supports in a fact.
function(_cudaops_toolkit_named out out_wanted supported)
  set(name "this CUDA toolkit")
  if(NOT "${arg_TOOLKIT}" STREQUAL "")
    set(name "CUDA ${arg_TOOLKIT}")
    string(APPEND supported ", says ${name}")
  endif()
  if(NOT "${arg_TOOLKIT_ROOT}" STREQUAL "")
    string(APPEND supported " at ${arg_TOOLKIT_ROOT}")
  endif()
  set(${out} "${name}" PARENT_SCOPE)
  set(${out_wanted} "${supported}" PARENT_SCOPE)
endfunction()

# _cudaops_glibc_bound(<text of crt/math_functions.h> <out-var>)
#
# The first glibc whose math.h this toolkit's header contradicts, or empty. glibc 2.41 declares cospi and sinpi, 2.42
# rsqrt, all noexcept; CUDA up to 12.9 declares them without, CUDA 13.0 and 13.1 still do so for rsqrt. The text is read
# rather than the toolkit's version because distributions mend the header. The declarations of cospi and rsqrt will do:
# the whole file has half a megabyte.
function(_cudaops_glibc_bound text out)
  set(bound "")
  # file(STRINGS) writes a semicolon as "\;".
  if("${text}" MATCHES "double[ \t]+cospi[ \t]*\\([ \t]*double[ \t]*[a-z_]*[ \t]*\\)[ \t]*\\\\?;")
    set(bound 2.41)
  elseif("${text}" MATCHES "double[ \t]+rsqrt[ \t]*\\([ \t]*double[ \t]*[a-z_]*[ \t]*\\)[ \t]*\\\\?;")
    set(bound 2.42)
  endif()
  set(${out} "${bound}" PARENT_SCOPE)
endfunction()

# _cudaops_glibc_check(<out-prefix> GLIBC <version> BOUND <version> [TOOLKIT <version>] [TOOLKIT_ROOT <dir>]
#   [HEADER <path of math_functions.h>])
#
# _ERROR is empty or one sentence; _HEAD, _FACTS and _FIX are made for _cudaops_stop. Without a readable GLIBC or BOUND
# nothing is refused.
function(_cudaops_glibc_check prefix)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "GLIBC;BOUND;TOOLKIT;TOOLKIT_ROOT;HEADER" "")
  set(error "")
  set(head "")
  set(facts "")
  set(fix "")
  if(
    "${arg_GLIBC}" MATCHES "^[0-9]+\\.[0-9]+"
    AND NOT "${arg_BOUND}" STREQUAL ""
    AND NOT "${arg_GLIBC}" VERSION_LESS "${arg_BOUND}"
  )
    _cudaops_toolkit_named(toolkit wanted "glibc older than ${arg_BOUND}")
    if("${arg_BOUND}" VERSION_LESS 2.42)
      set(names "sinpi and cospi")
      set(newer "CUDA 13.0 or newer and a torch for it")
      if(NOT "${arg_GLIBC}" VERSION_LESS 2.42)
        set(newer "CUDA 13.2 or newer and a torch for it")
      endif()
    else()
      set(names "rsqrt")
      set(newer "CUDA 13.2 or newer")
    endif()
    set(header "crt/math_functions.h")
    if(NOT "${arg_HEADER}" STREQUAL "")
      set(header "${arg_HEADER}")
    endif()
    set(error "${toolkit} can't compile against glibc ${arg_GLIBC}: both declare ${names}, and differently.")
    set(head "find_package(CudaTorchMatch): this CUDA toolkit can't compile against this glibc.")
    set(
      facts
      "found    glibc ${arg_GLIBC}, whose math.h declares ${names} noexcept"
      "wanted   ${wanted}"
      "header   ${header} declares ${names} without"
    )
    set(
      fix
      "-DCUDAToolkit_ROOT=<dir>   (${newer})"
      "or build where glibc is older than ${arg_BOUND}: a container, a conda environment with a sysroot"
      "or take a CUDA package of your distribution: it may have mended that header"
    )
  endif()
  set(${prefix}_ERROR "${error}" PARENT_SCOPE)
  set(${prefix}_HEAD "${head}" PARENT_SCOPE)
  set(${prefix}_FACTS "${facts}" PARENT_SCOPE)
  set(${prefix}_FIX "${fix}" PARENT_SCOPE)
endfunction()
