# SPDX-License-Identifier: Apache-2.0
# The compiler cache that machines share (CUDAOPS_CACHE_REMOTE): what the installed cache is told, whether that works,
# and where the launcher (launcher/remote.cpp) finds it. And the line that sums a build up.

_cudaops_use(accelerate/cache base/message base/options base/probe base/secrets base/stamps base/state base/text launch/launcher)

# _cudaops_cache_remote_hide(): puts the password of the cache entry where nobody else may read it.
function(_cudaops_cache_remote_hide)
  set(url "$CACHE{CUDAOPS_CACHE_REMOTE}")
  _cudaops_mask("${url}" shown)
  if(shown STREQUAL url)
    return()
  endif()
  _cudaops_secret_file(file "${shown}")
  _cudaops_remote_keep("${file}" "${url}\n" problem)
  # Where it can't be kept, what is told later says so.
  _cudaops_state_set(CACHE_REMOTE_SECRET "${url}")
  set(CUDAOPS_CACHE_REMOTE "${shown}" CACHE STRING "Its password is kept in the store of CudaOps." FORCE)
endfunction()

# _cudaops_cache_remote_choose(): after the cache was chosen. Fills CACHE_REMOTE (as it may be shown), _REMOTE_URL (as
# the cache is told, password included, never written below the build tree), _REMOTE_SCHEME, _REMOTE_ATTRIBUTES,
# _REMOTE_FILE (the user's own file that holds the password), _REMOTE_PROBLEM.
function(_cudaops_cache_remote_choose)
  _cudaops_option(CUDAOPS_CACHE_READONLY readonly)
  _cudaops_secret_option(CUDAOPS_CACHE_REMOTE url shown source)
  if(shown STREQUAL "")
    return()
  endif()
  _cudaops_state_get(CACHE_ENGINE engine)
  if(engine STREQUAL "")
    _cudaops_state_get(CACHE_PROBLEM problem)
    _cudaops_state_set(CACHE_WORTH_SAYING "CUDAOPS_CACHE_REMOTE is not used: ${problem}")
    return()
  endif()
  _cudaops_state_set(CACHE_REMOTE "${shown}")
  _cudaops_remote_parse("${url}" remote)
  set(found "found   ${shown} (${source} CUDAOPS_CACHE_REMOTE)")
  if(url STREQUAL "")
    _cudaops_secret_file(file "${shown}")
    _cudaops_state_set(CACHE_REMOTE_PROBLEM "its password is not known here: set CUDAOPS_CACHE_REMOTE with it once more")
    return()
  elseif(NOT remote_PROBLEM STREQUAL "")
    _cudaops_remote_forms(forms)
    _cudaops_stop(
      "CUDAOPS_CACHE_REMOTE: ${remote_PROBLEM}."
      FACTS "${found}" ${forms}
      FIX "-DCUDAOPS_CACHE_REMOTE=redis://<host>:6379" "or leave it out: ${engine} then keeps its own directory only"
    )
  endif()
  _cudaops_remote_known_schemes(${engine} known)
  if(NOT remote_SCHEME IN_LIST known)
    _cudaops_remote_forms(forms)
    _cudaops_state_get(CACHE_VERSION version)
    set(fix "-DCUDAOPS_CACHE_REMOTE=redis://<host>:6379")
    if(remote_SCHEME MATCHES "^(rediss|https)$")
      string(REGEX REPLACE "s$" "" plain "${remote_SCHEME}")
      set(
        fix
        "-DCUDAOPS_CACHE_REMOTE=${plain}://localhost:<port>   (through a tunnel: stunnel, ssh -L)"
        "-DCUDAOPS_CACHE=sccache   (knows ${remote_SCHEME}://)"
      )
    endif()
    _cudaops_stop("CUDAOPS_CACHE_REMOTE: ${engine} ${version} doesn't know ${remote_SCHEME}://." FACTS "${found}" ${forms} FIX ${fix})
  endif()
  _cudaops_state_set(CACHE_REMOTE_SCHEME "${remote_SCHEME}")

  set(attributes "")
  if(engine STREQUAL "ccache")
    # Without them a server that hangs costs each compile ten seconds.
    if(NOT remote_SCHEME STREQUAL "file")
      set(attributes "|connect-timeout=300|operation-timeout=500")
    endif()
    if(readonly STREQUAL "ON")
      string(APPEND attributes "|read-only=true")
    endif()
    _cudaops_remote_ccache_url(remote told problem)
    if(NOT problem STREQUAL "")
      _cudaops_stop(
        "CUDAOPS_CACHE_REMOTE: ccache can't be told this password."
        FACTS "${found}" "wanted  ${problem}"
        FIX "a password without them, or -DCUDAOPS_CACHE=sccache"
      )
    endif()
  else()
    _cudaops_remote_sccache(remote "${url}" "${shown}" "${readonly}")
    return()
  endif()
  _cudaops_state_set(CACHE_REMOTE_ATTRIBUTES "${attributes}")
  _cudaops_state_set(CACHE_REMOTE_URL "${told}")
  if(NOT remote_PASSWORD STREQUAL "")
    _cudaops_secret_file(file "${shown}")
    _cudaops_remote_keep("${file}" "${url}\n${told}\n" problem)
    _cudaops_state_set(CACHE_REMOTE_FILE "${file}")
    _cudaops_state_set(CACHE_REMOTE_PROBLEM "${problem}")
  endif()
