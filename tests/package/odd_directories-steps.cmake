# Where CMake configures and builds a plain project, it does with CudaOps, in directories whose names hold what shells, make,
# Ninja, lists, patterns and regular expressions take for their own.

# What CMake itself doesn't quote ($ and `) in the path of a toolkit isn't here.
set(machine "${case_DIR}/a [b] {c} (d) e+ !f ü")
fake_torch("${machine}/venv" VERSION 2.13.0 CUDA 13.0)
set(site "${machine}/venv/lib/python${case_PYTHON_VERSION}/site-packages")
fake_toolkit("${site}" VERSION 13.0 LAYOUT PIP)
case_environment("CUDAOPS_STORE=${machine}/store")

# again(<out> <build directory>): whether a build that is up to date compiles again, as it does where Ninja can't read the
# compiler's dependency files.
function(again out build)
  case_build(BUILD_DIR "${build}" ARGS --verbose)
  set(${out} FALSE PARENT_SCOPE)
  if(case_STEP_STDOUT MATCHES " -c ")
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()

# odd_directory(<name> <out>): whether cudaops_build_report was made, and the character that is told to be why not.
function(odd_directory dir out)
  set(here "${case_DIR}/${dir}")
  foreach(project IN ITEMS plain odd)
    foreach(file IN ITEMS op.cpp op.cu k.cu)
      string(MAKE_C_IDENTIFIER "${file}" name)
      file(WRITE "${here}/${project}/${file}" "#include \"value.h\"\nint ${name}() { return VALUE; }\n")
    endforeach()
    file(WRITE "${here}/${project}/value.h" "#define VALUE 42\n")
  endforeach()
  string(
    CONCAT head
    "cmake_minimum_required(VERSION 3.25)\n"
    "set(case_SEED_DIR [==[${case_SEED_DIR}]==])\n"
    "include([==[${case_TESTS_DIR}/fixtures/use_seed.txt]==])\n"
    "project(odd LANGUAGES CXX)\n"
    "set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)\n"
  )
  file(WRITE "${here}/plain/CMakeLists.txt" "${head}add_library(plain SHARED op.cpp)\n")
  case_configure(SOURCE_DIR "${here}/plain" BUILD_DIR "${here}/plain/build")
  case_build(BUILD_DIR "${here}/plain/build")
  again(plain "${here}/plain/build")

  file(COPY "${case_REPO}/cmake" "${case_REPO}/python" DESTINATION "${here}/checkout")
  file(
    WRITE "${here}/odd/CMakeLists.txt"
    "${head}find_package(CudaOps REQUIRED)\nfind_package(CudaTorchMatch REQUIRED)\n"
    "cudaops_add_kernels(kernels SOURCES k.cu)\nadd_torch_op(op SOURCES op.cpp CUDA_SOURCES op.cu)\n"
    "target_link_libraries(op PRIVATE kernels)\n"
  )
  set(case_BUILD_DIR "${here}/odd/build")
  case_configure(
    SOURCE_DIR "${here}/odd"
    ARGS
      "-DCudaOps_ROOT=${here}/checkout" "-DTorch_ROOT=${machine}/venv" -DCMAKE_CUDA_ARCHITECTURES=90
      -DCMAKE_BUILD_TYPE=Release
  )
  set(told FALSE)
  if(case_STEP_STDOUT MATCHES "CMake makes no custom target in a directory with (.) in its path")
    set(told "${CMAKE_MATCH_1}")
  endif()
  case_step(targets COMMAND "${case_CMAKE}" --build "${case_BUILD_DIR}" --target help)
  set(made FALSE)
  if(case_STEP_STDOUT MATCHES "cudaops_build_report")
    set(made TRUE)
  endif()
  set(${out} "${made} ${told}" PARENT_SCOPE)
  case_report_equal(EXACT verdict)
  case_report_equal("${site}/nvidia/cu13" toolkit root)
  case_report_equal(BUILT ops 0 state)
  # What CMake wrote of the compiler is read again.
  case_step(again COMMAND "${case_CMAKE}" "${case_BUILD_DIR}")
  case_not_match("${dir}: a second configure" "${case_STEP_STDOUT}" "compiler identification")
  case_build()
  again(odd "${case_BUILD_DIR}")
  case_equal("${dir}: compiled again" "${odd}" "${plain}")
  file(WRITE "${here}/odd/value.h" "#define VALUE 43\n")
  case_build(ARGS --verbose)
  foreach(file IN ITEMS "op\\.cpp" "op\\.cu" "k\\.cu")
    case_match("${dir}: ${file} follows its header" "${case_STEP_STDOUT}" " -c [^ ].*${file}")
  endforeach()
endfunction()

odd_directory("c++ (a) & 'b' $d %e !f =g @h@ ~i [j] {k} ^l `m *n übung" targets)
case_equal("custom targets" "${targets}" "TRUE FALSE")

# Some releases of CMake make no custom target there, and some write a Makefile with it that make can't read; with a blank
# besides, Makefiles start CMake with half of the path.
if(case_GENERATOR MATCHES "Makefiles" AND case_DIR MATCHES " ")
  return()
endif()
odd_directory("c#" targets
)
if(NOT targets STREQUAL "TRUE FALSE")
  case_equal("custom targets" "${targets}" "FALSE #"
  )
endif()
