# SPDX-License-Identifier: Apache-2.0
# Checks the compile options of a target at the end of its directory: without a language condition, nvcc's options apply
# to C++ files too and the C++ compiler's to CUDA files, architectures among them are not those that CudaOps reports, and
# an old -std= is the last word. The standard that CUDA files take from CXX_STANDARD, and sources of a language that isn't
# enabled.

_cudaops_use(base/message base/probe base/programs base/state)

# _cudaops_options_target(<target>): looks at it at the end of this directory, once.
function(_cudaops_options_target target)
  _cudaops_target_get(${target} OPTIONS_DEFERRED deferred)
  if(NOT deferred)
    _cudaops_target_set(${target} OPTIONS_DEFERRED TRUE)
    cmake_language(EVAL CODE "cmake_language(DEFER CALL _cudaops_options_finish [==[${target}]==])")
  endif()
endfunction()

function(_cudaops_options_finish target)
  _cudaops_state_get(BACKEND backend)
  _cudaops_state_get(OPTIONS_FLAGS_SAID said)
  if(backend STREQUAL "CUDA" AND NOT said)
    _cudaops_options_warn_architectures("CMAKE_CUDA_FLAGS" "${CMAKE_CUDA_FLAGS}")
    _cudaops_state_set(OPTIONS_FLAGS_SAID TRUE)
  endif()
  get_target_property(all ${target} COMPILE_OPTIONS)
  if(NOT all)
    set(all "")
  endif()
  _cudaops_options_c(${target})
  _cudaops_options_own(${target} own_cxx own_cuda)
  _cudaops_options_split("${all}" plain cxx guarded)
  # Each check, and the options that it is about: all; plain, which stand in no generator expression; cxx, which C++ files
  # are compiled with. It returns where it has nothing to say of such a target.
  foreach(
    row
    IN
    ITEMS "standard cxx" "strings all" "architectures all" "nvcc plain" "unknown plain" "dialect all"
  )
    string(REPLACE " " ";" row "${row}")
    list(GET row 0 check)
    list(GET row 1 options)
    cmake_language(CALL _cudaops_options_${check} ${target} "${${options}}" "${own_cxx}" "${own_cuda}")
  endforeach()
  # A generated file is compiled without options for other languages; the user's C++ files with all of them.
  if(own_cxx STREQUAL "NONE" AND NOT guarded STREQUAL all)
    set_property(TARGET ${target} PROPERTY COMPILE_OPTIONS "${guarded}")
  endif()
endfunction()

# CMake leaves out the files of a language that no project() names, in silence: what a .c file defines is missing then,
# which is a link error at best.
function(_cudaops_options_c target)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "[^>]\\.c$")
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(sources STREQUAL "" OR C IN_LIST languages)
    return()
  endif()
  foreach(source IN LISTS sources)
    get_source_file_property(language "${source}" TARGET_DIRECTORY ${target} LANGUAGE)
    get_source_file_property(header "${source}" TARGET_DIRECTORY ${target} HEADER_FILE_ONLY)
    if(NOT language AND NOT header)
      _cudaops_stop(
        "${target}: a source is C, and no project() enables C: CMake would leave it out, in silence."
        FACTS "found   ${source}" "enabled ${languages}"
        FIX "project(<name> LANGUAGES C CXX)"
            "or set_source_files_properties(${source} PROPERTIES LANGUAGE CXX)   (C++, as torch's cpp_extension compiles it)"
      )
    endif()
  endforeach()
endfunction()

# <out-cxx>: a C++ file of the user among the sources of <target>; NONE if there is none, empty if that isn't known.
# <out-cuda>: a CUDA file, or empty.
function(_cudaops_options_own target out_cxx out_cuda)
  set(${out_cxx} "" PARENT_SCOPE)
  set(cxx "NONE")
  set(cuda "")
  get_target_property(sources ${target} SOURCES)
  get_target_property(build ${target} BINARY_DIR)
  foreach(source IN LISTS sources)
    if(source MATCHES "\\$<")
      set(cxx "")
      break()
    endif()
    cmake_path(IS_PREFIX build "${source}" in_build)
    get_source_file_property(language "${source}" TARGET_DIRECTORY ${target} LANGUAGE)
    if(in_build AND source MATCHES "/CudaOps/[^/]*$")
      continue()
    elseif(cxx STREQUAL "NONE" AND (language STREQUAL "CXX" OR (NOT language AND source MATCHES "\\.(cc|cpp|cxx)$")))
      set(cxx "${source}")
    elseif(cuda STREQUAL "" AND (language STREQUAL "CUDA" OR (NOT language AND source MATCHES "\\.cu$")))
      set(cuda "${source}")
    endif()
  endforeach()
  set(${out_cxx} "${cxx}" PARENT_SCOPE)
  set(${out_cuda} "${cuda}" PARENT_SCOPE)
