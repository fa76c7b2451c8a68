# SPDX-License-Identifier: Apache-2.0
# One compile step an architecture: in a target's list of sources, files take the place of a .cu that stand for one of its
# architectures each, and one that stands for the object; it waits for them. launcher/cubins.cpp launches the compiles and
# does the rest. So CMake makes the commands of these steps as it does for any source of that target, whatever is said
# of it, and the steps of one file differ in nothing but its name.

_cudaops_use(accelerate/cache accelerate/jobs_sizes base/message base/options base/paths base/state launch/launch launch/launcher)

# _cudaops_cubins_target(<target> <command>): at the end of this directory, when all is known of the target.
function(_cudaops_cubins_target target command)
  _cudaops_state_get(BACKEND backend)
  _cudaops_target_get(${target} CUBINS already)
  if(already OR backend STREQUAL "HIP")
    return()
  endif()
  _cudaops_target_set(${target} CUBINS TRUE)
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _cudaops_cubins_finish [[${target}]] [[${command}]])")
endfunction()

function(_cudaops_cubins_finish target command)
  get_target_property(sources ${target} SOURCES)
  _cudaops_jobs_sources(${target} device ignored)
  if(device STREQUAL "" OR NOT CMAKE_CUDA_COMPILER)
    return()
  endif()
  _cudaops_cubins_archs(${target} archs)
  _cudaops_cubins_obstacle(${target} "${archs}" obstacle)
  if(NOT obstacle STREQUAL "")
    _cudaops_status("${command}(${target}): architectures are compiled together: ${obstacle}")
    return()
  endif()

  _cudaops_top_directories(ignored build)
  set(directory "CudaOps/cubins/${target}")
  set(objects "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/${directory}")
  _cudaops_cubins_tools(table)
  set(compiled "")
  set(replaced "")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE OUTPUT_VARIABLE path)
    if(NOT IS_ABSOLUTE "${source}" AND NOT EXISTS "${path}")
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE OUTPUT_VARIABLE path)
    endif()
    get_source_file_property(header "${path}" HEADER_FILE_ONLY)
    if(NOT path IN_LIST device OR header OR path MATCHES "[\"\t\r\n\\\\]|\\.[hH][iI][pP]$")
      list(APPEND compiled "${source}")
      continue()
    endif()
    # The files that stand for it are called by what it is called, and as long as it is called so.
    cmake_path(GET path STEM LAST_ONLY stem)
    string(MAKE_C_IDENTIFIER "${stem}" stem)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" OUTPUT_VARIABLE relative)
    string(SHA1 id "${relative}")
    string(SUBSTRING "${id}" 0 6 id)
    set(name "${stem}_${id}")
    # As CMake says it in a command.
    set(said "${path}")
    cmake_path(IS_PREFIX build "${path}" NORMALIZE inside)
    if(CMAKE_GENERATOR STREQUAL "Ninja" AND inside)
      cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${build}" OUTPUT_VARIABLE said)
    endif()
    _cudaops_launcher_line(table stand_in "${name}")
    _cudaops_launcher_line(table stands_for "${said}")
    list(APPEND replaced "${path}")
    set(outputs "")
    foreach(arch IN LISTS archs)
      _cudaops_cubins_file("${directory}/${name}.${arch}.cu" "${path}" "${path}")
      list(APPEND compiled "${CMAKE_CURRENT_BINARY_DIR}/${directory}/${name}.${arch}.cu")
      list(APPEND outputs "${objects}/${name}.${arch}.cu.o")
    endforeach()
    _cudaops_cubins_file("${directory}/${name}.cu" "${path}" "${path};${outputs}")
    list(APPEND compiled "${CMAKE_CURRENT_BINARY_DIR}/${directory}/${name}.cu")
  endforeach()
  if(replaced STREQUAL "")
    return()
  endif()
  set_property(TARGET ${target} PROPERTY SOURCES "${compiled}")
  _cudaops_cache_step(${target} CUDA)
  _cudaops_launch_add(${target} CUDA cubins "${table}")
  # A step is one architecture; what puts them together compiles none.
  _cudaops_target_set(${target} THREADS "")
  _cudaops_cubins_export(${target} ${replaced})
endfunction()

# _cudaops_cubins_export(<target> <source>...): compile_commands.json knows the sources as well, for editors. CMake writes
# it from targets, so there is one that compiles them as <target> would, and that nothing builds.
function(_cudaops_cubins_export target)
  get_target_property(export ${target} EXPORT_COMPILE_COMMANDS)
  if(NOT export)
    return()
  endif()
  set(editors "${target}_compile_commands")
  add_library(${editors} OBJECT EXCLUDE_FROM_ALL ${ARGN})
  foreach(
    property
    IN
    ITEMS
      COMPILE_DEFINITIONS
      COMPILE_FEATURES
      COMPILE_OPTIONS
      CUDA_ARCHITECTURES
      CUDA_EXTENSIONS
      CUDA_RUNTIME_LIBRARY
      CUDA_STANDARD
      CUDA_STANDARD_REQUIRED
      CUDA_VISIBILITY_PRESET
      INCLUDE_DIRECTORIES
      LINK_LIBRARIES
      POSITION_INDEPENDENT_CODE
      VISIBILITY_INLINES_HIDDEN
  )
    get_property(set TARGET ${target} PROPERTY ${property} SET)
    if(set)
      get_property(value TARGET ${target} PROPERTY ${property})
      set_property(TARGET ${editors} PROPERTY ${property} "${value}")
    endif()
  endforeach()
  get_target_property(type ${target} TYPE)
  if(type MATCHES "^(SHARED|MODULE)_LIBRARY$")
    get_target_property(symbol ${target} DEFINE_SYMBOL)
    if(NOT symbol)
      string(MAKE_C_IDENTIFIER "${target}_EXPORTS" symbol)
    endif()
    set_property(TARGET ${editors} APPEND PROPERTY COMPILE_DEFINITIONS "${symbol}")
    get_property(set TARGET ${editors} PROPERTY POSITION_INDEPENDENT_CODE SET)
    if(NOT set)
      set_property(TARGET ${editors} PROPERTY POSITION_INDEPENDENT_CODE ON)
    endif()
  endif()
  set_target_properties(${editors} PROPERTIES EXPORT_COMPILE_COMMANDS ON UNITY_BUILD OFF)
