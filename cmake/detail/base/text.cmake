# SPDX-License-Identifier: Apache-2.0
# Texts: JSON, and the line of an output that says the thing.

# _cudaops_json_quote(<out> <text>): <text> as a JSON string, quotes included.
function(_cudaops_json_quote out text)
  # Nearly all are such.
  if(text MATCHES "^[-A-Za-z0-9_+./:,() ]*$")
    set(${out} "\"${text}\"" PARENT_SCOPE)
    return()
  endif()
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  # Quoted texts are collected in CMake's lists.
  string(REPLACE ";" "\\u003b" text "${text}")
  string(REPLACE "[" "\\u005b" text "${text}")
  string(REPLACE "]" "\\u005d" text "${text}")
  string(ASCII 1 first)
  string(ASCII 31 last)
  if(text MATCHES "[${first}-${last}]")
    foreach(code RANGE 1 31)
      string(ASCII ${code} character)
      # The 1 in front keeps a leading zero.
      math(EXPR hex "${code} + 256" OUTPUT_FORMAT HEXADECIMAL)
      string(REPLACE "0x1" "\\u00" hex "${hex}")
      string(REPLACE "${character}" "${hex}" text "${text}")
    endforeach()
  endif()
  set(${out} "\"${text}\"" PARENT_SCOPE)
endfunction()

# _cudaops_json_list(<out> <list>): ["a", "b"]
function(_cudaops_json_list out list)
  set(items "")
  foreach(item IN LISTS list)
    _cudaops_json_quote(item "${item}")
    list(APPEND items "${item}")
  endforeach()
  list(JOIN items ", " items)
  set(${out} "[${items}]" PARENT_SCOPE)
endfunction()

# _cudaops_first_line(<text> <out>): the first line that isn't blank.
function(_cudaops_first_line text out)
  string(REGEX MATCH "[^\r\n]*[^ \t\r\n][^\r\n]*" line "${text}")
  set(${out} "${line}" PARENT_SCOPE)
endfunction()

# _cudaops_error_line(<text> <out>): the line of a compiler's output that says what is wrong: "error:", "error #70:" or
# "nvcc fatal   :", not a directory of that name; else the first one. The linker's own words stand before those of gcc.
function(_cudaops_error_line text out)
  string(REGEX MATCH "[^\r\n]*([Ee]rror|fatal)( +#[^: ]+| *): [^\r\n]*" line "${text}")
  if(line MATCHES "ld returned [0-9]+ exit status|linker command failed")
    string(REGEX MATCH "[^\r\n]*(undefined reference to|undefined symbol|cannot find)[^\r\n]*" said "${text}")
    if(said STREQUAL "")
      string(REGEX MATCH "[^\r\n]*[/.-]ld[^ \r\n/]*: [^\r\n]*" said "${text}")
    endif()
    string(STRIP "${said}" said)
    if(NOT said STREQUAL "")
      set(line "${said}")
    endif()
  endif()
  if(line STREQUAL "")
    _cudaops_first_line("${text}" line)
  endif()
  string(STRIP "${line}" line)
  set(${out} "${line}" PARENT_SCOPE)
endfunction()

# _cudaops_last_line(<text> <out>): the last line that isn't blank; Python's errors say the thing there.
function(_cudaops_last_line text out)
  string(STRIP "${text}" text)
  string(REGEX REPLACE ".*[\r\n]" "" line "${text}")
  set(${out} "${line}" PARENT_SCOPE)
endfunction()