endfunction()

function(_cudaops_remote_forms out)
  set(
    ${out}
    "wanted  redis://[[<user>:]<password>@]<host>[:<port>][/<number>]"
    "        redis+unix:<socket>   or   redis+unix://<password>@localhost<socket>"
    "        http://[<user>:<password>@]<host>[:<port>][/<path>]"
    "        file:<directory>"
    PARENT_SCOPE
  )
endfunction()

# The schemes that the chosen cache can do, as it says itself.
function(_cudaops_remote_known_schemes engine out)
  if(engine STREQUAL "sccache")
    set(
      ${out}
      redis
      rediss
      redis+unix
      http
      https
      file
      PARENT_SCOPE
    )
    return()
  endif()
  _cudaops_state_get(CACHE_PROGRAM program)
  _cudaops_probe(about PROGRAM COMMAND "${program}" --version)
  set(known file)
  foreach(scheme IN ITEMS redis redis+unix http)
    string(FIND "${about_OUTPUT}" " ${scheme}-storage" position)
    if(NOT position EQUAL -1)
      list(APPEND known ${scheme})
    endif()
  endforeach()
  set(${out} ${known} PARENT_SCOPE)
endfunction()

# _cudaops_remote_parse(<URL> <prefix>)
#
# Sets <prefix>_SCHEME, _USER, _PASSWORD (percent signs undone), _HOST (with the port), _PATH, and _PROBLEM, which is empty
# where the URL is sound. A lone word before the @ is redis' password, as redis-cli and ccache have it.
function(_cudaops_remote_parse url prefix)
  foreach(
    part
    IN
    ITEMS SCHEME USER PASSWORD HOST PATH PROBLEM
  )
    set(${part} "")
    set(${prefix}_${part} "" PARENT_SCOPE)
  endforeach()
  if(NOT "${url}" MATCHES "^([A-Za-z][A-Za-z0-9+.-]*):(.*)$")
    set(${prefix}_PROBLEM "not a URL" PARENT_SCOPE)
    return()
  endif()
  string(TOLOWER "${CMAKE_MATCH_1}" SCHEME)
  set(rest "${CMAKE_MATCH_2}")
  set(${prefix}_SCHEME "${SCHEME}" PARENT_SCOPE)
  if(SCHEME STREQUAL "file")
    if(rest MATCHES "^(//(localhost)?)?(/[^/].*)$")
      set(PATH "${CMAKE_MATCH_3}")
    else()
      set(PROBLEM "a directory needs an absolute path")
    endif()
    if(PATH MATCHES "[|\"';\n\r]")
      set(PROBLEM "quotes, semicolons and bars can't stand in it")
    endif()
    set(${prefix}_PATH "${PATH}" PARENT_SCOPE)
    set(${prefix}_PROBLEM "${PROBLEM}" PARENT_SCOPE)
    return()
  endif()
  set(authority "")
  if(rest MATCHES "^//([^/]*)(/.*)?$")
    set(authority "${CMAKE_MATCH_1}")
    set(PATH "${CMAKE_MATCH_2}")
  elseif(SCHEME STREQUAL "redis+unix" AND rest MATCHES "^/")
    set(PATH "${rest}")
  else()
    set(${prefix}_PROBLEM "no // after the scheme" PARENT_SCOPE)
    return()
  endif()
  set(HOST "${authority}")
  if(authority MATCHES "^(.*)@([^@]*)$")
    set(PASSWORD "${CMAKE_MATCH_1}")
    set(HOST "${CMAKE_MATCH_2}")
    if(PASSWORD MATCHES "^([^:]*):(.*)$")
      set(USER "${CMAKE_MATCH_1}")
      set(PASSWORD "${CMAKE_MATCH_2}")
    elseif(SCHEME MATCHES "^https?$")
      set(PROBLEM "a user needs a password")
    endif()
  endif()
  if(rest MATCHES "[|\"'; \t\n\r?#]")
    set(PROBLEM "blanks, quotes, and any of | ? # can't stand in it (write %20 and the like)")
  elseif(SCHEME STREQUAL "redis+unix")
    if(PATH STREQUAL "" OR PATH STREQUAL "/")
      set(PROBLEM "no socket is named")
    endif()
  elseif(NOT HOST MATCHES "^(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+)(:([0-9]+))?$")
    set(PROBLEM "no host is named")
  elseif(CMAKE_MATCH_3 AND (CMAKE_MATCH_3 LESS 1 OR CMAKE_MATCH_3 GREATER 65535))
    set(PROBLEM "${CMAKE_MATCH_3} is no port")
  elseif(SCHEME MATCHES "^rediss?$" AND NOT PATH MATCHES "^/?[0-9]*$")
    set(PROBLEM "a database of redis is a number")
  endif()
  _cudaops_remote_decode(USER "${USER}")
  _cudaops_remote_decode(PASSWORD "${PASSWORD}")
  foreach(
    part
    IN
    ITEMS USER PASSWORD HOST PATH PROBLEM
  )
    set(${prefix}_${part} "${${part}}" PARENT_SCOPE)
  endforeach()
