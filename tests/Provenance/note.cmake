# Two ops in a project that makes life hard for a generated source.
include("${CudaOps_ROOT}/cmake/detail/base/use.cmake")
_cudaops_use(op/provenance)

set(CMAKE_UNITY_BUILD ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
add_compile_options(
  -Wall
  -Wextra
  -Wpedantic
  -Wconversion
  -Wold-style-cast
  -Wmissing-declarations
  -Werror
)
file(WRITE "${case_DIR}/first.cpp" "int first();\nint first() { return 1; }\n")
file(WRITE "${case_DIR}/second.cpp" "int second();\nint second() { return 2; }\n")
file(WRITE "${case_DIR}/header.h" "#include <vector>\n")
foreach(op IN ITEMS op_one op_two)
  add_library(${op} SHARED "${case_DIR}/first.cpp" "${case_DIR}/second.cpp")
  target_precompile_headers(${op} PRIVATE "${case_DIR}/header.h")
endforeach()
string(
  CONCAT json
  "{\"cudaops\":\"0.1.0\",\n  \"state\":\"BUILT\",\"reason\":\"${reason}\",\"abi\":\"FULL\",\"torch\":\"2.13.0\","
  "\"architectures\":[\"90a-real\"]}"
)
_cudaops_op_provenance(op_one NAME op_one PROJECT "odd; \"name\" \\ @x@" JSON "${json}")
_cudaops_op_provenance(op_two NAME op_two PROJECT plain JSON "{}")

# The same op in three files, and a program that loads what it is told.
foreach(copy IN ITEMS first_copy second_copy other_project)
  add_library(${copy} SHARED "${case_DIR}/first.cpp")
endforeach()
_cudaops_op_provenance(first_copy NAME twice PROJECT plain JSON "{\"torch\":\"2.13.0\"}")
_cudaops_op_provenance(second_copy NAME twice PROJECT plain JSON "{\"torch\":\"2.15.0\"}")
_cudaops_op_provenance(other_project NAME twice PROJECT "" JSON "{}")
file(
  WRITE "${case_DIR}/load.cpp"
  "#include <dlfcn.h>\nint main(int n, char** files) {\n  for (int i = 1; i < n; ++i) {\n"
  "    if (dlopen(files[i], RTLD_NOW | RTLD_LOCAL) == nullptr) return 1;\n  }\n}\n"
)
add_executable(load "${case_DIR}/load.cpp")
target_link_libraries(load PRIVATE ${CMAKE_DL_LIBS})
