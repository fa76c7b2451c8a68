# SPDX-License-Identifier: Apache-2.0
# Brings torch and CUDA toolkits into the per-user store when CUDAOPS_PROVIDE asks for it, and finds what earlier
# configures brought. cudaops/provide installs; here is what to ask it for and what to say when it can't.

_cudaops_use(base/message base/options base/paths base/probe base/programs base/stamps)

# _cudaops_provided_torch(<out>): the interpreters of the complete torches in the store, newest first; starts nothing.
function(_cudaops_provided_torch out)
  _cudaops_provided(torch directories)
  set(pythons "")
  foreach(directory IN LISTS directories)
    list(APPEND pythons "${directory}/bin/python")
  endforeach()
  set(${out} "${pythons}" PARENT_SCOPE)
endfunction()

# _cudaops_provided_toolkits(<out>): the roots (with bin/nvcc) of the complete toolkits in the store, newest first.
function(_cudaops_provided_toolkits out)
  _cudaops_provided(toolkits directories)
  set(roots "")
  foreach(directory IN LISTS directories)
    _cudaops_provided_root("${directory}" root)
    list(APPEND roots "${root}")
  endforeach()
  set(${out} "${roots}" PARENT_SCOPE)
endfunction()

# _cudaops_provide_torch(<out-python>)
#
# The interpreter of the torch that CUDAOPS_TORCH_VERSION names: the store's, else brought from the package index. One
# made for another Python serves too: it comes with that Python. Where the user names no version and the default has no
# wheel for this Python, the newest earlier one is used.
function(_cudaops_provide_torch out)
  list(APPEND CMAKE_MESSAGE_CONTEXT "CudaOps.provide")
  _cudaops_option(CUDAOPS_TORCH_VERSION version)
  _cudaops_env(CUDAOPS_TORCH_VERSION named)
  set(or_older "")
  if("${CUDAOPS_TORCH_VERSION}${named}" STREQUAL "")
    set(or_older OR_OLDER)
  endif()
  _cudaops_provided(torch directories VERSION "${version}" ${or_older})
  if(NOT directories)
    _cudaops_provide_run(TORCH "${version}" "" directories ${or_older})
  endif()
  list(GET directories 0 directory)
  set(${out} "${directory}/bin/python" PARENT_SCOPE)
endfunction()

# _cudaops_provide_toolkit(<version> <why> <out-root>)
#
# The directory that holds bin/nvcc of CUDA <version> ("13.2.2"; "13.2" takes its newest update): the store's, else
# brought from the package index. <why> says who asks for this version, such as "pinned by torch 2.15.0+cu132".
function(_cudaops_provide_toolkit version why out)
  list(APPEND CMAKE_MESSAGE_CONTEXT "CudaOps.provide")
  if(version VERSION_LESS 13)
    _cudaops_stop(
      "CUDAOPS_PROVIDE=TOOLKIT: the wheels of CUDA ${version} hold no compiler."
      FACTS
        "wanted  nvcc ${version} (${why})"
        "found   Python wheels hold the whole compiler since CUDA 13.0; before, only ptxas"
      FIX
        "install a CUDA ${version} toolkit and name it: -DCUDAToolkit_ROOT=<dir>"
        "or take a torch that is built with CUDA 13: -DPython_EXECUTABLE=<venv>/bin/python, or -DCUDAOPS_PROVIDE=TORCH,TOOLKIT"
    )
  endif()
  _cudaops_provided(toolkits directories VERSION "${version}")
  if(NOT directories)
    _cudaops_provide_run(TOOLKIT "${version}" "${why}" directories)
  endif()
  list(GET directories 0 directory)
  _cudaops_provided_root("${directory}" root)
  set(${out} "${root}" PARENT_SCOPE)
endfunction()

