# SPDX-License-Identifier: Apache-2.0
# <build>/CudaOps/facts.cmake: what facts/ and search/ found and the match that was made of it, with stamps of all that
# it follows from. The next configure step compares the stamps and takes it from there, with the lines that were printed.
#
# Between _cudaops_replay_begin() and _cudaops_replay_end() everything is noted that base/stamps looks at, which is what
# base/probe and base/programs ask about, and what _cudaops_follows() names. The file is for one set of inputs; it is
# taken as a whole or not at all.

_cudaops_use(base/hooks base/message base/paths base/stamps base/state)

# _cudaops_replay_open(<inputs>)
#
# Once in a configure step. <inputs>: a text of all variables, options and environment variables that the facts follow
# from. Where the file is whole, of these inputs, and all stamps are as they were, its facts are in the state.
function(_cudaops_replay_open inputs)
  string(SHA1 inputs "${inputs}")
  _cudaops_state_set(REPLAY_INPUTS "${inputs}")
  _cudaops_on(configured _cudaops_replay_write)
  _cudaops_top_directories(source build)
  set(file "${build}/CudaOps/facts.cmake")
  if(NOT EXISTS "${file}")
    return()
  endif()
  file(READ "${file}" text)
  # A file that is cut off or edited is as none.
  if(NOT "${text}" MATCHES "^# ([0-9a-f]+) ([0-9a-f]+)\n" OR NOT CMAKE_MATCH_2 STREQUAL inputs)
    return()
  endif()
  set(digest "${CMAKE_MATCH_1}")
  string(SUBSTRING "${text}" 42 -1 text)
  string(SHA1 now "${text}")
  if(NOT now STREQUAL digest)
    return()
  endif()
  # Not include(), which would read it again; and without the rest of the first line.
  string(SUBSTRING "${text}" 42 -1 text)
  cmake_language(EVAL CODE "${text}")
endfunction()

# _cudaops_replay_right(<out> <paths> <stamps>...): called by the file, with the lists of _cudaops_replay_kinds().
function(_cudaops_replay_right out)
  _cudaops_replay_kinds(kinds)
  set(number 0)
  foreach(kind IN LISTS kinds)
    math(EXPR number "${number} + 1")
    set(${kind} "${ARGV${number}}")
  endforeach()
  set(${out} FALSE PARENT_SCOPE)
  set(now "")
  foreach(path IN LISTS files)
    file(TIMESTAMP "${path}" time "%Y%m%d%H%M%S.%f" UTC)
    if(time STREQUAL "")
      return()
    endif()
    file(SIZE "${path}" size)
    string(APPEND now "${time}:${size} ")
  endforeach()
  if(NOT now STREQUAL "${file_stamps}")
    return()
  endif()
  set(now "")
  foreach(path IN LISTS directories)
    file(TIMESTAMP "${path}" time "%Y%m%d%H%M%S.%f" UTC)
    string(APPEND now "${time} ")
  endforeach()
  if(NOT now STREQUAL "${directory_stamps}")
    return()
  endif()
  foreach(path IN LISTS absent)
    if(EXISTS "${path}")
      return()
    endif()
  endforeach()
  set(now "")
  foreach(path IN LISTS listed)
    _cudaops_glob_in(in "${path}")
    file(GLOB names LIST_DIRECTORIES TRUE "${in}/*")
    string(SHA1 names "${names}")
    string(APPEND now "${names} ")
  endforeach()
  if(NOT now STREQUAL "${listed_stamps}")
    return()
  endif()
  # They are among the files, so that they are there.
  set(now "")
  foreach(path IN LISTS programs)
    file(READ "${path}" id OFFSET 768 LIMIT 256 HEX)
    string(APPEND now "${id} ")
  endforeach()
  if(NOT now STREQUAL "${program_stamps}")
    return()
  endif()
  set(now "")
  foreach(path IN LISTS scripts)
    file(SHA1 "${path}" text)
    string(APPEND now "${text} ")
  endforeach()
  if(NOT now STREQUAL "${script_stamps}")
    return()
  endif()
  set(${out} TRUE PARENT_SCOPE)
  # For the file that is written where more facts are added.
  foreach(kind IN LISTS kinds)
    set_property(GLOBAL PROPERTY "_CUDAOPS_REPLAY_KEPT ${kind}" "${${kind}}")
  endforeach()
