# SPDX-License-Identifier: Apache-2.0
# One grammar for every spelling of a GPU architecture: CMake's, torch's and the names. Pure: text in, entries or one
# sentence out. Whether a compiler can build an entry is not asked here.
#
# An entry is <cc><a|f|>-<real|virtual>, as 90a-real, or one of the words native, all, all-major, common.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

# _cudaops_arch_parse(<text> <out-entries> <out-error>)
#
# <text> is a list with semicolons, commas or blanks. Entries keep the order of writing, each stands once. An error is
# one sentence that names the word; the entries are empty then, and the caller says where the text came from.
#
#   90  100f            real and virtual, as CMake reads them
#   90a-real  120-virtual
#   9.0  9.0a  10.0f    real, as torch reads them;  12.0+PTX, 120+PTX: real and virtual
#   Hopper  Ampere+PTX  the compute capabilities of a name; PTX, if asked for, for the last of them
function(_cudaops_arch_parse text out error)
  _cudaops_arch_parse_words("${text}" FALSE entries sentence)
  set(${out} "${entries}" PARENT_SCOPE)
  set(${error} "${sentence}" PARENT_SCOPE)
endfunction()

# _cudaops_arch_parse_filter(<text> <out-entries> <out-error>)
#
# The same for a list that says what code supports: `>=80` and `>=8.0` are entries too, and come out as `>=80`.
function(_cudaops_arch_parse_filter text out error)
  _cudaops_arch_parse_words("${text}" TRUE entries sentence)
  set(${out} "${entries}" PARENT_SCOPE)
  set(${error} "${sentence}" PARENT_SCOPE)
endfunction()

function(_cudaops_arch_parse_words text filter out error)
  set(${out} "" PARENT_SCOPE)
  set(${error} "" PARENT_SCOPE)
  string(REPLACE "\\;" ";" text "${text}")
  # Brackets and backslashes would change how CMake splits the list below, so no such word gets that far.
  if(text MATCHES "[^ \t\r\n;,]*[^-0-9A-Za-z.+_>= \t\r\n;,][^ \t\r\n;,]*")
    set(${error} "\"${CMAKE_MATCH_0}\" is not an architecture." PARENT_SCOPE)
    return()
  endif()
  string(REGEX MATCHALL "[^ \t\r\n;,]+" words "${text}")

  set(entries "")
  foreach(word IN LISTS words)
    string(TOLOWER "${word}" lower)
    if(lower MATCHES "^([1-9][0-9]?)\\.([0-9])([af]?)(\\+ptx|-real|-virtual)?$")
      set(arch "${CMAKE_MATCH_1}${CMAKE_MATCH_2}${CMAKE_MATCH_3}")
      set(kind "${CMAKE_MATCH_4}")
      if(kind STREQUAL "")
        set(kind "-real")
      endif()
    elseif(lower MATCHES "^([1-9][0-9][0-9]?[af]?)(\\+ptx|-real|-virtual)?$")
      set(arch "${CMAKE_MATCH_1}")
      set(kind "${CMAKE_MATCH_2}")
    elseif(lower MATCHES "^(native|all|all-major|common)$")
      list(APPEND entries "${lower}")
      continue()
    elseif(filter AND lower MATCHES "^>=(([1-9][0-9]?)\\.([0-9])|[1-9][0-9][0-9]?)$")
      string(REPLACE "." "" lower "${lower}")
      list(APPEND entries "${lower}")
      continue()
    else()
      _cudaops_arch_parse_name("${lower}" named)
      if(named STREQUAL "")
        _cudaops_arch_refusal("${word}" "${lower}" sentence)
        set(${error} "${sentence}" PARENT_SCOPE)
        return()
      endif()
      list(APPEND entries ${named})
      continue()
    endif()
    if(kind STREQUAL "-real" OR kind STREQUAL "-virtual")
      list(APPEND entries "${arch}${kind}")
    else()
      list(APPEND entries "${arch}-real" "${arch}-virtual")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES entries)
  set(${out} "${entries}" PARENT_SCOPE)
endfunction()

# The names that torch knows, with torch's meaning.
function(_cudaops_arch_parse_name lower out)
  set(${out} "" PARENT_SCOPE)
  if(NOT lower MATCHES "^([a-z]+(\\+tegra)?)(\\+ptx)?$")
    return()
  endif()
  set(name "${CMAKE_MATCH_1}")
  set(ptx "${CMAKE_MATCH_3}")
  set(table_maxwell 50 52)
  set(table_maxwell+tegra 53)
  set(table_pascal 60 61)
  set(table_volta 70)
  set(table_volta+tegra 72)
  set(table_turing 75)
  set(table_ampere 80 86)
  set(table_ampere+tegra 87)
  set(table_ada 89)
  set(table_hopper 90)
  set(table_blackwell 100 103 120 121)
  set(table_blackwell+tegra 110)
  if(NOT DEFINED table_${name})
    return()
  endif()
  set(entries "")
  foreach(cc IN LISTS table_${name})
    list(APPEND entries "${cc}-real")
  endforeach()
  if(ptx)
    list(GET table_${name} -1 newest)
    list(APPEND entries "${newest}-virtual")
  endif()
  set(${out} "${entries}" PARENT_SCOPE)
endfunction()

# What is wrong with a word, as precisely as its shape allows.
function(_cudaops_arch_refusal word lower out)
  if(lower MATCHES "^(sm|compute)_([1-9][0-9][0-9]?[af]?)$")
    set(kind "real")
    if(CMAKE_MATCH_1 STREQUAL "compute")
      set(kind "virtual")
    endif()
    set(text "\"${word}\" is nvcc's spelling; here it is ${CMAKE_MATCH_2}-${kind}.")
  elseif(lower MATCHES "^>=")
    set(text "\"${word}\" is not an architecture; only what code supports can be given as >=80.")
  elseif(lower MATCHES "^[0-9]+\\.[0-9]+$")
    set(text "\"${word}\" is not an architecture: a compute capability is <major>.<minor> with one digit of minor.")
  elseif(lower MATCHES "^[1-9][0-9]?\\.?[0-9][b-z][a-z]*$")
    set(text "\"${word}\" is not an architecture: the only suffixes are a and f.")
  else()
    set(text "\"${word}\" is not an architecture.")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# _cudaops_arch_accepted(<out>): the spellings in one line, for the facts of an error.
function(_cudaops_arch_accepted out)
  set(
    ${out}
    "9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major"
    PARENT_SCOPE
  )
endfunction()

# _cudaops_arch_dotted(<out> <cc, with or without suffix and kind>...): 90a-real, 121 → 9.0a 12.1, each once.
function(_cudaops_arch_dotted out)
  set(result "")
  foreach(entry IN LISTS ARGN)
    string(REGEX REPLACE "^([0-9]+)([0-9])([af]?)(-real|-virtual)?$" "\\1.\\2\\3" dotted "${entry}")
    list(APPEND result "${dotted}")
  endforeach()
  list(REMOVE_DUPLICATES result)
  set(${out} "${result}" PARENT_SCOPE)
endfunction()
