# SPDX-License-Identifier: Apache-2.0
# Where CUDA's libraries and their headers are, for match/cuda_libraries: asked where it isn't known from an earlier configure
# step.

_cudaops_use(base/paths base/stamps base/state facts/library)

# _cudaops_find_cuda_libraries(): fills "LIBRARY <name>" (the file) and "LIBRARY_INCLUDE <name>", or "LIBRARY_PROBLEM <name>",
# "LIBRARY_FACTS <name>" and "LIBRARY_FIX <name>".
#
# By its SONAME file, because wheels have libcurand.so.10 and no libcurand.so.
function(_cudaops_find_cuda_libraries)
  _cudaops_state_get(PYTHON_NVIDIA_DIRS nvidia)
  _cudaops_state_get(TORCH_VERSION torch)
  _cudaops_state_get(TORCH_LIB_DIR torch_lib)
  _cudaops_state_get(TOOLKIT_INCLUDE_DIRS toolkit_includes)
  _cudaops_state_get(TOOLKIT_LIB_DIR toolkit_lib)
  _cudaops_state_get(PYTHON_EXECUTABLE python)
  set(needed "")
  foreach(library IN ITEMS torch_cuda torch_cuda_linalg)
    _cudaops_library_facts(more "${torch_lib}/lib${library}.so" "${python}" --needed)
    list(APPEND needed ${more})
  endforeach()
  set(directories "")
  set(places "")
  foreach(directory IN LISTS nvidia)
    _cudaops_glob_in(in "${directory}")
    file(GLOB found LIST_DIRECTORIES true "${in}/*/lib")
    _cudaops_follows_names("${directory}")
    list(APPEND directories ${found})
    list(APPEND places "${directory}/*/lib")
  endforeach()
  if(torch_lib)
    # conda's libraries lie in the prefix, <prefix>/lib/python3.x/site-packages/torch/lib below it.
    cmake_path(SET prefix_lib NORMALIZE "${torch_lib}/../../../..")
    string(REGEX REPLACE "/$" "" prefix_lib "${prefix_lib}")
    list(APPEND directories "${torch_lib}" "${prefix_lib}")
    list(APPEND places "${torch_lib}" "${prefix_lib}")
  endif()
  list(APPEND directories "${toolkit_lib}" "${toolkit_lib}/..")
  list(APPEND places "${toolkit_lib}")
  _cudaops_follows(${directories})
  # libtorch's zip has libcublas-1234abcd.so.12; libnvrtc-builtins.so.13 is another library than libnvrtc.
  string(REPEAT "[0-9a-f]" 8 hash)
  # Its header; headers that aren't called by its name; libraries whose headers its own include; its wheel.
  foreach(
    entry
    IN
    ITEMS
      "cublas|cublas_v2.h|||cublas"
      "cublasLt|cublasLt.h||cublas|cublas"
      "cusparse|cusparse.h|||cusparse"
      "cusolver|cusolverDn.h||cublas,cusparse|cusolver"
      "cufft|cufft.h|cudalibxt.h||cufft"
      "curand|curand.h|||curand"
      "nvrtc|nvrtc.h|||cuda-nvrtc"
      "cudnn|cudnn.h|||cudnn"
      "nccl|nccl.h|||nccl"
  )
    string(REPLACE "|" ";" entry "${entry}")
    list(
      POP_FRONT entry
      name
      header
      others
      uses
      wheel
    )
    # The SONAME that torch links, where it links this library; wheels of two CUDA majors may lie side by side.
    set(soname "")
    if(";${needed};" MATCHES ";(lib${name}\\.so\\.[0-9]+);")
      set(soname "${CMAKE_MATCH_1}")
    endif()
    set(location "")
    set(other "")
    foreach(directory IN LISTS directories)
      _cudaops_glob_in(in "${directory}")
      file(GLOB found "${in}/lib${name}.so.[0-9]*" "${in}/lib${name}-${hash}.so*")
      if(NOT found AND EXISTS "${directory}/lib${name}.so")
        set(found "${directory}/lib${name}.so")
      endif()
      if(soname AND EXISTS "${directory}/${soname}")
        set(found "${directory}/${soname}")
      elseif(soname AND found)
        list(GET found 0 other)
        continue()
      endif()
      if(found)
        list(GET found 0 location)
        break()
      endif()
    endforeach()
    if(location STREQUAL "")
      set(wanted "${soname}")
      if(soname STREQUAL "")
        set(wanted "lib${name}.so")
      endif()
      _cudaops_library_cure(fix ${name} "${wheel}" "${wanted}")
      if(other)
        set(what "torch ${torch} loads ${soname}, and here is only ${other}")
      else()
        set(what "it was not found")
      endif()
      list(TRANSFORM places PREPEND "tried   " OUTPUT_VARIABLE facts)
      _cudaops_library_missing(${name} "${what}" FACTS "wanted  ${wanted}" ${facts} FIX ${fix})
      set(include_${name} "")
      continue()
    endif()

    _cudaops_library_include(include "${location}" "${header}" "${toolkit_includes}")
    set(include_${name} "")
    if(include)
      _cudaops_library_headers(include_${name} ${name} "${include}" "${others}")
    else()
      _cudaops_library_header_major(headers_major ${name} "${toolkit_includes}")
      string(REGEX MATCH "\\.so\\.([0-9]+)" matched "${location}")
      set(major "${CMAKE_MATCH_1}")
      if(major AND headers_major AND NOT major EQUAL headers_major)
        _cudaops_library_cure(fix ${name} "${wheel}" "headers of lib${name}.so.${major}")
        _cudaops_library_missing(
          ${name}
          "the library is release ${major}, and its headers are of release ${headers_major}"
          FACTS "library ${location}" "headers ${header} in ${toolkit_includes}"
          FIX ${fix}
        )
        continue()
      endif()
    endif()
    string(REPLACE "," ";" uses "${uses}")
    foreach(used IN LISTS uses)
      list(APPEND include_${name} ${include_${used}})
    endforeach()
    _cudaops_state_set("LIBRARY ${name}" "${location}")
    _cudaops_state_set("LIBRARY_INCLUDE ${name}" "${include_${name}}")
  endforeach()
  _cudaops_find_driver_libraries()