endfunction()

# %41 is A.
function(_cudaops_remote_decode out text)
  set(done "")
  while(text MATCHES "^([^%]*)%([0-9A-Fa-f][0-9A-Fa-f])(.*)$")
    set(text "${CMAKE_MATCH_3}")
    string(APPEND done "${CMAKE_MATCH_1}")
    math(EXPR code "0x${CMAKE_MATCH_2}")
    string(ASCII ${code} character)
    string(APPEND done "${character}")
  endwhile()
  set(${out} "${done}${text}" PARENT_SCOPE)
endfunction()

# A is A, and a blank is %20: all bytes but those that stand for themselves in the path of any URL.
function(_cudaops_remote_encode out text)
  string(HEX "${text}" bytes)
  string(TOUPPER "${bytes}" bytes)
  string(REGEX MATCHALL ".." bytes "${bytes}")
  set(done "")
  foreach(byte IN LISTS bytes)
    # - . / 0-9 A-Z _ a-z ~
    if(byte MATCHES "^(2[DEF]|3[0-9]|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])$")
      math(EXPR code "0x${byte}")
      string(ASCII ${code} character)
      string(APPEND done "${character}")
    else()
      string(APPEND done "%${byte}")
    endif()
  endforeach()
  set(${out} "${done}" PARENT_SCOPE)
endfunction()