endfunction()

# _cudaops_cubins_file(<file> <source> <depends>): stands for <source>, whose properties it has.
function(_cudaops_cubins_file file source depends)
  set(path "${CMAKE_CURRENT_BINARY_DIR}/${file}")
  file(CONFIGURE OUTPUT "${path}" CONTENT "#include \"@source@\"\n" @ONLY)
  foreach(
    property
    IN
    ITEMS COMPILE_OPTIONS COMPILE_DEFINITIONS COMPILE_FLAGS INCLUDE_DIRECTORIES JOB_POOL_COMPILE OBJECT_DEPENDS
  )
    get_source_file_property(value "${source}" ${property})
    if(property STREQUAL "OBJECT_DEPENDS")
      if(value)
        list(APPEND depends ${value})
      endif()
      set(value "${depends}")
    endif()
    if(value)
      set_property(SOURCE "${path}" PROPERTY ${property} "${value}")
    endif()
  endforeach()
endfunction()

# _cudaops_cubins_archs(<target> <out>): compute_90a and the like, as nvcc names what it compiles apart.
function(_cudaops_cubins_archs target out)
  get_target_property(archs ${target} CUDA_ARCHITECTURES)
  if(NOT archs)
    set(archs "")
  endif()
  list(TRANSFORM archs REPLACE "^([0-9]+[af]?)(-real|-virtual)?$" "compute_\\1")
  list(FILTER archs INCLUDE REGEX "^compute_[0-9]+[af]?$")
  list(REMOVE_DUPLICATES archs)
  set(${out} "${archs}" PARENT_SCOPE)
endfunction()

# _cudaops_cubins_obstacle(<target> <archs> <out>): why the architectures are not compiled apart, in a few words.
function(_cudaops_cubins_obstacle target archs out)
  set(obstacle "")
  list(LENGTH archs count)
  _cudaops_launch_user(${target} CUDA launcher)
  _cudaops_launch_excluded(${target} CUDA cubins excluded)
  _cudaops_cache_choose()
  _cudaops_state_get(CACHE_ENGINE engine)
  get_target_property(unity ${target} UNITY_BUILD)
  get_target_property(ipo ${target} INTERPROCEDURAL_OPTIMIZATION)
  get_target_property(options ${target} COMPILE_OPTIONS)
  set(flags " ${CMAKE_CUDA_FLAGS} ${options}")
  _cudaops_launcher(program problem)
  if(program STREQUAL "")
    set(obstacle "${problem}")
  elseif(NOT CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA")
    set(obstacle "the CUDA compiler is ${CMAKE_CUDA_COMPILER_ID}, not nvcc")
  elseif(NOT CMAKE_GENERATOR MATCHES "^(Ninja|Unix Makefiles)$")
    set(obstacle "the generator is ${CMAKE_GENERATOR}, not Ninja or Unix Makefiles")
  elseif(count LESS 2)
    get_target_property(found ${target} CUDA_ARCHITECTURES)
    set(obstacle "CUDA_ARCHITECTURES is ${found}")
  elseif(NOT launcher STREQUAL "")
    set(obstacle "their compiles have a launcher already (${launcher})")
  elseif(engine STREQUAL "sccache")
    set(obstacle "sccache takes them apart itself")
  elseif(NOT excluded STREQUAL "")
    set(obstacle "nvcc's phases are traced")
  elseif(unity)
    set(obstacle "UNITY_BUILD is ${unity}")
  elseif(ipo)
    set(obstacle "INTERPROCEDURAL_OPTIMIZATION is ${ipo}")
  elseif(flags MATCHES "[ ;:\"](-dc|--device-c|-dlto|--dlink-time-opt|-ewp|--extensible-whole-program)([ =;>\"]|$)")
    set(obstacle "${CMAKE_MATCH_1} is among the options")
  endif()
  set(${out} "${obstacle}" PARENT_SCOPE)
endfunction()

# _cudaops_cubins_tools(<out>): lines of the settings, of what is the same in all of this build tree.
function(_cudaops_cubins_tools out)
  _cudaops_top_directories(ignored build)
  set(directory "${build}/CudaOps")
  # The program, as the cache calls it.
  set(compiler "${directory}/cubins_compiler")
  _cudaops_launcher_name("${compiler}")
  set(text "")
  _cudaops_launcher_line(text cubins 1)
  _cudaops_launcher_line(text cubins_compiler "${compiler}")
  _cudaops_launcher_line(text cxx "${CMAKE_CXX_COMPILER}")
  _cudaops_launcher_line(text cubins_empty "${directory}/cubins_empty.o")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()
