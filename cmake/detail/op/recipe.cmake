# SPDX-License-Identifier: Apache-2.0
# RECIPE: what add_torch_op() was told, and the sources, installed beside the library, so that cudaops.OpLibrary() can build
# the op where no library fits. What target_*() calls add to the target afterwards is a part of it.

_cudaops_use(base/message base/paths base/programs base/state)

# _cudaops_check_recipe(<command(target)> <install>)
function(_cudaops_check_recipe command install)
  if(install STREQUAL "")
    _cudaops_stop(
      "${command}: RECIPE is installed beside the library, and needs INSTALL."
      FIX "INSTALL <directory of the Python package>, below the install prefix"
    )
  endif()
endfunction()

# _cudaops_op_recipe(<target> <dir> <line>...)
#
# The lines are <key>=<value>, for cudaops/jit/recipe.py. Called at the end of add_torch_op(): what the target's
# properties hold by then is not the user's.
function(_cudaops_op_recipe target directory)
  set(text "")
  foreach(line IN LISTS ARGN)
    string(APPEND text "${line}\n")
  endforeach()
  _cudaops_target_set(${target} RECIPE_TEXT "${text}")
  _cudaops_target_set(${target} RECIPE_DIRECTORY "${directory}")
  foreach(
    property
    IN
    ITEMS INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS LINK_OPTIONS LINK_LIBRARIES
  )
    get_target_property(values ${target} ${property})
    if(NOT values)
      set(values "")
    endif()
    _cudaops_target_set(${target} RECIPE_${property} "${values}")
  endforeach()
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _cudaops_op_recipe_finish [[${target}]])")
endfunction()

function(_cudaops_op_recipe_finish target)
  _cudaops_target_get(${target} RECIPE_TEXT text)
  _cudaops_target_get(${target} RECIPE_DIRECTORY directory)
  foreach(
    property
    IN
    ITEMS INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS LINK_OPTIONS LINK_LIBRARIES
  )
    get_target_property(values ${target} ${property})
    _cudaops_target_get(${target} RECIPE_${property} ours)
    if(values)
      # As texts: entries may be generator expressions with lists in them.
      string(REPLACE ";" "\n" values "${values}")
      string(REPLACE ";" "\n" ours "${ours}")
      string(FIND "${values}" "${ours}" position)
      if(NOT ours STREQUAL "" AND position GREATER_EQUAL 0)
        string(LENGTH "${ours}" length)
        math(EXPR after "${position} + ${length}")
        string(SUBSTRING "${values}" 0 ${position} before)
        string(SUBSTRING "${values}" ${after} -1 values)
        string(PREPEND values "${before}\n")
      endif()
      string(REGEX REPLACE "\n+" "\n" values "\n${values}\n")
      if(property STREQUAL "LINK_LIBRARIES")
        _cudaops_recipe_check_libraries(${target} "${values}")
      endif()
      string(REGEX REPLACE "\n([^\n]+)" "\n${property}=\\1" values "${values}")
      string(SUBSTRING "${values}" 1 -1 values)
      string(APPEND text "${values}")
    endif()
  endforeach()
  foreach(property IN ITEMS CXX_STANDARD CUDA_STANDARD CUDA_SEPARABLE_COMPILATION CUDA_RUNTIME_LIBRARY)
    get_target_property(value ${target} ${property})
    if(value)
      string(APPEND text "property=${property} ${value}\n")
    endif()
  endforeach()
  set(spec "${CMAKE_CURRENT_BINARY_DIR}/CudaOps/${target}.recipe.txt")
  file(CONFIGURE OUTPUT "${spec}" CONTENT "@text@" @ONLY)
  _cudaops_python_tool(python)
  if(python STREQUAL "")
    _cudaops_stop(
      "add_torch_op(${target}): RECIPE is written by Python, and there is none."
      FIX "-DPython_EXECUTABLE=<python>, or leave RECIPE out"
    )
  endif()
  _cudaops_python_command(command "${python}" recipe)
  set(words "")
  foreach(word IN LISTS command)
    string(APPEND words " [==[${word}]==]")
  endforeach()
  install(
    CODE
      "set(to \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/\" [==[${directory}]==])
list(JOIN to \"\" to)
execute_process(COMMAND${words} [==[${spec}]==] \"\${to}\" OUTPUT_VARIABLE written RESULT_VARIABLE result)
if(NOT result STREQUAL 0)
  message(FATAL_ERROR \"add_torch_op(${target}): the recipe can't be installed.\")
endif()
string(REGEX MATCHALL \"[^\\n]+\" written \"\${written}\")
list(APPEND CMAKE_INSTALL_MANIFEST_FILES \${written})"
    COMPONENT cudaops_recipes
  )
  _cudaops_recipe_bundle()
endfunction()

# The target cudaops_bundle: the ops of all recipes, built as OpLibrary would, in <build>/cudaops-bundle.
function(_cudaops_recipe_bundle)
  _cudaops_state_get(RECIPE_BUNDLE_NOTED noted)
  _cudaops_state_get(PYTHON_EXECUTABLE python)
  if(noted OR TARGET cudaops_bundle OR python STREQUAL "")
    return()
  endif()
  _cudaops_state_set(RECIPE_BUNDLE_NOTED TRUE)
  _cudaops_python_package(package)
  cmake_path(GET package PARENT_PATH above)
  set(recipes "${CMAKE_CURRENT_BINARY_DIR}/CudaOps/recipes")
  _cudaops_top_directories(source top)
  add_custom_target(
    cudaops_bundle
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${recipes}"
    COMMAND "${CMAKE_COMMAND}" --install "${top}" --component cudaops_recipes --prefix "${recipes}"
    COMMAND
      "${CMAKE_COMMAND}" -E env "PYTHONPATH=${above}" "${python}" -B -m cudaops build --bundle "${top}/cudaops-bundle"
      "${recipes}"
    VERBATIM
  )
endfunction()

# Targets of a project aren't there where the recipe is built.
function(_cudaops_recipe_check_libraries target libraries)
  string(REGEX MATCHALL "[^\n]+" libraries "${libraries}")
  foreach(library IN LISTS libraries)
    if(
      NOT library MATCHES "^(-|CudaOps::)"
      AND NOT library MATCHES "^[a-z][a-z0-9]*$"
      OR TARGET "${library}"
      AND NOT library MATCHES "^CudaOps::"
    )
      _cudaops_stop(
        "add_torch_op(${target}): RECIPE can't carry a library that it links."
        FACTS "found   ${library}" "wanted  CudaOps::<name>, or -l<name>"
        FIX "name its sources among SOURCES or CUDA_SOURCES"
            "or leave RECIPE out"
      )
    endif()
  endforeach()
endfunction()
