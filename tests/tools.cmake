# SPDX-License-Identifier: Apache-2.0
# Fetches the tools of the tests into the build directory, unless they are there.
#   cmake -Dpython=<python3> -Dtools=<dir> -Dcmakes=<versions> [-Donly=<name>] -P tools.cmake

cmake_minimum_required(VERSION 3.25)

# install(<name> <pip argument>...): pip's --target needs no venv, no ensurepip and no writable Python.
function(install name)
  if(only AND NOT name STREQUAL only)
    return()
  endif()
  # The test that brings the tools and the target of the manual may run at once.
  file(LOCK "${tools}" DIRECTORY GUARD FUNCTION)
  string(SHA1 wanted "${ARGN}")
  if(ARGV1 STREQUAL "-r")
    file(SHA1 "${ARGV2}" wanted)
  endif()
  set(stamp "${tools}/${name}/.complete")
  if(EXISTS "${stamp}")
    file(READ "${stamp}" have)
    if(have STREQUAL wanted)
      return()
    endif()
  endif()
  file(REMOVE_RECURSE "${tools}/${name}")
  find_program(uv uv NO_CACHE)
  set(output "")
  if(uv)
    execute_process(
      COMMAND "${uv}" pip install --quiet --python "${python}" --target "${tools}/${name}" ${ARGN}
      RESULT_VARIABLE result
      OUTPUT_VARIABLE output
      ERROR_VARIABLE output
    )
  else()
    execute_process(
      COMMAND "${python}" -m pip install --quiet --disable-pip-version-check --target "${tools}/${name}" ${ARGN}
      RESULT_VARIABLE result
      OUTPUT_VARIABLE output
      ERROR_VARIABLE output
    )
  endif()
  if(NOT result EQUAL 0)
    file(REMOVE_RECURSE "${tools}/${name}")
    message("CASE SKIPPED: ${name} can't be installed here (no network?):\n${output}")
    return()
  endif()
  file(WRITE "${stamp}" "${wanted}")
endfunction()

install(format -r "${CMAKE_CURRENT_LIST_DIR}/requirements.txt")
install(docs -r "${CMAKE_CURRENT_LIST_DIR}/../docs/requirements.txt")
install(pytest "pytest==8.*" "hatchling==1.*")
install(plot "matplotlib==3.*")
install(pip_package pip "scikit-build-core==1.*" "hatchling==1.*")
foreach(version IN LISTS cmakes)
  install("cmake-${version}" "cmake==${version}.*")
endforeach()