endfunction()

# _cudaops_replay_kinds(<out>): paths by what is compared of them, each list with a text of its stamps.
function(_cudaops_replay_kinds out)
  set(
    ${out}
    files
    file_stamps
    directories
    directory_stamps
    absent
    listed
    listed_stamps
    programs
    program_stamps
    scripts
    script_stamps
    PARENT_SCOPE
  )
endfunction()

# _cudaops_replay_begin(<section> <out-known>)
#
# <out-known>: the facts of <section> are in the state, and what was said when they were found has been said again. Else
# whoever called this finds them, and calls the end, or drops them. Sections may hold sections.
function(_cudaops_replay_begin section out)
  get_property(known GLOBAL PROPERTY "_CUDAOPS_REPLAY ${section}")
  set(${out} "${known}" PARENT_SCOPE)
  if(NOT known)
    _cudaops_state_append(REPLAY_RECORDING "${section}")
    return()
  endif()
  _cudaops_state_get("REPLAY_SAID ${section}" number)
  if(NOT number STREQUAL "")
    foreach(i RANGE 1 ${number})
      _cudaops_state_get("REPLAY_SAID ${section} ${i}" text)
      _cudaops_status("${text}")
    endforeach()
  endif()
endfunction()

# _cudaops_replay_end(<section> <key of the state>...): the facts of <section> are these.
function(_cudaops_replay_end section)
  _cudaops_state_get(REPLAY_RECORDING sections)
  list(REMOVE_ITEM sections "${section}")
  _cudaops_state_set(REPLAY_RECORDING "${sections}")
  _cudaops_state_get("REPLAY_WARNED ${section}" warned)
  if(warned)
    return()
  endif()
  set(keys "REPLAY ${section}" ${ARGN})
  _cudaops_state_get("REPLAY_SAID ${section}" number)
  if(NOT number STREQUAL "")
    list(APPEND keys "REPLAY_SAID ${section}")
    foreach(i RANGE 1 ${number})
      list(APPEND keys "REPLAY_SAID ${section} ${i}")
    endforeach()
  endif()
  _cudaops_state_set("REPLAY ${section}" TRUE)
  _cudaops_state_append(REPLAY_KEYS "${keys}")
  _cudaops_state_set(REPLAY_CHANGED TRUE)
endfunction()

# _cudaops_replay_drop(<section>): what was found is not kept.
function(_cudaops_replay_drop section)
  _cudaops_state_get(REPLAY_RECORDING sections)
  list(FIND sections "${section}" position)
  # Without those that began in it and came to no end.
  list(SUBLIST sections 0 ${position} sections)
  _cudaops_state_set(REPLAY_RECORDING "${sections}")
endfunction()

# _cudaops_replay_forget(<section>): what was kept of it is not right.
function(_cudaops_replay_forget section)
  _cudaops_state_set("REPLAY ${section}" "")
  _cudaops_state_set("REPLAY_SAID ${section}" "")
endfunction()

# _cudaops_replay_spoil(): something was asked whose answer may be another one the next time.
function(_cudaops_replay_spoil)
  get_property(recording GLOBAL PROPERTY _CUDAOPS_REPLAY_RECORDING)
  if(recording)
    _cudaops_state_set(REPLAY_SPOILED TRUE)
  endif()
endfunction()

# _cudaops_follows_stamp(<stamp>): of base/stamps.
function(_cudaops_follows_stamp stamp)
  # No list holds such a path.
  if(stamp MATCHES "[][;\n]")
    _cudaops_replay_spoil()
  else()
    set_property(GLOBAL APPEND PROPERTY _CUDAOPS_REPLAY_STAMPS "${stamp}")
  endif()
endfunction()