endfunction()

# _cudaops_library_include(<out> <library file> <header> <toolkit's include directories>)
#
# The directory with the headers of the copy that <library file> belongs to; empty where that is the toolkit itself, or
# where it brings no headers.
function(_cudaops_library_include out location header toolkit_includes)
  set(${out} "" PARENT_SCOPE)
  # conda's <prefix>/lib holds links into <prefix>/targets/<machine>/lib.
  file(REAL_PATH "${location}" real)
  foreach(file IN ITEMS "${location}" "${real}")
    cmake_path(GET file PARENT_PATH directory)
    cmake_path(GET directory PARENT_PATH root)
    set(include "${root}/include")
    _cudaops_follows("${include}/${header}")
    if(EXISTS "${include}/${header}")
      file(REAL_PATH "${include}" real_include)
      if(NOT real_include IN_LIST toolkit_includes)
        set(${out} "${include}" PARENT_SCOPE)
      endif()
      return()
    endif()
  endforeach()
endfunction()

# _cudaops_library_headers(<out> <name> <include directory> <comma separated names of more>)
#
# A directory of the build tree with links to the headers of CudaOps::<name>: those that are called by its name, as all
# of NVIDIA's are. Links, because a header is looked for beside the file that names it, by the path that it was opened by.
function(_cudaops_library_headers out name include others)
  set(directory "${CMAKE_CURRENT_BINARY_DIR}/CudaOps/include/${name}")
  string(REPLACE "," ";" others "${others}")
  _cudaops_glob_in(in "${include}")
  list(TRANSFORM others PREPEND "${in}/")
  file(GLOB headers LIST_DIRECTORIES true "${in}/${name}*" ${others})
  _cudaops_follows("${include}")
  set(made "")
  if(EXISTS "${directory}.txt")
    file(READ "${directory}.txt" made)
  endif()
  if(NOT made STREQUAL "${headers}" OR NOT IS_DIRECTORY "${directory}")
    file(REMOVE_RECURSE "${directory}")
    file(MAKE_DIRECTORY "${directory}")
    foreach(header IN LISTS headers)
      cmake_path(GET header FILENAME file)
      file(CREATE_LINK "${header}" "${directory}/${file}" SYMBOLIC)
    endforeach()
    file(WRITE "${directory}.txt" "${headers}")
  endif()
  _cudaops_follows("${directory}" "${directory}.txt")
  set(${out} "${directory}" PARENT_SCOPE)
endfunction()