# _cudaops_remote_ccache_url(<prefix> <out> <out-problem>)
#
# As ccache wants it: redis://:PW@host asks it to give no password at all, and it takes percent signs as they stand.
function(_cudaops_remote_ccache_url prefix out out_problem)
  set(${out_problem} "" PARENT_SCOPE)
  set(scheme "${${prefix}_SCHEME}")
  set(user "${${prefix}_USER}")
  set(password "${${prefix}_PASSWORD}")
  set(host "${${prefix}_HOST}")
  set(path "${${prefix}_PATH}")
  if(scheme STREQUAL "file")
    _cudaops_remote_encode(path "${path}")
    set(${out} "file:${path}" PARENT_SCOPE)
    return()
  endif()
  set(who "")
  if(NOT password STREQUAL "")
    if("${user}${password}" MATCHES "[]@:/|?#%;\"' \t\r\n[]")
      set(${out_problem} "none of @ : / | ? # % ; [ ] quotes and blanks in it" PARENT_SCOPE)
    endif()
    set(who "${password}@")
    if(NOT user STREQUAL "")
      set(who "${user}:${password}@")
    endif()
  endif()
  if(scheme STREQUAL "redis+unix")
    set(host "")
    if(NOT who STREQUAL "")
      set(host localhost)
    endif()
  endif()
  set(${out} "${scheme}://${who}${host}${path}" PARENT_SCOPE)
endfunction()

# _cudaops_remote_sccache(<prefix> <URL> <as it may be shown> <readonly>)
#
# sccache's server has its storage from the environment that it is started with: one of our own for each shared cache,
# and the local one stays the user's. CACHE_REMOTE_FILE is what the launcher reads before it calls sccache.
function(_cudaops_remote_sccache prefix url shown readonly)
  foreach(
    part
    IN
    ITEMS SCHEME USER PASSWORD HOST PATH
  )
    set(${part} "${${prefix}_${part}}")
  endforeach()
  _cudaops_state_get(CACHE_VERSION version)
  _cudaops_state_get(CACHE_PROGRAM program)
  set(mode READ_WRITE)
  if(readonly STREQUAL "ON")
    set(mode READ_ONLY)
  endif()
  string(REGEX REPLACE "^/" "" rest "${PATH}")
  set(ping "")
  if(SCHEME STREQUAL "file")
    set(kind "")
    set(settings "SCCACHE_DIR=${PATH}" "SCCACHE_LOCAL_RW_MODE=${mode}")
  elseif(SCHEME MATCHES "^http")
    set(kind webdav)
    set(settings "SCCACHE_WEBDAV_ENDPOINT=${SCHEME}://${HOST}" "SCCACHE_WEBDAV_RW_MODE=${mode}")
    foreach(pair IN ITEMS KEY_PREFIX=rest USERNAME=USER PASSWORD=PASSWORD)
      string(REGEX MATCH "^(.+)=(.+)$" pair "${pair}")
      list(APPEND settings "SCCACHE_WEBDAV_${CMAKE_MATCH_1}=${${CMAKE_MATCH_2}}")
    endforeach()
    set(ping http)
    set(port 80)
    if(SCHEME STREQUAL "https")
      set(ping connect)
      set(port 443)
    endif()
  else()
    set(kind redis)
    if(SCHEME STREQUAL "redis+unix")
      set(settings "SCCACHE_REDIS_ENDPOINT=unix://${PATH}")
      set(rest "")
    else()
      if(NOT HOST MATCHES ":[0-9]+$")
        string(APPEND HOST ":6379")
      endif()
      set(settings "SCCACHE_REDIS_ENDPOINT=${SCHEME}://${HOST}")
      set(ping redis)
      if(SCHEME STREQUAL "rediss")
        set(ping connect)
      endif()
    endif()
    if(rest STREQUAL "")
      set(rest 0)
    endif()
    list(APPEND settings "SCCACHE_REDIS_RW_MODE=${mode}" "SCCACHE_REDIS_DB=${rest}")
    list(APPEND settings "SCCACHE_REDIS_USERNAME=${USER}" "SCCACHE_REDIS_PASSWORD=${PASSWORD}")
  endif()
  if(ping AND HOST MATCHES "^(.*):([0-9]+)$")
    set(HOST "${CMAKE_MATCH_1}")
    set(port "${CMAKE_MATCH_2}")
  endif()
  if(ping)
    string(REGEX REPLACE "[][]" "" HOST "${HOST}")
    set(ping "${ping};${HOST};${port}")
  endif()
  if(kind AND NOT version VERSION_LESS 0.15)
    # Its own directory first.
    list(APPEND settings "SCCACHE_MULTILEVEL_CHAIN=disk,${kind}")
  endif()

  _cudaops_file_stamp("${program}" stamp)
  _cudaops_store(store)
  string(SHA1 key "${url}|${settings}|${stamp}|${store}")
  string(SUBSTRING "${key}" 0 12 name)
  set(socket "${store}/secrets/${name}")
  string(LENGTH "${socket}" length)
  if(length GREATER 90)
    # The name of a socket may have 107 characters. This one lies in no directory.
    set(socket "\\x00cudaops-${key}")
  endif()
  list(APPEND settings "SCCACHE_SERVER_UDS=${socket}")
  set(text "")
  set(names "")
  foreach(setting IN LISTS settings)
    string(REGEX MATCH "^([^=]+)=(.*)$" setting "${setting}")
    # Empty is another thing than absent.
    if(NOT CMAKE_MATCH_2 STREQUAL "")
      set(variable "${CMAKE_MATCH_1}")
      _cudaops_cache_quote(word "${CMAKE_MATCH_2}")
      string(APPEND text "${variable}=${word}\n")
      string(APPEND names " ${variable}")
    endif()
  endforeach()
  string(APPEND text "export${names}\n")
  _cudaops_secret_file(file "${shown}")
  _cudaops_remote_keep("${file}" "${url}\n" problem)
  _cudaops_remote_keep("${file}.${name}" "${text}" problem)
  _cudaops_state_set(CACHE_REMOTE_FILE "${file}.${name}")
  _cudaops_state_set(CACHE_REMOTE_PING "${ping}")
  _cudaops_state_set(CACHE_REMOTE_PROBLEM "${problem}")