# _cudaops_provided(<torch|toolkits> <out> [VERSION <version> [OR_OLDER]])
#
# The complete directories of a kind, newest first. 2.15 is served by 2.15.0, and 2.15.0 by 2.15.0+cpu: the index that
# the user chose decides about the local part. OR_OLDER: what was taken in place of that version serves as well.
function(_cudaops_provided kind out)
  cmake_parse_arguments(PARSE_ARGV 2 arg "OR_OLDER" "VERSION" "")
  _cudaops_store(store)
  set(result "")
  _cudaops_glob_in(in "${store}")
  _cudaops_follows_names("${store}/${kind}")
  file(GLOB directories LIST_DIRECTORIES TRUE "${in}/${kind}/*")
  foreach(directory IN LISTS directories)
    _cudaops_follows("${directory}/.complete" "${directory}/bin/python" "${directory}/nvidia" "${directory}/nvidia/cu13/bin/nvcc")
  endforeach()
  file(GLOB stamps LIST_DIRECTORIES FALSE "${in}/${kind}/*/.complete")
  list(SORT stamps COMPARE NATURAL ORDER DESCENDING)
  foreach(stamp IN LISTS stamps)
    cmake_path(GET stamp PARENT_PATH directory)
    cmake_path(GET directory FILENAME name)
    # What is half made or half removed begins with a dot.
    if(NOT name MATCHES "^([0-9][^-]*)(-cp[0-9]+t?)?$")
      continue()
    endif()
    set(version "${CMAKE_MATCH_1}")
    if(DEFINED arg_VERSION)
      string(FIND "${version}." "${arg_VERSION}." as_release)
      string(FIND "${version}" "${arg_VERSION}+" as_local)
      set(serves "")
      if(arg_OR_OLDER)
        file(READ "${stamp}" json)
        string(JSON serves ERROR_VARIABLE error GET "${json}" serves)
      endif()
      if(NOT as_release EQUAL 0 AND NOT as_local EQUAL 0 AND NOT serves STREQUAL arg_VERSION)
        continue()
      endif()
    endif()
    # A venv loses its interpreter when the Python below it is removed or upgraded.
    set(root "")
    if(kind STREQUAL "toolkits")
      _cudaops_provided_root("${directory}" root)
    elseif(EXISTS "${directory}/bin/python")
      set(root "${directory}")
    endif()
    if(root)
      list(APPEND result "${directory}")
    endif()
  endforeach()
  set(${out} "${result}" PARENT_SCOPE)
endfunction()

