# SPDX-License-Identifier: Apache-2.0
# What a command's wrong argument was meant as. Read only where there is one, and where ARCHITECTURES are given.

_cudaops_use(arch/grammar base/closest base/message base/paths)

# _cudaops_keyword_meant(<command(target)> <arguments> <keywords> <out-keyword> <out-elsewhere> <out-fix>)
#
# What the first of <arguments>, which is none of <keywords>, was meant as, by its spelling or by what it is about in the
# words of CMake, setup.py and cpp_extension.load(): one of the keywords; or what a command of CMake's says of the
# target, as the end of a sentence and as a line to paste, with the arguments that follow it. All may be empty.
function(
  _cudaops_keyword_meant
  command
  arguments
  keywords
  out_keyword
  out_elsewhere
  out_fix
)
  set(keyword "")
  set(elsewhere "")
  set(fix "")
  list(POP_FRONT arguments word)
  _cudaops_closest("${word}" "${keywords}" keyword)
  string(TOUPPER "${word}" upper)
  if(keyword STREQUAL "" AND upper MATCHES "^[A-Z][A-Z_]+$")
    set(own "")
    set(what "")
    if(upper MATCHES "(LINK|LD).*(FLAG|OPTION|ARG)")
      set(what "link options" target_link_options "<option>")
    elseif(upper MATCHES "(LIB|LINK).*(DIR|PATH)")
      set(what "directories of libraries" target_link_directories "<dir>")
    elseif(upper MATCHES "^INC|INCLUDE")
      set(own INCLUDE_DIRECTORIES)
      set(what "include directories" target_include_directories "<dir>")
    elseif(upper MATCHES "ARCH|GENCODE|COMPUTE_CAP")
      set(own ARCHITECTURES)
    elseif(upper MATCHES "DEFIN|MACRO")
      set(what "macros" target_compile_definitions "<macro>=<value>")
    elseif(upper MATCHES "(^|_)STD($|_)|STANDARD|FEATURE")
      set(what "C++ standards" target_compile_features cxx_std_20)
      if(upper MATCHES "CUDA|NVCC")
        set(what "C++ standards" target_compile_features cuda_std_20)
      endif()
      set(arguments "")
    elseif(upper MATCHES "FLAG|OPTION|OPTS|ARGS|NVCC")
      set(own ARGS)
      set(what "compile options" target_compile_options "<option>")
    elseif(upper MATCHES "LIB|LINK|DEPEND")
      set(own LINK_LIBRARIES)
      set(what "libraries" target_link_libraries "<library>")
    elseif(upper MATCHES "SOURCE|SRC")
      set(own SOURCES)
      if(upper MATCHES "CU|NVCC|GPU|DEVICE" AND "CUDA_SOURCES" IN_LIST keywords)
        set(own CUDA_SOURCES)
      endif()
    elseif(upper MATCHES "MODULE")
      set(own PYTHON_MODULE)
    elseif(upper MATCHES "INSTALL|DESTINATION")
      set(own INSTALL)
    endif()
    # These make a target, or take one; the others make variables and tests.
    set(target "")
    if(
      command
        MATCHES
        "^(add_torch_op|cudaops_add_kernels|cudaops_add_gtest|cudaops_add_benchmark|cudaops_target_[a-z_]+)\\((.+)\\)$"
    )
      set(target "${CMAKE_MATCH_2}")
    endif()
    if(own IN_LIST keywords)
      set(keyword ${own})
    elseif(what AND target)
      list(POP_FRONT what name to placeholder)
      set(values "")
      foreach(value IN LISTS arguments)
        if(value MATCHES "^[A-Z][A-Z_]+$")
          break()
        endif()
        list(APPEND values "${value}")
      endforeach()
      if(values STREQUAL "")
        set(values "${placeholder}")
      endif()
      if(to STREQUAL "target_compile_options" AND upper MATCHES "CUDA|NVCC|HIP|CXX|CPP")
        string(REGEX REPLACE "^.*(CUDA|NVCC|HIP|CXX|CPP).*$" "\\1" language "${upper}")
        string(REPLACE "NVCC" "CUDA" language "${language}")
        string(REPLACE "CPP" "CXX" language "${language}")
        set(values "\"$<$<COMPILE_LANGUAGE:${language}>:${values}>\"")
      else()
        list(JOIN values " " values)
      endif()
      set(elsewhere ": ${name} go to ${to}().")
      set(fix "${to}(${target} PRIVATE ${values})")
    endif()
  endif()
  set(${out_keyword} "${keyword}" PARENT_SCOPE)
  set(${out_elsewhere} "${elsewhere}" PARENT_SCOPE)
  set(${out_fix} "${fix}" PARENT_SCOPE)