endfunction()

# Stops where the last word on C++ is older than C++17, which the headers of torch and CudaOps need: a -std= among the
# options, or one in CMAKE_CXX_FLAGS where CMake passes none after it, because the compiler's default will do.
function(_cudaops_options_standard target options own_cxx own_cuda)
  if(own_cxx STREQUAL "NONE")
    return()
  endif()
  set(standard "-std=(c|gnu)[+][+]([0-9][0-9a-z])")
  if(options MATCHES ".*${standard}")
    set(place "target_compile_options(${target})")
    set(source "target_compile_options() or add_compile_options()")
  elseif("${CMAKE_CXX_FLAGS}" MATCHES ".*${standard}")
    set(place "CMAKE_CXX_FLAGS")
    set(source "CMAKE_CXX_FLAGS, compiles ${target}")
  else()
    return()
  endif()
  set(given "-std=${CMAKE_MATCH_1}++${CMAKE_MATCH_2}")
  set(number "${CMAKE_MATCH_2}")
  string(REPLACE "0x" "11" number "${number}")
  string(REPLACE "1y" "14" number "${number}")
  if(NOT number MATCHES "^(98|03|11|14)$")
    return()
  elseif(place STREQUAL "CMAKE_CXX_FLAGS" OR CMAKE_VERSION VERSION_LESS 3.26)
    # Since 3.26 CMake's own -std= stands before the options.
    _cudaops_options_standard_passed(${target} passed)
    if(passed)
      return()
    endif()
  endif()
  _cudaops_stop(
    "${place}: an option asks for an older C++ than the target's headers need."
    FACTS "found   ${given} (${source})" "wanted  C++17 or later; CMake passes what a target needs"
    FIX "leave ${given} out" "set(CMAKE_CXX_STANDARD ${number})   (in place of it, for the project's other targets)"
  )
endfunction()

# Stops where the strings of an op aren't those of torch's C++ interface: recipes of the years in which torch's own wheels
# had the older ones, whose links would miss hundreds of names.
function(_cudaops_options_strings target options own_cxx own_cuda)
  _cudaops_target_get(${target} ABI abi)
  if(NOT abi MATCHES "^(FULL|PYBIND)$")
    return()
  endif()
  get_target_property(definitions ${target} COMPILE_DEFINITIONS)
  get_target_property(directory ${target} SOURCE_DIR)
  get_property(more DIRECTORY "${directory}" PROPERTY COMPILE_DEFINITIONS)
  set(given "_GLIBCXX_USE_CXX11_ABI=0")
  if("${options};${definitions};${more}" MATCHES "${given}")
    set(place "the definitions or options of ${target}, or of its directory")
  elseif("${CMAKE_CXX_FLAGS}" MATCHES "${given}")
    set(place "CMAKE_CXX_FLAGS")
  else()
    return()
  endif()
  # A torch of one's own may have them.
  _cudaops_state_get(TORCH_LIB_DIR torch)
  set(newer "")
  if(EXISTS "${torch}/libc10.so")
    file(STRINGS "${torch}/libc10.so" newer REGEX "__cxx1112basic_string" LIMIT_COUNT 1)
  endif()
  if(newer)
    _cudaops_stop(
      "add_torch_op(${target}): torch's std::string is another than the op's."
      FACTS "found   ${given} (${place})" "torch   ${torch}/libc10.so has the strings of C++11"
      FIX "leave ${given} out"
    )
  endif()
endfunction()