# _cudaops_provided_root(<directory> <out>): where bin/nvcc lies below a toolkit of the store, or "".
function(_cudaops_provided_root directory out)
  _cudaops_glob_in(in "${directory}")
  file(GLOB nvcc LIST_DIRECTORIES FALSE "${in}/nvidia/cu*/bin/nvcc")
  if(nvcc)
    list(GET nvcc 0 nvcc)
    cmake_path(GET nvcc PARENT_PATH bin)
    cmake_path(GET bin PARENT_PATH root)
    set(${out} "${root}" PARENT_SCOPE)
  else()
    set(${out} "" PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_provide_run(<TORCH|TOOLKIT> <version> <why> <out-directory> [OR_OLDER])
function(_cudaops_provide_run what version why out)
  cmake_parse_arguments(PARSE_ARGV 4 arg "OR_OLDER" "" "")
  set(options "")
  if(arg_OR_OLDER)
    set(options --or-older)
  endif()
  _cudaops_store(store)
  _cudaops_provide_pythons(pythons looked)
  if(NOT pythons)
    if(what STREQUAL "TORCH")
      set(other "or point to a torch you have: -DPython_EXECUTABLE=<venv>/bin/python")
    else()
      set(other "or point to a toolkit you have: -DCUDAToolkit_ROOT=<dir>")
    endif()
    _cudaops_stop(
      "CUDAOPS_PROVIDE=${what}: no Python >= 3.10 here to install packages with."
      FACTS "looked for  ${looked}"
      FIX "apt-get install python3 python3-pip, then run the same command again" "${other}"
    )
  endif()

  list(GET pythons 0 python)
  string(TOLOWER "${what}" kind)
  set(result "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/cudaops-provide.json")
  file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles")
  file(REMOVE "${result}")
  _cudaops_python_package(package)
  _cudaops_run(
    run
    ECHO
    COMMAND
      "${python}" -B -u "${package}/_run.py" provide "${kind}" --store "${store}" --version "${version}" "--why=${why}" --result "${result}"
      ${options} --pythons ${pythons}
  )
  if(EXISTS "${result}")
    file(READ "${result}" json)
    file(REMOVE "${result}")
  else()
    set(json "{}")
  endif()
  string(JSON directory ERROR_VARIABLE missing GET "${json}" path)
  if(NOT missing)
    set(${out} "${directory}" PARENT_SCOPE)
    return()
  endif()
  string(JSON head ERROR_VARIABLE missing GET "${json}" head)
  if(missing)
    set(line "")
    if(run_ERROR MATCHES "([^\n]+)\n*$")
      set(line ": ${CMAKE_MATCH_1}")
    endif()
    _cudaops_stop(
      "CUDAOPS_PROVIDE=${what}: the installing script ended early."
      FACTS "found   ${package}/provide: exit code ${run_EXIT}${line}"
      FIX "run the same command again"
    )
  endif()
  foreach(key IN ITEMS facts fix)
    set(${key} "")
    string(JSON count LENGTH "${json}" ${key})
    if(count GREATER 0)
      math(EXPR last "${count} - 1")
      foreach(i RANGE ${last})
        string(JSON line GET "${json}" ${key} ${i})
        string(REPLACE ";" "\\;" line "${line}")
        list(APPEND ${key} "${line}")
      endforeach()
    endif()
  endforeach()
  _cudaops_stop("CUDAOPS_PROVIDE=${what}: ${head}" FACTS ${facts} FIX ${fix})
endfunction()

# _cudaops_provide_pythons(<out> <out-looked>)
#
# Interpreters from 3.10 on, the user's choice first. The first one makes the environment; pip is taken from whichever
# has it. <out-looked> says what was tried.
function(_cudaops_provide_pythons out out_looked)
  set(candidates "")
  foreach(name IN ITEMS Python_EXECUTABLE Python3_EXECUTABLE)
    if(DEFINED ${name} AND NOT "${${name}}" STREQUAL "")
      set(python "${${name}}")
      _cudaops_expand_home(python)
      list(APPEND candidates "${python}")
    endif()
  endforeach()
  foreach(name IN ITEMS VIRTUAL_ENV CONDA_PREFIX)
    _cudaops_env(${name} prefix)
    if(NOT prefix STREQUAL "")
      list(APPEND candidates "${prefix}/bin/python")
    endif()
  endforeach()
  set(names "python3;python;python3.14;python3.13;python3.12;python3.11;python3.10")
  foreach(name IN LISTS names)
    unset(_cudaops_python)
    find_program(_cudaops_python NAMES ${name} NO_CACHE)
    if(_cudaops_python)
      list(APPEND candidates "${_cudaops_python}")
    endif()
  endforeach()

  set(pythons "")
  set(looked "")
  foreach(candidate IN LISTS candidates)
    if(NOT EXISTS "${candidate}")
      list(APPEND looked "${candidate} (not there)")
      continue()
    endif()
    # The shims of version managers stand for another interpreter in each directory, so this isn't remembered.
    _cudaops_run(
      run
      TIMEOUT 20
      COMMAND "${candidate}" -c "import sys\nprint('%d.%d|%s' % (sys.version_info[0], sys.version_info[1], sys.executable))"
    )
    if(NOT run_EXIT STREQUAL "0" OR NOT run_OUTPUT MATCHES "^([0-9.]+)\\|([^\n]+)")
      list(APPEND looked "${candidate} (does not run)")
    elseif(CMAKE_MATCH_1 VERSION_LESS 3.10)
      list(APPEND looked "${candidate} (Python ${CMAKE_MATCH_1})")
    else()
      list(APPEND pythons "${CMAKE_MATCH_2}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES pythons)
  list(REMOVE_DUPLICATES looked)
  if(looked STREQUAL "")
    set(looked "python3 on PATH")
  endif()
  list(JOIN looked ", " looked)
  set(${out} "${pythons}" PARENT_SCOPE)
  set(${out_looked} "${looked}" PARENT_SCOPE)
endfunction()
