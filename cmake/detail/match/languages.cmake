# SPDX-License-Identifier: Apache-2.0
# Around enabling the CUDA language: torch's flags, a comparison after it (the trial before it is in match/trial). The
# enable_language() itself is in FindCudaTorchMatch.cmake: inside a function it would be broken for the caller.

_cudaops_use(base/message base/options base/programs base/state)

# _cudaops_language_clean_flags()
#
# A project's own find_package(Torch) switches CMAKE_CUDA_ARCHITECTURES off and puts -gencode options for archs of its
# own choice into CMAKE_CUDA_FLAGS, where they reach every target of the directory. They are taken out again, of the
# caller's scope, unless the user gave them; targets that were made meanwhile get the archs that they would have had.
# Torch's other options stay: a project may lean on them. Called before the match, and at the end of a directory, which
# is when CMake reads the flags.
function(_cudaops_language_clean_flags)
  if(NOT TORCH_FOUND AND NOT Torch_FOUND)
    return()
  endif()
  string(REGEX MATCHALL "(-gencode|--generate-code)[ =]+\"?arch=[^ ]+" options "${CMAKE_CUDA_FLAGS}")
  set(flags "${CMAKE_CUDA_FLAGS}")
  foreach(option IN LISTS options)
    string(FIND "$CACHE{CMAKE_CUDA_FLAGS}" "${option}" given)
    if(given EQUAL -1)
      string(REPLACE " ${option}" "" flags "${flags}")
      string(REPLACE "${option}" "" flags "${flags}")
    endif()
  endforeach()
  if(flags STREQUAL CMAKE_CUDA_FLAGS)
    return()
  endif()
  _cudaops_verbose("find_package(Torch) put architectures into CMAKE_CUDA_FLAGS; they are taken out again")
  set(CMAKE_CUDA_FLAGS "${flags}" PARENT_SCOPE)
  _cudaops_state_get(ARCHITECTURES_VARIABLE archs)
  if(archs STREQUAL "")
    return()
  endif()
  get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(own ${target} CUDA_ARCHITECTURES)
    if(own STREQUAL "OFF")
      set_property(TARGET ${target} PROPERTY CUDA_ARCHITECTURES "${archs}")
    endif()
  endforeach()
endfunction()

# _cudaops_language_forget()
#
# CMake keeps the compilers of the first configure whatever is set later. When its record names others than the chosen
# ones it is removed, so that CMake looks again.
function(_cudaops_language_forget)
  set(record "${CMAKE_PLATFORM_INFO_DIR}/CMakeCUDACompiler.cmake")
  if(NOT EXISTS "${record}")
    return()
  endif()
  _cudaops_state_get(TOOLKIT_NVCC nvcc)
  _cudaops_state_get(TOOLKIT_VERSION version)
  _cudaops_state_get(HOST_COMPILER host)
  _cudaops_state_get(HOST_COMPILER_GIVEN given)
  file(STRINGS "${record}" lines REGEX "^set\\(CMAKE_CUDA_(COMPILER|HOST_COMPILER|COMPILER_VERSION) " ENCODING UTF-8)
  set(recorded_compiler "")
  set(recorded_host "")
  set(recorded_version "")
  foreach(line IN LISTS lines)
    if(line MATCHES "CMAKE_CUDA_COMPILER \"([^\"]*)\"")
      set(recorded_compiler "${CMAKE_MATCH_1}")
    elseif(line MATCHES "CMAKE_CUDA_HOST_COMPILER \"([^\"]*)\"")
      set(recorded_host "${CMAKE_MATCH_1}")
    elseif(line MATCHES "CMAKE_CUDA_COMPILER_VERSION \"([^\"]*)\"")
      set(recorded_version "${CMAKE_MATCH_1}")
    endif()
  endforeach()
  if(
    NOT recorded_compiler STREQUAL nvcc
    OR (given AND NOT recorded_host STREQUAL host)
    OR NOT recorded_version STREQUAL version
  )
    _cudaops_verbose("CUDA is detected anew: ${recorded_compiler} ${recorded_version} was recorded, ${nvcc} ${version} is chosen")
    file(REMOVE "${record}")
  endif()
endfunction()

# _cudaops_language_dialects()
#
# C++20 of nvcc, which CMake has known since 3.25.2, in the caller's scope.
function(_cudaops_language_dialects)
  _cudaops_state_get(TOOLKIT_VERSION version)
  if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.25.2 OR version VERSION_LESS 12)
    return()
  endif()
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20" PARENT_SCOPE)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20" PARENT_SCOPE)
  if(NOT "cuda_std_20" IN_LIST CMAKE_CUDA_COMPILE_FEATURES)
    set(CMAKE_CUDA_COMPILE_FEATURES "${CMAKE_CUDA_COMPILE_FEATURES};cuda_std_20" PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_language_verify(): what CMake enabled is what was chosen.
function(_cudaops_language_verify)
  _cudaops_state_get(TOOLKIT_NVCC nvcc)
  _cudaops_state_get(TOOLKIT_VERSION version)
  _cudaops_nvcc_real("${CMAKE_CUDA_COMPILER}" compiler)
  if(NOT compiler STREQUAL nvcc AND NOT CMAKE_CUDA_COMPILER_VERSION VERSION_EQUAL version)
    _cudaops_stop(
      "find_package(CudaTorchMatch): CMake uses another CUDA compiler than the chosen one."
      FACTS "chosen  ${nvcc} ${version}" "CMake   ${CMAKE_CUDA_COMPILER} ${CMAKE_CUDA_COMPILER_VERSION}"
      FIX "cmake --fresh   (the build directory remembers a compiler of an earlier configure)"
    )
  endif()
endfunction()

# _cudaops_language_check_scope(<language> <function>): deferred to the end of the directory that called find_package().
# <function> is the one that called it, "outer() (<file>:<line>)", or empty.
function(_cudaops_language_check_scope language function)
  if(NOT DEFINED CMAKE_${language}_COMPILE_OBJECT)
    _cudaops_language_in_function("find_package(CudaTorchMatch)" ${language} "${function}")
  endif()
endfunction()

# _cudaops_language_in_function(<command> <language> <function>): stops. Inside a function a language is enabled for the
# function only.
function(_cudaops_language_in_function command language function)
  string(REGEX REPLACE "\\(\\).*$" "" name "${function}")
  if(name STREQUAL "")
    set(name "the function")
    set(function "a function of this directory")
  endif()
  _cudaops_stop(
    "${command}: ${language} isn't enabled in this directory: find_package(CudaTorchMatch) was called inside a function."
    FACTS "found   ${function}" "wanted  the call at the top level of a CMakeLists.txt"
    FIX "move find_package(CudaTorchMatch) out of ${name}, or make ${name} a macro()"
  )
endfunction()
