# SPDX-License-Identifier: Apache-2.0
# What a library was built from and for travels inside it, as JSON in an ELF note that is read without loading it
# (cudaops/inspect_library.py). The same source tells of a second copy of the op in one process.

_cudaops_use(base/state base/text)

# _cudaops_op_provenance(<target> NAME <op> PROJECT <project> JSON <object> [CODE <C++>])
#
# Adds the note to <target>, and CODE beside it, which follows from the same facts. JSON is an object without "project" and "op", which come first in the note: what tells two
# copies of one op is the text up to there. The source is rewritten only when the note changes.
function(_cudaops_op_provenance target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME;PROJECT;JSON;CODE" "")
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" AND "${arg_CODE}" STREQUAL "")
    return()
  endif()
  _cudaops_json_quote(project "${arg_PROJECT}")
  _cudaops_json_quote(op "${arg_NAME}")
  set(key "{\"project\":${project},\"op\":${op}")

  string(JSON type ERROR_VARIABLE error TYPE "${arg_JSON}")
  if(NOT type STREQUAL "OBJECT")
    message(FATAL_ERROR "CudaOps: internal error: the provenance of ${target} is no JSON object: ${error}")
  endif()
  string(STRIP "${arg_JSON}" members)
  string(REGEX REPLACE "^{[ \t\r\n]*" "," members "${members}")
  if(members STREQUAL ",}")
    set(members "}")
  endif()
  # Line breaks can only stand between members. A reason may name places of this machine, which an installed file
  # doesn't tell: the last part of a path remains.
  string(REGEX REPLACE "[\r\n]+" " " members "${members}")
  string(REGEX REPLACE "([\"' (=])/[^\"' (),:;=]*/([^\"' (),/:;=]+)" "\\1\\2" members "${members}")
  set(note "${key}${members}")

  _cudaops_hex_bytes(bytes size "${note}")
  _cudaops_hex_bytes(key_bytes key_size "${key}")
  _cudaops_json_quote(op_literal "${arg_NAME}")
  set(source "${CMAKE_CURRENT_BINARY_DIR}/CudaOps/${target}_provenance.cpp")
  file(
    CONFIGURE
    OUTPUT "${source}"
    CONTENT
      "// Written by CudaOps when it configured this directory.
// @note@
#define CUDAOPS_NOTE_OP @op_literal@
#define CUDAOPS_NOTE_SIZE @size@
#define CUDAOPS_NOTE_KEY_SIZE @key_size@
#define CUDAOPS_NOTE_BYTES \"@bytes@\"
#include \"cudaops/detail/provenance.h\"
@arg_CODE@"
    @ONLY
  )
  cmake_path(SET include NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../include")
  set_property(SOURCE "${source}" PROPERTY INCLUDE_DIRECTORIES "${include}")
  _cudaops_own_source(${target} "${source}")
endfunction()

# _cudaops_op_held(<target> <out>)
#
# Gives the host files of <target> the name of the constant that says what its binary holds; <out> is the C++ that
# defines it, empty where no code of the target is for a GPU.
function(_cudaops_op_held target out)
  _cudaops_target_get(${target} HELD held)
  _cudaops_target_get(${target} HELD_SYMBOL symbol)
  set(code "")
  if(NOT held STREQUAL "")
    target_compile_definitions(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:CUDAOPS_ARCHITECTURES_SYMBOL=${symbol}>")
    # const alone would keep it in its file.
    set(code "extern \"C\" __attribute__((visibility(\"hidden\"))) const char ${symbol}[] = \"${held}\";\n")
  endif()
  set(${out} "${code}" PARENT_SCOPE)
endfunction()

# _cudaops_kernels_held(<target>): the same in a source of its own, for kernels with host files.
function(_cudaops_kernels_held target)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX "\\.(h|hpp|hh|hxx|cuh|inl|inc|cu|[hH][iI][pP])$")
  if(sources STREQUAL "")
    return()
  endif()
  _cudaops_op_held(${target} code)
  if(NOT code STREQUAL "")
    set(source "${CMAKE_CURRENT_BINARY_DIR}/CudaOps/${target}_architectures.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "@code@" @ONLY)
    _cudaops_own_source(${target} "${source}")
  endif()
endfunction()

# _cudaops_own_source(<target> <file>)
#
# The file is ours, not the user's: -w keeps their -Weverything -Werror out of it, and no unity file, precompiled
# header, module scan or linter takes it in.
function(_cudaops_own_source target source)
  set_source_files_properties(
    "${source}"
    PROPERTIES
      COMPILE_OPTIONS "-w"
      SKIP_UNITY_BUILD_INCLUSION ON
      SKIP_PRECOMPILE_HEADERS ON
      SKIP_AUTOGEN ON
      SKIP_LINTING ON
      CXX_SCAN_FOR_MODULES OFF
  )
  target_sources(${target} PRIVATE "${source}")
endfunction()

# _cudaops_hex_bytes(<out> <out-size> <text>): "0x7b,0x22", the operands of the assembler's .byte.
function(_cudaops_hex_bytes out out_size text)
  string(HEX "${text}" hex)
  string(LENGTH "${hex}" size)
  math(EXPR size "${size} / 2")
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE ",$" "" bytes "${bytes}")
  set(${out} "${bytes}" PARENT_SCOPE)
  set(${out_size} "${size}" PARENT_SCOPE)
endfunction()