# _cudaops_replay_write(): at the end of the configure step.
function(_cudaops_replay_write)
  _cudaops_state_get(REPLAY_CHANGED changed)
  if(NOT changed)
    return()
  endif()
  _cudaops_top_directories(source build)
  set(file "${build}/CudaOps/facts.cmake")
  _cudaops_state_get(REPLAY_SPOILED spoiled)
  _cudaops_state_get(REPLAY_STAMPS stamps)
  list(REMOVE_DUPLICATES stamps)
  # What is made in the build tree itself may have been made after it was looked at.
  set(ours "")
  set(others "")
  foreach(stamp IN LISTS stamps)
    string(FIND "${stamp}" "${build}/CudaOps/" position)
    if(position EQUAL 0)
      string(
        REGEX REPLACE ":([0-9.]+:[0-9]+|absent|[0-9.]+|names=[0-9a-f]+|text=[0-9a-f]+|id=[0-9a-f]*)$"
        ""
        path
        "${stamp}"
      )
      list(APPEND ours "${path}")
    else()
      list(APPEND others "${stamp}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES ours)
  _cudaops_state_set(REPLAY_STAMPS "${others}")
  _cudaops_state_set(REPLAY_RECORDING TRUE)
  _cudaops_follows(${ours})
  # And from the code that finds and reads it.
  _cudaops_modules_used(modules "^(facts|search|arch|match|report)/")
  _cudaops_follows(${modules})
  _cudaops_state_set(REPLAY_RECORDING "")
  _cudaops_state_get(REPLAY_STAMPS stamps)
  _cudaops_replay_kinds(kinds)
  foreach(kind IN LISTS kinds)
    _cudaops_state_get("REPLAY_KEPT ${kind}" ${kind})
  endforeach()
  foreach(stamp IN LISTS stamps)
    if(stamp MATCHES "^(.+):([0-9.]+:[0-9]+)$")
      list(APPEND files "${CMAKE_MATCH_1}")
      string(APPEND file_stamps "${CMAKE_MATCH_2} ")
    elseif(stamp MATCHES "^(.+):absent$")
      list(APPEND absent "${CMAKE_MATCH_1}")
    elseif(stamp MATCHES "^(.+):([0-9.]+)$")
      list(APPEND directories "${CMAKE_MATCH_1}")
      string(APPEND directory_stamps "${CMAKE_MATCH_2} ")
    elseif(stamp MATCHES "^(.+):names=([0-9a-f]+)$")
      list(APPEND listed "${CMAKE_MATCH_1}")
      string(APPEND listed_stamps "${CMAKE_MATCH_2} ")
    elseif(stamp MATCHES "^(.+):id=([0-9a-f]*)$")
      list(APPEND programs "${CMAKE_MATCH_1}")
      string(APPEND program_stamps "${CMAKE_MATCH_2} ")
    elseif(stamp MATCHES "^(.+):text=([0-9a-f]+)$")
      list(APPEND scripts "${CMAKE_MATCH_1}")
      string(APPEND script_stamps "${CMAKE_MATCH_2} ")
    else()
      message(FATAL_ERROR "CudaOps: internal error: no stamp: ${stamp}")
    endif()
  endforeach()
  _cudaops_state_get(REPLAY_INPUTS inputs)
  set(text " ${inputs}\n# Written by CudaOps: what it found, and what that follows from. May be removed.\n")
  string(APPEND text "_cudaops_replay_right(\n  right\n")
  foreach(kind IN LISTS kinds)
    string(APPEND text "  [==[${${kind}}]==]\n")
  endforeach()
  string(APPEND text ")\nif(NOT right)\n  return()\nendif()\n")
  _cudaops_state_get(REPLAY_KEYS keys)
  list(REMOVE_DUPLICATES keys)
  foreach(key IN LISTS keys ITEMS REPLAY_KEYS)
    _cudaops_state_get("${key}" value)
    if("${key}${value}" MATCHES "]=*]")
      set(spoiled TRUE)
    endif()
    if(NOT value STREQUAL "")
      # The first line break of such an argument is none of its text.
      string(APPEND text "set_property(GLOBAL PROPERTY [==[_CUDAOPS_${key}]==] [==[\n${value}]==])\n")
    endif()
  endforeach()
  if(spoiled)
    file(REMOVE "${file}")
    return()
  endif()
  string(SHA1 digest "${text}")
  file(WRITE "${file}.new" "# ${digest}${text}")
  file(RENAME "${file}.new" "${file}")
endfunction()