# Whether CMake passes -std= to <target>: for more than the compiler's default, which its compile features and those of what
# it links ask for; without GNU's extensions; and, by the policies of 3.21 (CMP0128), for each CXX_STANDARD.
function(_cudaops_options_standard_passed target out)
  get_target_property(given ${target} CXX_STANDARD)
  get_target_property(extensions ${target} CXX_EXTENSIONS)
  get_target_property(features ${target} COMPILE_FEATURES)
  get_target_property(queue ${target} LINK_LIBRARIES)
  set(seen "")
  while(NOT queue STREQUAL "")
    list(POP_FRONT queue one)
    if(TARGET "${one}" AND NOT one IN_LIST seen)
      list(APPEND seen "${one}")
      get_target_property(more ${one} INTERFACE_COMPILE_FEATURES)
      list(APPEND features ${more})
      get_target_property(more ${one} INTERFACE_LINK_LIBRARIES)
      list(APPEND queue ${more})
    endif()
  endwhile()
  list(FILTER features INCLUDE REGEX "^cxx_std_[0-9]+$")
  list(TRANSFORM features REPLACE "cxx_std_" "")
  list(APPEND features ${given})
  list(FILTER features INCLUDE REGEX "^[1-8][0-9]$")
  list(SORT features COMPARE NATURAL ORDER DESCENDING)
  list(APPEND features 17)
  list(GET features 0 needed)
  set(${out} FALSE PARENT_SCOPE)
  if(
    needed GREATER "${CMAKE_CXX_STANDARD_COMPUTED_DEFAULT}"
    OR (NOT extensions AND NOT extensions MATCHES "-NOTFOUND$")
    OR (given AND CMAKE_MINIMUM_REQUIRED_VERSION VERSION_LESS 3.22)
  )
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()

# Stops where nvcc takes one of the options for one of its own: -Werror needs a value there.
function(_cudaops_options_nvcc target options own_cxx own_cuda)
  _cudaops_state_get(BACKEND backend)
  if(NOT own_cuda OR NOT backend STREQUAL "CUDA" OR options STREQUAL "")
    return()
  endif()
  _cudaops_options_words("${options}" words)
  _cudaops_probe(
    said
    MATCHALL "option '[^'\n]+'"
    STREAM ERROR
    PROGRAM
    COMMAND "${CMAKE_CUDA_COMPILER}" -forward-unknown-to-host-compiler ${words} -O3 --dryrun -x cu -c /dev/null -o /dev/null
  )
  if(said_EXIT STREQUAL "0" OR NOT said_OUTPUT MATCHES "option '([^']+)'")
    return()
  endif()
  set(name "${CMAKE_MATCH_1}")
  # One that nvcc doesn't know is no other option.
  if(name STREQUAL "std")
    return()
  endif()
  set(found "${words}")
  list(FILTER found INCLUDE REGEX "^--?${name}(=|$)")
  if(NOT found STREQUAL "")
    list(GET found 0 found)
    _cudaops_stop(
      "target_compile_options(${target}): nvcc has another option of this name, and the target has CUDA files."
      FACTS "found   ${found} (target_compile_options() or add_compile_options())" "CUDA    ${own_cuda}"
      FIX "\"$<$<COMPILE_LANGUAGE:CXX>:${found}>\"" "\"$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${found}>\"   (for nvcc's C++ compiler)"
    )
  endif()
endfunction()

