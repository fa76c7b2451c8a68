# SPDX-License-Identifier: Apache-2.0
# Python interpreters: which there are, in which order they are asked, and what each says of itself and its torch.

_cudaops_use(base/options base/probe base/programs base/stamps base/text)

# _cudaops_python_explicit(<out-path> <out-source>): the interpreter the user named, or empty.
function(_cudaops_python_explicit out out_source)
  set(${out} "" PARENT_SCOPE)
  set(${out_source} "" PARENT_SCOPE)
  foreach(name IN ITEMS Python_EXECUTABLE Python3_EXECUTABLE)
    if(${name})
      set(python "${${name}}")
      _cudaops_expand_home(python)
      if(NOT python MATCHES "/")
        _cudaops_path_lookup("${python}" found)
        if(found)
          list(GET found 0 python)
        endif()
      endif()
      set(${out} "${python}" PARENT_SCOPE)
      set(${out_source} "${name}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# _cudaops_python_candidates(<out-paths> <out-sources>)
#
# Active environments, then every python3 on PATH. Two lists of the same length. Links are not resolved: a venv's
# python is a link to the one it was made from, with other packages.
function(_cudaops_python_candidates out_paths out_sources)
  set(paths "")
  set(sources "")
  foreach(name IN ITEMS VIRTUAL_ENV CONDA_PREFIX)
    _cudaops_env(${name} prefix)
    if(prefix)
      set(python "${prefix}/bin/python3")
      _cudaops_follows("${prefix}/bin/python3" "${prefix}/bin/python")
      if(NOT EXISTS "${python}" AND EXISTS "${prefix}/bin/python")
        set(python "${prefix}/bin/python")
      endif()
      # One that isn't there is named among the places tried.
      list(APPEND paths "${python}")
      list(APPEND sources "environment ${name}")
    endif()
  endforeach()
  _cudaops_path_lookup(python3 found)
  if(NOT found)
    _cudaops_path_lookup(python found)
  endif()
  foreach(python IN LISTS found)
    if(NOT python IN_LIST paths)
      list(APPEND paths "${python}")
      list(APPEND sources "PATH")
    endif()
  endforeach()
  set(${out_paths} "${paths}" PARENT_SCOPE)
  set(${out_sources} "${sources}" PARENT_SCOPE)
endfunction()

# _cudaops_python_facts(<prefix> <python>)
#
# Sets <prefix>_EXECUTABLE _VERSION _PREFIX _INCLUDE _EXT_SUFFIX _FREE_THREADED _PLATLIB _TORCH _SITE _METADATA
# _NVIDIA (list) and _PROBLEM (empty, or why this interpreter can't say).
function(_cudaops_python_facts prefix python)
  set(fields "executable;version;prefix;include;ext_suffix;free_threaded;platlib;torch;site;metadata;nvidia")
  list(APPEND fields "problem")
  foreach(field IN LISTS fields)
    string(TOUPPER ${field} upper)
    set(${prefix}_${upper} "" PARENT_SCOPE)
    set(value_${field} "")
  endforeach()
  _cudaops_follows("${python}")
  if(NOT EXISTS "${python}")
    set(${prefix}_PROBLEM "no such file" PARENT_SCOPE)
    return()
  endif()
  # A shim (pyenv's) is a shell script that costs 0.1 s at every start: what it led to is asked the next time.
  _cudaops_file_stamp("${python}" stamp)
  string(SHA1 key "${stamp}")
  set(entry "_CUDAOPS_PYTHON_${key}")
  set(run_python "${python}")
  if(DEFINED CACHE{${entry}} AND EXISTS "$CACHE{${entry}}")
    set(run_python "$CACHE{${entry}}")
  endif()
  _cudaops_env(PYTHONPATH pythonpath)
  # Other variables that say where Python looks for packages, of distributions and of module systems too.
  set(variables "")
  set(names "HOME;PYTHONHOME;PYTHONUSERBASE;PYTHONNOUSERSITE;PYTHONSAFEPATH;PYTHONPLATLIBDIR")
  list(APPEND names "DEB_PYTHON_INSTALL_LAYOUT;RPM_BUILD_ROOT;EBPYTHONPREFIXES;NIX_PYTHONPATH")
  foreach(name IN LISTS names)
    string(APPEND variables "${name}=$ENV{${name}}|")
  endforeach()
  if(NOT "${pythonpath}" STREQUAL "" AND "${pythonpath}" MATCHES "(^|:)([^/]|$)")
    string(APPEND variables "|${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  # A script: it must start in a Python that is too old for the package, too.
  _cudaops_python_package(package)
  set(tool "${package}/torch_facts.py")
  _cudaops_probe(
    run
    FILES "${tool}"
    KEY "${variables}"
    PROGRAM
    DEPENDS "depends=([^\n]*)"
    TIMEOUT 60
    ENVIRONMENT "PYTHONPATH=${pythonpath}"
    COMMAND "${run_python}" "${tool}"
  )
  if(NOT run_EXIT STREQUAL "0")
    _cudaops_last_line("${run_ERROR}" line)
    set(${prefix}_PROBLEM "doesn't run (${run_EXIT}): ${line}" PARENT_SCOPE)
    return()
  endif()
  string(REPLACE ";" "\\;" output "${run_OUTPUT}")
  string(REPLACE "\n" ";" lines "${output}")
  foreach(line IN LISTS lines)
    if(line MATCHES "^([a-z_]+)=(.*)$")
      if(CMAKE_MATCH_1 IN_LIST fields)
        list(APPEND value_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
      endif()
    endif()
  endforeach()
  if(value_executable AND NOT value_executable STREQUAL run_python AND run_python STREQUAL python)
    file(SIZE "${python}" size)
    if(size LESS 65536)
      set(${entry} "${value_executable}" CACHE INTERNAL "interpreter behind ${python}")
    endif()
  endif()
  foreach(field IN LISTS fields)
    string(TOUPPER ${field} upper)
    set(${prefix}_${upper} "${value_${field}}" PARENT_SCOPE)
  endforeach()
endfunction()
