# What is run after which change, counted. A source's change is its translation and its object, a header's its users, a
# touch changes no byte, and without a change nothing runs and no time moves. (hipify_torch#81, pytorch#82190)
hip_machine()
source(include/shared.cuh "#pragma once" "#include <cuda_runtime.h>" "#include \"deep.cuh\""
)
source(include/deep.cuh "#pragma once"
)
source(src/a.cu "#include \"shared.cuh\"" "#include \"a.cuh\"" "cudaError_t a() { return cudaGetLastError(); }"
)
source(src/a.cuh "#pragma once"
)
source(src/b.cu "#include <shared.cuh>" "cudaError_t b(cudaStream_t s) { return s ? cudaSuccess : cudaGetLastError(); }"
)
source(src/host.cpp "int host() { return 1; }")
configure(
  [[
cudaops_add_kernels(one SHARED SOURCES src/a.cu src/host.cpp)
cudaops_add_kernels(two SHARED SOURCES src/b.cu src/a.cu)
target_include_directories(one PRIVATE include)
target_include_directories(two PRIVATE include)
]]
)
set(one "${case_BUILD_DIR}/one.hipified")
case_build()
expect_commands(
  "translate src/a.cu"
  "translate src/a.cu"
  "translate src/b.cu"
  "translate src/host.cpp"
  "compile src/a.cu"
  "compile src/a.cu"
  "compile src/b.cu"
  "compile src/host.cpp"
  "link libone.so"
  "link libtwo.so"
)
snapshot(first "${one}")
case_equal("the mirror" "${first_FILES}" "include/deep.cuh\ninclude/shared.cuh\nsrc/a.cu\nsrc/a.cuh\nsrc/host.cpp")
expect_file("${one}/include/shared.cuh" "#pragma once\n#include <hip/hip_runtime.h>\n#include \"deep.cuh\"\n"
)
snapshot(sources "${case_DIR}/src")

case_build()
expect_commands()
case_configure()
case_build()
expect_commands()
snapshot(again "${one}")
case_equal("times after a second configure" "${again_TIMES}" "${first_TIMES}")

touch(src/a.cu)
case_build()
expect_commands("translate src/a.cu" "translate src/a.cu" "compile src/a.cu" "compile src/a.cu" "link libone.so" "link libtwo.so")
snapshot(again "${one}")
case_equal("content after a touch" "${again_CONTENT}" "${first_CONTENT}")
touch(include/deep.cuh)
case_build()
snapshot(touched "${one}")
case_equal("content after a touched header" "${touched_CONTENT}" "${first_CONTENT}")
case_build()
expect_commands()

source(src/b.cu "#include <shared.cuh>" "cudaError_t b() { return cudaGetLastError(); }"
)
case_build()
expect_commands("translate src/b.cu" "compile src/b.cu" "link libtwo.so")
case_build()
expect_commands()

source(include/deep.cuh "#pragma once" "inline cudaError_t deep() { return cudaGetLastError(); }"
)
case_build()
expect_commands(
  "translate src/a.cu"
  "translate src/a.cu"
  "translate src/b.cu"
  "compile src/a.cu"
  "compile src/a.cu"
  "compile src/b.cu"
  "link libone.so"
  "link libtwo.so"
)
expect_file("${one}/include/deep.cuh" "#pragma once\ninline hipError_t deep() { return hipGetLastError(); }\n"
)
case_build()
expect_commands()

# Moved into the other directory, then gone with its include line. Makefiles learn late that a header is gone, and run
# the translations twice.
set(twice "")
if(case_GENERATOR MATCHES "Makefiles")
  set(twice "translate src/a.cu" "translate src/a.cu")
endif()
file(RENAME "${case_DIR}/src/src/a.cuh" "${case_DIR}/src/include/a.cuh")
case_build()
expect_commands("translate src/a.cu" "translate src/a.cu" ${twice} "compile src/a.cu" "compile src/a.cu" "link libone.so" "link libtwo.so")
snapshot(moved "${one}")
case_equal("the mirror" "${moved_FILES}" "include/a.cuh\ninclude/deep.cuh\ninclude/shared.cuh\nsrc/a.cu\nsrc/host.cpp")
file(REMOVE "${case_DIR}/src/include/a.cuh")
source(src/a.cu "#include \"shared.cuh\"" "cudaError_t a() { return cudaGetLastError(); }"
)
case_build()
snapshot(gone "${one}")
case_equal("the mirror" "${gone_FILES}" "include/deep.cuh\ninclude/shared.cuh\nsrc/a.cu\nsrc/host.cpp")
case_build()
if(case_GENERATOR MATCHES "Makefiles")
  # CMake before 3.28 never forgets what a DEPFILE has named: the commands run, and write nothing.
  refuse_stdout("Building" "Linking")
else()
  expect_commands()
endif()
