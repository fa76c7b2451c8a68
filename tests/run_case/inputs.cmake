# SPDX-License-Identifier: Apache-2.0
# What a case depends on, so that a case that passed is not run again without a change. Part of RunCase.cmake.

# A text that is another one whenever something that the case depends on is.
function(_case_inputs out)
  set(key "")
  # Name, time and size of what is large; the content of what is ours, which a checkout gives a new time.
  set(large "${case_CMAKE}" "${case_CXX}" "${case_PYTHON}" "${CMAKE_COMMAND}")
  foreach(root IN LISTS case_TOOLKIT ITEMS /usr/local/cuda)
    list(APPEND large "${root}/bin/nvcc" "${root}/nvvm/bin/cicc" "${root}/include/cuda_runtime_api.h")
  endforeach()
  foreach(python IN LISTS case_TORCHES case_TORCH)
    cmake_path(GET python PARENT_PATH bin)
    file(GLOB found "${bin}/../lib/python3*/site-packages/torch/version.py")
    list(APPEND large "${python}" ${found})
  endforeach()
  file(GLOB programs LIST_DIRECTORIES false "${case_TOOLS_DIR}/*")
  foreach(file IN LISTS large programs)
    if(EXISTS "${file}" AND NOT IS_DIRECTORY "${file}")
      file(REAL_PATH "${file}" file)
      file(TIMESTAMP "${file}" time)
      file(SIZE "${file}" size)
      string(APPEND key "${file} ${time} ${size}\n")
    endif()
  endforeach()
  file(
    GLOB_RECURSE ours
    "${case_REPO}/cmake/*"
    "${case_REPO}/python/*"
    "${case_REPO}/kernels/*"
    "${case_REPO}/examples/*"
    "${case_TESTS_DIR}/fakes/*"
    "${case_TESTS_DIR}/fixtures/*"
    "${case_TESTS_DIR}/run_case/*"
    "${case_SUITE}/*"
  )
  list(FILTER ours EXCLUDE REGEX "/(__pycache__|build)/")
  list(
    APPEND ours
    "${case_SETTINGS}"
    "${case_REPO}/CMakeLists.txt"
    "${case_REPO}/pyproject.toml"
    "${case_REPO}/README.md"
    "${case_TESTS_DIR}/RunCase.cmake"
    "${case_TESTS_DIR}/requirements.txt"
  )
  # A thousand files, twice for each case: each is read, but their names are one text, not put together one by one.
  set(hashes "")
  foreach(file IN LISTS ours)
    file(SHA1 "${file}" hash)
    string(APPEND hashes "${hash}")
  endforeach()
  string(APPEND key "${ours}\n${hashes}\n")
  foreach(
    name
    IN
    ITEMS SUITE NAME KIND CMAKE GENERATOR SEED_DIR TORCH LONG
  )
    string(APPEND key "${name}=${case_${name}}\n")
  endforeach()
  set(${out} "${key}" PARENT_SCOPE)
endfunction()