endfunction()

# _cudaops_remote_keep(<file> <text> <out-problem>): written where nobody else may look.
function(_cudaops_remote_keep file text out_problem)
  set(${out_problem} "" PARENT_SCOPE)
  cmake_path(GET file PARENT_PATH directory)
  cmake_path(SET tool NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tools/cache_secret.sh")
  # Through the environment: anyone can read a command line.
  _cudaops_run(keep ENVIRONMENT "CUDAOPS_SECRET=${text}" COMMAND /bin/sh "${tool}" "${file}")
  if(NOT keep_EXIT STREQUAL "0")
    set(
      ${out_problem}
      "its password can't be kept in ${directory}, and nowhere else is it safe (-DCUDAOPS_STORE=<dir> names another place)"
      PARENT_SCOPE
    )
  endif()
endfunction()

# _cudaops_cache_remote_finish(): at the end of the configure, when the compilers are known. Tries the shared cache, and
# writes what the launcher reads.
function(_cudaops_cache_remote_finish)
  _cudaops_state_get(CACHE_DIRECTORY directory)
  _cudaops_state_get(CACHE_REMOTE shown)
  _cudaops_state_get(CACHE_REMOTE_PROBLEM problem)
  if(NOT problem STREQUAL "")
    file(REMOVE "${directory}/remote" "${directory}/remote-failed")
    _cudaops_status("CudaOps: the shared cache ${shown} is left out: ${problem}")
    return()
  endif()
  _cudaops_option(CUDAOPS_CACHE_READONLY readonly)
  foreach(
    key
    IN
    ITEMS ENGINE PROGRAM VERSION REMOTE_URL REMOTE_FILE REMOTE_PING REMOTE_ATTRIBUTES CXX_FINGERPRINT CUDA_FINGERPRINT
  )
    _cudaops_state_get(CACHE_${key} ${key})
  endforeach()

  # Success is remembered; a failure is asked again.
  string(SHA1 now "${shown}|${REMOTE_ATTRIBUTES}|${ENGINE}|${VERSION}|${CXX_FINGERPRINT}|${CUDA_FINGERPRINT}")
  set(seen "$CACHE{_CUDAOPS_CACHE_REMOTE_SEEN}")
  if(NOT seen MATCHES "^${now} (.*)$" OR EXISTS "${directory}/remote-failed")
    _cudaops_remote_try("${directory}/try" "${CXX_FINGERPRINT} ${CUDA_FINGERPRINT}" answer problem)
    if(problem STREQUAL "")
      set(seen "${now} ${answer}")
      set(_CUDAOPS_CACHE_REMOTE_SEEN "${seen}" CACHE INTERNAL "CudaOps: what the shared cache answered")
    else()
      set(seen "")
      unset(_CUDAOPS_CACHE_REMOTE_SEEN CACHE)
    endif()
  endif()
  string(REGEX MATCH "[a-z]+$" answer "${seen}")
  set(url "${REMOTE_URL}")
  if(NOT REMOTE_FILE STREQUAL "")
    set(url "")
  endif()
  set(text "")
  _cudaops_launcher_line(text remote "${shown}")
  _cudaops_launcher_line(text url "${url}")
  _cudaops_launcher_line(text file "${REMOTE_FILE}")
  _cudaops_launcher_line(text attributes "${REMOTE_ATTRIBUTES}")
  _cudaops_launcher_line(text readonly "${readonly}")
  _cudaops_launcher_line(text answer "${answer}")
  if(REMOTE_PING)
    cmake_path(SET tool NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tools/cache_ping.sh")
    _cudaops_launcher_line(text ping /bin/sh "${tool}" ${REMOTE_PING})
  endif()
  _cudaops_launcher_settings("${directory}/remote" "${text}")
  if(problem STREQUAL "")
    file(REMOVE "${directory}/remote-failed")
    return()
  endif()
  # The builds find it failed, and one of their compiles asks again in a minute.
  _cudaops_state_set(CACHE_REMOTE_PROBLEM "${problem}")
  _cudaops_status("CudaOps: the shared cache ${shown} does not work (${problem}) and is left out for a minute; ${ENGINE} goes on with its own directory")
  _cudaops_kernel_file(up /proc/uptime)
  string(REGEX MATCH "^[0-9]+" up "${up}")
  if(up STREQUAL "")
    set(up 0)
  endif()
  math(EXPR until "${up} + 60")
  file(WRITE "${directory}/remote-failed" "${until} 1 ${problem}\n")
endfunction()

# _cudaops_remote_try(<directory> <key> <out-answer> <out-problem>): stores something and gets it back. The answer is
# known where some machine with these compilers was there before, else new.
function(_cudaops_remote_try directory key out_answer out_problem)
  foreach(
    name
    IN
    ITEMS ENGINE PROGRAM REMOTE_URL REMOTE_ATTRIBUTES REMOTE_FILE
  )
    _cudaops_state_get(CACHE_${name} ${name})
  endforeach()
  _cudaops_option(CUDAOPS_CACHE_READONLY readonly)
  cmake_path(SET tool NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tools/cache_try.sh")
  _cudaops_state_get(CACHE_REMOTE_PING ping)
  if(ping)
    cmake_path(SET program NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tools/cache_ping.sh")
    list(PREPEND ping "${program}")
  endif()
  _cudaops_run(
    try
    TIMEOUT 5
    ENVIRONMENT "CCACHE_REMOTE_STORAGE=${REMOTE_URL}${REMOTE_ATTRIBUTES}"
    COMMAND
      /bin/sh "${tool}" "${directory}" ${ENGINE} "${PROGRAM}" "${CMAKE_CXX_COMPILER}" "${key}" "${readonly}"
      "${REMOTE_FILE}" ${ping}
  )
  file(REMOVE_RECURSE "${directory}")
  set(${out_answer} "" PARENT_SCOPE)
  set(${out_problem} "" PARENT_SCOPE)
  if(try_OUTPUT MATCHES "^(known|new|works)\n")
    set(${out_answer} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  elseif(try_EXIT MATCHES "timeout")
    set(${out_problem} "no answer in 5 s" PARENT_SCOPE)
  else()
    _cudaops_first_line("${try_OUTPUT}${try_ERROR}" line)
    set(${out_problem} "${line}" PARENT_SCOPE)
  endif()
endfunction()

# A word of a shell script.
function(_cudaops_cache_quote out text)
  string(REPLACE "'" "'\\''" text "${text}")
  set(${out} "'${text}'" PARENT_SCOPE)
endfunction()