# _cudaops_library_header_major(<out> <name> <include directories>)
#
# The number of the SONAME that the headers of CudaOps::<name> belong to, as they say it; empty where they don't.
function(_cudaops_library_header_major out name includes)
  set(${out} "" PARENT_SCOPE)
  string(TOUPPER "${name}" upper)
  foreach(directory IN LISTS includes)
    _cudaops_glob_in(in "${directory}")
    file(GLOB headers "${in}/${name}.h" "${in}/${name}_*.h")
    _cudaops_follows("${directory}")
    foreach(header IN LISTS headers)
      _cudaops_follows("${header}")
      file(STRINGS "${header}" line REGEX "^[ \t]*#[ \t]*define[ \t]+${upper}_(VER_)?MAJOR[ \t]" LIMIT_COUNT 1)
      if(line MATCHES "MAJOR[ \t]+([0-9]+)")
        set(${out} "${CMAKE_MATCH_1}" PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endforeach()
endfunction()

# _cudaops_library_cure(<out> <name> <wheel> <what>): where to get it from.
function(_cudaops_library_cure out name wheel what)
  _cudaops_state_get(PYTHON_EXECUTABLE python)
  _cudaops_state_get(PYTHON_NVIDIA_DIRS wheels)
  _cudaops_state_get(TORCH_LIB_DIR torch_lib)
  _cudaops_state_get(TORCH_CUDA cuda)
  _cudaops_state_get(TORCH_TOOLKIT_PIN pin)
  string(REGEX MATCH "^[0-9]+" major "${cuda}")
  set(fix "-DCUDAToolkit_ROOT=<toolkit>   (one that has ${what})")
  if(wheels AND python AND major)
    set(package "nvidia-${wheel}-cu${major}")
    if(major GREATER_EQUAL 13 AND NOT name MATCHES "^(cudnn|nccl)$")
      string(REGEX REPLACE "^cuda-" "" extra "${wheel}")
      if(NOT pin)
        set(pin "${cuda}.*")
      endif()
      set(package "\"cuda-toolkit[${extra}]==${pin}\"")
    endif()
    set(fix "${python} -m pip install ${package}" "or ${fix}")
  elseif(EXISTS "${torch_lib}/../conda-meta" OR EXISTS "${torch_lib}/../../../../../conda-meta")
    set(package "lib${wheel}-dev")
    if(name MATCHES "^(cudnn|nccl)$")
      set(package "${name}")
    elseif(name STREQUAL "nvrtc")
      set(package "${wheel}-dev")
    endif()
    set(fix "conda install -c conda-forge ${package}   (${what})" "or ${fix}")
  endif()
  set(${out} "${fix}" PARENT_SCOPE)
endfunction()

# The driver's own libraries: found on every machine with a driver, as stubs on the others. find_library() would read
# the whole of some twenty directories.
function(_cudaops_find_driver_libraries)
  _cudaops_state_get(TOOLKIT_LIB_DIR toolkit_lib)
  file(TO_CMAKE_PATH "$ENV{CMAKE_PREFIX_PATH}" prefixes)
  file(TO_CMAKE_PATH "$ENV{CMAKE_LIBRARY_PATH}" libraries)
  set(prefixes ${CMAKE_PREFIX_PATH} ${prefixes} ${CMAKE_SYSTEM_PREFIX_PATH})
  list(TRANSFORM prefixes APPEND "/lib" OUTPUT_VARIABLE prefix_libs)
  list(TRANSFORM prefixes APPEND "/lib64")
  set(
    directories
    ${CMAKE_LIBRARY_PATH}
    ${libraries}
    ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES}
    "${toolkit_lib}/stubs"
    "${toolkit_lib}/../lib/stubs"
    ${prefix_libs}
    ${prefixes}
    ${CMAKE_SYSTEM_LIBRARY_PATH}
  )
  foreach(entry IN ITEMS "cuda_driver|cuda" "nvml|nvidia-ml")
    string(REPLACE "|" ";" entry "${entry}")
    list(POP_FRONT entry name file)
    set(location "")
    foreach(directory IN LISTS directories)
      # Containers get the driver's files by their SONAME alone.
      foreach(ending IN ITEMS so so.1)
        if(location STREQUAL "")
          _cudaops_follows("${directory}/lib${file}.${ending}")
        endif()
        if(location STREQUAL "" AND EXISTS "${directory}/lib${file}.${ending}")
          set(location "${directory}/lib${file}.${ending}")
        endif()
      endforeach()
      if(location)
        break()
      endif()
    endforeach()
    if(location STREQUAL "")
      _cudaops_library_missing(
        ${name}
        "neither the driver's library nor a stub of it was found"
        FACTS
          "wanted  lib${file}.so" "tried   ${toolkit_lib}/stubs"
          "tried   CMAKE_LIBRARY_PATH, CMAKE_PREFIX_PATH, the compiler's directories and CMake's"
        FIX "install NVIDIA's driver, or the toolkit's stubs of it"
            "or -DCMAKE_LIBRARY_PATH=<directory with lib${file}.so>"
      )
    else()
      _cudaops_state_set("LIBRARY ${name}" "${location}")
    endif()
  endforeach()
endfunction()

# _cudaops_library_missing(<name> <what> [FACTS <line>...] [FIX <line>...]): as _cudaops_library_problem() takes it.
function(_cudaops_library_missing name what)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "FACTS;FIX")
  _cudaops_state_set("LIBRARY_PROBLEM ${name}" "${what}")
  _cudaops_state_set("LIBRARY_FACTS ${name}" "${arg_FACTS}")
  _cudaops_state_set("LIBRARY_FIX ${name}" "${arg_FIX}")
endfunction()
