# A miss of ccache is compiled with torch's stable headers precompiled, and the entry is that of a compile without: a build
# tree that has no precompiled headers gets it, and none is made of a header that another directory hides.
use_cache(ccache)
real_machine()
if(NOT real_TORCH)
  return()
endif()
case_environment(CUDAOPS_PRECOMPILE=ON)
# Notes which compiles were given precompiled headers.
file(
  WRITE "${case_DIR}/c++"
  "#!/bin/sh\ncase \" $* \" in *\" -fpch-deps \"*) echo \"$*\" >>'${case_DIR}/taken' ;; esac\nexec '${case_CXX}' \"$@\"\n"
)
file(CHMOD "${case_DIR}/c++" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
file(
  WRITE "${case_DIR}/src/op.cpp"
  [=[
#include <torch/csrc/stable/library.h>
#include "mine.h"
#ifdef HIDES
int hides() { return 1; }
#endif
int number() { return NUMBER; }
STABLE_TORCH_LIBRARY(quick, m) { m.def("f(Tensor a) -> Tensor"); }
]=]
)
file(WRITE "${case_DIR}/src/mine.h" "#define NUMBER 1\n")
set(code "add_torch_op(quick SOURCES op.cpp)\n")
# built(<build> <hit or miss or -> <compiles with precompiled headers> <out-sum> <argument>...)
function(built build result taken out)
  file(WRITE "${case_DIR}/taken" "")
  set(case_BUILD_DIR "${case_DIR}/${build}")
  configure("${code}" ARGS -DCMAKE_BUILD_TYPE=Release -DCUDAOPS_BACKEND=CPU "-DCMAKE_CXX_COMPILER=${case_DIR}/c++" ${ARGN})
  # Those of the configure step are not meant.
  file(WRITE "${case_DIR}/taken" "")
  case_build(BUILD_DIR "${case_BUILD_DIR}")
  if(NOT result STREQUAL "-")
    file(STRINGS "${case_BUILD_DIR}/CudaOps/cache/compiles" line REGEX "[^_]op\\.cpp\\.o$" ENCODING UTF-8)
    case_match("the record of ${build}" "${line}" "^${result} ")
  endif()
  file(STRINGS "${case_DIR}/taken" lines REGEX "op\\.cpp" ENCODING UTF-8)
  list(LENGTH lines count)
  case_equal("${build}: compiles with precompiled headers" ${count} ${taken})
  file(GLOB_RECURSE object "${case_BUILD_DIR}/CMakeFiles/quick.dir/*op.cpp.o")
  file(SHA256 "${object}" sum)
  set(${out} ${sum} PARENT_SCOPE)
endfunction()
built(first miss 1 with)
case_step(deps COMMAND ninja -C "${case_DIR}/first" -t deps CMakeFiles/quick.dir/op.cpp.o)
expect_stdout("torch/headeronly/macros/Macros\\.h " "/mine\\.h")
refuse_stdout("/precompiled/")
built(without - 0 without -DCUDAOPS_PRECOMPILE=OFF -DCUDAOPS_CACHE=OFF)
case_equal("the object" ${with} ${without})
built(second hit 0 again -DCUDAOPS_PRECOMPILE=OFF)
case_equal("the object of the cache" ${again} ${without})

# What a header of the project's changes.
file(WRITE "${case_DIR}/src/mine.h" "#define NUMBER 2\n")
built(third miss 1 edited)
if(edited STREQUAL with)
  case_fail("an edited header changed nothing")
endif()

# A directory of the project's with a header that hides one of torch's: it is compiled with it.
file(
  WRITE "${case_DIR}/src/hiding/torch/headeronly/macros/Macros.h"
  "#include_next <torch/headeronly/macros/Macros.h>\n#define HIDES\n"
)
string(APPEND code "target_include_directories(quick BEFORE PRIVATE hiding)\n")
built(fourth miss 0 hidden)
built(fifth - 0 expected -DCUDAOPS_PRECOMPILE=OFF -DCUDAOPS_CACHE=OFF)
case_equal("the object with the header that hides" ${hidden} ${expected})
case_step(symbols COMMAND nm -C "${case_DIR}/fourth/CMakeFiles/quick.dir/op.cpp.o")
expect_stdout(" hides\\(\\)")