# Where C++ files are of a standard that nvcc has not, such as C++23, CUDA files are of the newest that it has. CMake would
# stop: without a CUDA_STANDARD it takes CXX_STANDARD.
function(_cudaops_options_dialect target options own_cxx own_cuda)
  get_target_property(given ${target} CUDA_STANDARD)
  get_target_property(standard ${target} CXX_STANDARD)
  if(
    NOT CMAKE_CUDA_COMPILER
    OR given
    OR NOT standard MATCHES "^2"
    OR DEFINED CMAKE_CUDA${standard}_STANDARD_COMPILE_OPTION
  )
    return()
  endif()
  set(newest 17)
  if(DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(newest 20)
  endif()
  set_target_properties(${target} PROPERTIES CUDA_STANDARD ${newest})
  if(own_cuda)
    _cudaops_status(
      "CudaOps: ${target}: CXX_STANDARD is ${standard}, which CMake doesn't know of nvcc ${CMAKE_CUDA_COMPILER_VERSION}: CUDA files are C++${newest}"
    )
  endif()
endfunction()

# <options> as the words of a command.
function(_cudaops_options_words options out)
  set(words "")
  foreach(option IN LISTS options)
    if(option MATCHES "^SHELL:(.*)$")
      separate_arguments(option NATIVE_COMMAND "${CMAKE_MATCH_1}")
    endif()
    list(APPEND words ${option})
  endforeach()
  set(${out} "${words}" PARENT_SCOPE)
endfunction()

# <out-plain>: the options that stand in no generator expression; <out-cxx>: those that C++ files get, as far as it is
# known; <out-guarded>: all of them, those for any language kept from C++.
function(_cudaops_options_split options out_plain out_cxx out_guarded)
  set(plain "")
  set(cxx "")
  set(guarded "")
  set(whole "")
  set(depth 0)
  foreach(option IN LISTS options)
    string(REGEX MATCHALL "\\$<" opened "${option}")
    string(REGEX MATCHALL ">" closed "${option}")
    list(LENGTH opened opened)
    list(LENGTH closed closed)
    if(depth EQUAL 0 AND opened EQUAL 0)
      list(APPEND plain "${option}")
      list(APPEND cxx "${option}")
      if(NOT closed EQUAL 0)
        # It can't stand in an expression as it is.
        list(APPEND guarded "${option}")
        continue()
      endif()
    endif()
    # A semicolon inside of an expression has cut it.
    list(APPEND whole "${option}")
    math(EXPR depth "${depth} + ${opened} - ${closed}")
    if(NOT depth EQUAL 0)
      continue()
    elseif(NOT opened EQUAL 0 OR NOT closed EQUAL 0)
      _cudaops_options_of_cxx("${whole}" found)
      list(APPEND cxx ${found})
    endif()
    if(NOT whole MATCHES "COMPILE_LANG")
      set(whole "$<$<NOT:$<COMPILE_LANGUAGE:CXX>>:${whole}>")
    endif()
    list(APPEND guarded "${whole}")
    set(whole "")
  endforeach()
  list(APPEND guarded ${whole})
  set(${out_plain} "${plain}" PARENT_SCOPE)
  set(${out_cxx} "${cxx}" PARENT_SCOPE)
  set(${out_guarded} "${guarded}" PARENT_SCOPE)
endfunction()

# <out>: what a generator expression is for C++ files; empty where it holds one whose value isn't known here.
function(_cudaops_options_of_cxx expression out)
  set(${out} "" PARENT_SCOPE)
  set(configuration "${CMAKE_BUILD_TYPE}")
  if(CMAKE_CONFIGURATION_TYPES)
    set(configuration "?")
  endif()
  # From the innermost to the outermost.
  while(expression MATCHES "\\$<([^$<>]*)>")
    set(whole "${CMAKE_MATCH_0}")
    set(content "${CMAKE_MATCH_1}")
    string(REGEX MATCH "^([^:]*):?(.*)$" content "${content}")
    set(name "${CMAKE_MATCH_1}")
    set(value "${CMAKE_MATCH_2}")
    string(REPLACE "," ";" values "${value}")
    if(name STREQUAL "1")
      set(now "${value}")
    elseif(name STREQUAL "0")
      set(now "")
    elseif(name STREQUAL "COMPILE_LANGUAGE")
      set(in CXX)
    elseif(name STREQUAL "CXX_COMPILER_ID")
      set(in "${CMAKE_CXX_COMPILER_ID}")
    elseif(name STREQUAL "COMPILE_LANG_AND_ID")
      list(POP_FRONT values language)
      set(in "${CMAKE_CXX_COMPILER_ID}")
      if(NOT language STREQUAL "CXX")
        set(values "")
      endif()
    elseif(name STREQUAL "CONFIG" AND NOT configuration STREQUAL "?")
      string(TOUPPER "${configuration}" in)
      string(TOUPPER "${values}" values)
    elseif(name MATCHES "^(AND|OR|NOT|BOOL)$" AND NOT value STREQUAL "")
      set(in 1)
      if(name STREQUAL "BOOL")
        set(values 0)
        if(value)
          set(values 1)
        endif()
      elseif(name STREQUAL "NOT")
        set(in 0)
      elseif(name STREQUAL "AND" AND "0" IN_LIST values)
        set(values 0)
      endif()
    else()
      return()
    endif()
    if(NOT name MATCHES "^[01]$")
      set(now 0)
      if(in IN_LIST values)
        set(now 1)
      endif()
    endif()
    string(REPLACE "${whole}" "${now}" expression "${expression}")
  endwhile()
  set(${out} "${expression}" PARENT_SCOPE)
endfunction()

# Stops where the C++ compiler says that it doesn't know an option, and the target has C++ files.
function(_cudaops_options_unknown target options own_cxx own_cuda)
  if(own_cxx STREQUAL "" OR own_cxx STREQUAL "NONE" OR options STREQUAL "")
    return()
  endif()
  _cudaops_options_words("${options}" words)
  _cudaops_cxx(cxx)
  _cudaops_probe(
    said
    MATCHALL "(unrecognized|unknown|unsupported)[a-z -]* (option|argument):? '[^'\n]+'"
    STREAM ERROR
    PROGRAM
    ENVIRONMENT LC_ALL=C
    COMMAND "${cxx}" ${words} -fsyntax-only -x c++ /dev/null
  )
  if(said_EXIT STREQUAL "0")
    return()
  endif()
  set(refused "")
  list(TRANSFORM said_OUTPUT REPLACE "^.*'([^']+)'$" "\\1")
  foreach(option IN LISTS options)
    foreach(word IN LISTS said_OUTPUT)
      string(FIND "${option}" "${word}" position)
      if(NOT position EQUAL -1)
        list(APPEND refused "${option}")
        break()
      endif()
    endforeach()
  endforeach()
  if(refused STREQUAL "")
    return()
  endif()
  list(JOIN refused " " found)
  list(JOIN refused ";" fix)
  _cudaops_stop(
    "target_compile_options(${target}): the C++ compiler has no such option, and the target has C++ files."
    FACTS "found   ${found}" "C++     ${own_cxx}, compiled by ${cxx}"
    FIX "target_compile_options(${target} PRIVATE \"$<$<COMPILE_LANGUAGE:CUDA>:${fix}>\")"
  )
endfunction()

function(_cudaops_options_architectures target options own_cxx own_cuda)
  _cudaops_options_warn_architectures("target_compile_options(${target})" "${options}")
endfunction()

# Warns of architectures among <options>, which are those of <where>: they are compiled besides those of the target.
function(_cudaops_options_warn_architectures where options)
  if(NOT "${options}" MATCHES "(gencode|generate-code|arch|gpu-code|-code)[ =;]")
    return()
  endif()
  set(names "gencode|generate-code|arch|gpu-architecture|code|gpu-code|offload-arch|cuda-gpu-arch")
  string(REGEX MATCHALL "(^|[;: ])--?(${names})[ =;]+[^;> ]+" found ";${options}")
  # Code for the link, which is made into that of the target's architectures.
  list(FILTER found EXCLUDE REGEX "lto_")
  set(shown "")
  set(archs "")
  foreach(option IN LISTS found)
    if(option STREQUAL "" OR option MATCHES "^[:]?$")
      continue()
    endif()
    string(REGEX REPLACE "^[;: ]" "" option "${option}")
    list(APPEND shown "${option}")
    string(REGEX REPLACE "arch=compute_[0-9]+[af]?,code=" "" value "${option}")
    string(REGEX REPLACE "^--?(${names})[ =;]+" "" value "${value}")
    _cudaops_use(arch/grammar)
    _cudaops_arch_parse("${value}" entries error meant)
    list(APPEND archs ${entries} ${meant})
  endforeach()
  if(shown STREQUAL "")
    return()
  endif()
  _cudaops_state_get(BACKEND gpu)
  if(NOT gpu STREQUAL "HIP")
    set(gpu CUDA)
  endif()
  set(example "<arch>")
  if(gpu STREQUAL "CUDA" AND NOT archs STREQUAL "")
    list(REMOVE_DUPLICATES archs)
    set(example "${archs}")
    if(archs MATCHES ";")
      set(example "\"${archs}\"")
    endif()
  endif()
  list(JOIN shown "  " shown)
  _cudaops_warn(
    "${where}: the compile options contain architectures."
    FACTS
      "found   ${shown}"
      "rule    they are compiled in addition to the target's, and reports, checks and messages don't have them"
    FIX "leave them out, and -DCMAKE_${gpu}_ARCHITECTURES=${example}"
  )
endfunction()