endfunction()

# _cudaops_check_architectures(<command(target)> <keywords> <arch>...): spelling only; the toolkit is asked later.
function(_cudaops_check_architectures command keywords)
  # With PARSE_ARGV a quoted "8.0;9.0" would keep its semicolon escaped.
  set(text "${ARGN}")
  # Whether a name of AMD's is one is the compiler's to say.
  list(FILTER text EXCLUDE REGEX "^gfx[0-9]")
  if(text STREQUAL "")
    return()
  endif()
  _cudaops_arch_parse_filter("${text}" entries error meant)
  if(error)
    set(hint "")
    string(REGEX MATCH "\"([^\"]*)\"" ignored "${error}")
    set(word "${CMAKE_MATCH_1}")
    string(REPLACE ";" " " found "${text}")
    set(fix "ARCHITECTURES 80 90a, or the like")
    if(word MATCHES "^[A-Za-z_]+$")
      list(FIND text "${word}" position)
      list(SUBLIST text ${position} -1 rest)
      _cudaops_keyword_meant("${command}" "${rest}" "${keywords}" suggestion elsewhere other)
      if(suggestion)
        set(hint "keyword   ${suggestion} looks like it")
      elseif(elsewhere)
        string(REGEX REPLACE "\\.$" "${elsewhere}" error "${error}")
        set(fix "${other}")
      endif()
    endif()
    if(NOT meant STREQUAL "")
      list(JOIN meant " " meant)
      set(fix "ARCHITECTURES ${meant}")
    endif()
    _cudaops_arch_accepted(accepted TRUE)
    _cudaops_stop(
      "${command}: ${error}"
      FACTS "found     ARCHITECTURES ${found}" "accepted  ${accepted}" "${hint}"
      FIX "${fix}"
    )
  endif()
endfunction()

# _cudaops_source_missing(<command(target)> <keyword> <keywords> <source and what follows it> <path>)
function(
  _cudaops_source_missing
  command
  keyword
  keywords
  sources
  path
)
  list(GET sources 0 source)
  if(source MATCHES "^[A-Za-z_]+$")
    _cudaops_keyword_meant("${command}" "${sources}" "${keywords}" suggestion elsewhere fix)
    set(hint ".")
    if(suggestion)
      set(hint "; did you mean ${suggestion}?")
      set(fix "${suggestion}   (instead of ${source})")
    elseif(elsewhere)
      set(hint "${elsewhere}")
    else()
      set(fix "the name of a file, or a keyword")
    endif()
    # A keyword that is far off: nobody names a source file in capitals, and without an ending.
    if(suggestion OR elsewhere OR source MATCHES "^[A-Z_]+$")
      list(JOIN keywords " " words)
      _cudaops_stop(
        "${command}: ${keyword} holds '${source}', which is no file${hint}"
        FACTS "looked  ${path}" "wanted  a file, or one of ${words}"
        FIX "${fix}"
      )
    endif()
  endif()
  set(hint "")
  cmake_path(GET path PARENT_PATH directory)
  cmake_path(GET path FILENAME name)
  _cudaops_glob_in(in "${directory}")
  file(GLOB here RELATIVE "${directory}" "${in}/*")
  _cudaops_closest("${name}" "${here}" suggestion)
  if(suggestion)
    set(hint "there is ${directory}/${suggestion}")
  endif()
  _cudaops_stop(
    "${command}: ${keyword} names a file that doesn't exist."
    FACTS "found   ${source}" "looked  ${path}" "${hint}"
    FIX "the right name, or add the command that generates it before this call (its OUTPUT counts)"
  )
endfunction()
