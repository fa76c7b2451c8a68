# Where the package can stand, and that it behaves in each place. Every case is a project of its own that declares one
# op; torch is a CPU stand-in, so that a case costs a configure and nothing else. real_torch builds the op.

# consumer([HEAD <code before find_package(CudaOps)>] [FIND <arguments of find_package(CudaOps)>] [BODY <code>]
#          [DIR <dir>] [ARGS <arg>...] [RESULT <n>])
#
# HEAD says where the package is; nothing else does.
function(consumer)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "HEAD;FIND;BODY;DIR;RESULT" "ARGS")
  if(NOT DEFINED arg_FIND)
    set(arg_FIND "0.1 REQUIRED")
  endif()
  if(NOT DEFINED arg_BODY)
    set(arg_BODY "find_package(CudaTorchMatch REQUIRED)\nadd_torch_op(package_op SOURCES op.cpp)")
  endif()
  if(NOT arg_DIR)
    set(arg_DIR "${case_PROJECT_DIR}")
  endif()
  file(COPY "${case_SUITE}/consumer/" DESTINATION "${arg_DIR}")
  string(
    CONCAT text
    "cmake_minimum_required(VERSION 3.25)\n"
    "set(case_SEED_DIR [==[${case_SEED_DIR}]==])\n"
    "include([==[${case_TESTS_DIR}/fixtures/use_seed.txt]==])\n"
    "project(consumer LANGUAGES CXX)\n"
    "set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)\n"
    "${arg_HEAD}\n"
    "find_package(CudaOps ${arg_FIND})\n"
    "${arg_BODY}\n"
    "file(WRITE \"\${CMAKE_BINARY_DIR}/kernels_dir.txt\" \"\${CudaOps_KERNELS_DIR}\")\n"
  )
  file(WRITE "${arg_DIR}/CMakeLists.txt" "${text}")
  set(result "")
  if(DEFINED arg_RESULT)
    set(result RESULT ${arg_RESULT})
  endif()
  # The package's own place may come from -D alone; -D of what a project doesn't read would be a warning.
  if(NOT EXISTS "${case_DIR}/venv")
    fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
  endif()
  case_environment("VIRTUAL_ENV=${case_DIR}/venv")
  case_configure(${result} SOURCE_DIR "${arg_DIR}" ARGS ${arg_ARGS})
  set(case_STEP_STDOUT "${case_STEP_STDOUT}" PARENT_SCOPE)
  set(case_STEP_STDERR "${case_STEP_STDERR}" PARENT_SCOPE)
endfunction()

# expect_consumer(<regex of the directory that the package came from>)
function(expect_consumer where)
  case_report_equal(CPU_TORCH verdict)
  case_report_equal(0.1.0 cudaops)
  case_report_equal(package_op ops 0 name)
  case_report_equal(BUILT ops 0 state)
  file(STRINGS "${case_BUILD_DIR}/CMakeCache.txt" dir REGEX "^CudaOps_DIR:" ENCODING UTF-8)
  string(REGEX REPLACE "^[^=]*=" "" dir "${dir}")
  case_match("CudaOps_DIR" "${dir}" "${where}")
  # The kernels' sources come with the package, wherever it stands.
  file(READ "${case_BUILD_DIR}/kernels_dir.txt" kernels)
  foreach(file IN ITEMS rms_norm.h rms_norm.cu rms_norm_cpu.cpp)
    if(NOT IS_ABSOLUTE "${kernels}" OR NOT EXISTS "${kernels}/rms_norm/${file}")
      case_fail("CudaOps_KERNELS_DIR" "found   ${kernels}" "wanted  a directory with rms_norm/${file}")
    endif()
  endforeach()
endfunction()

# install_package(<prefix>): as the README says: no compiler, no torch, no build.
function(install_package prefix)
  case_environment(CXX=/nonexistent)
  case_step(
    configure-package
    COMMAND
      "${case_CMAKE}" -S "${case_REPO}" -B "${case_DIR}/package" -G "${case_GENERATOR}" "-DCMAKE_INSTALL_PREFIX=${prefix}"
      -DBUILD_TESTING=OFF
  )
  case_step(install-package COMMAND "${case_CMAKE}" --install "${case_DIR}/package")
  case_environment(UNSET CXX)
endfunction()
