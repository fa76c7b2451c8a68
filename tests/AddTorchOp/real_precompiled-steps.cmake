# Torch's stable headers come precompiled to a STABLE op, and its objects are what they would be without: also where a
# header has changed, a macro or option differs, the header is included twice, or the file is damaged.
real_machine()
if(NOT real_TORCH)
  return()
endif()
case_environment(CUDAOPS_PRECOMPILE=ON)
# gcc's own temporary names are in no object; debug information names the directories.
set(args -DCMAKE_BUILD_TYPE=Release -DCUDAOPS_BACKEND=CPU)
set(code "add_torch_op(quick SOURCES op.cpp)\ntarget_compile_definitions(quick PRIVATE OF_ITS_OWN)")
set(object "${case_BUILD_DIR}/CMakeFiles/quick.dir/op.cpp.o")

configure("${code}" ARGS ${args})
expect_stdout("torch's stable headers are precompiled for [^\n]*, once for these options")
case_build(ARGS --verbose)
expect_stdout("cudaops-launch\"? \"?[^ \n]*/CudaOps/launch/quick\\.cxx\\.settings\"? [^\n]*op\\.cpp")
case_build()
expect_stdout("no work to do")
file(SHA256 "${object}" with)
# It was taken, not only offered.
case_step(
  taken
  COMMAND
    sh -c
    "command=\$(ninja -C \"$1\" -t commands CMakeFiles/quick.dir/op.cpp.o | tail -1) && cd \"$1\" && eval \"$command -H\" 2>&1"
    sh "${case_BUILD_DIR}"
)
expect_stdout("! [^\n]*/torch/csrc/stable/library\\.h\\.gch")
case_step(deps COMMAND ninja -C "${case_BUILD_DIR}" -t deps CMakeFiles/quick.dir/op.cpp.o)
expect_stdout("torch/csrc/stable/library\\.h " "torch/headeronly/macros/Macros\\.h ")

# Another configure finds it, with a macro among the options too; without it the object is the same.
configure("${code}\ntarget_compile_options(quick PRIVATE -DOF_ITS_OWN=2)" ARGS ${args} --fresh)
refuse_stdout("are precompiled for")
configure("${code}" ARGS ${args} -DCUDAOPS_PRECOMPILE=OFF)
case_build(ARGS --verbose)
refuse_stdout("cudaops-launch\"? \"?[^ ]*\\.cxx\\.settings")
file(SHA256 "${object}" without)
case_equal("the object" "${with}" "${without}")

# The program by itself, on a torch of three lines, each time against the compiler alone.
set(torch "${case_DIR}/torch 1/include")
set(tool "${case_BUILD_DIR}/CudaOps/cudaops-launch")
file(
  WRITE "${torch}/torch/csrc/stable/library.h"
  "#pragma once\n#include <torch/inner.h>\ninline int a() { return INNER; }\n"
)
file(WRITE "${torch}/torch/inner.h" "#pragma once\n#ifdef SWITCH\n#define INNER 1\n#else\n#define INNER 2\n#endif\n")
file(WRITE "${case_DIR}/once.cpp" "#include <torch/csrc/stable/library.h>\nint b() { return a(); }\n")
file(
  WRITE "${case_DIR}/twice.cpp"
  "#include <torch/csrc/stable/library.h>\n#include <torch/csrc/stable/library.h>\nint b() { return a(); }\n"
)
set(place "${case_DIR}/pre compiled/1")
file(
  WRITE "${case_DIR}/settings"
  "precompiled\t${place}\nprecompiled_include\t${torch}\nother\t${torch}\nsource\t${case_DIR}/src\n"
)
case_step(make COMMAND "${tool}" --precompile "${place}" torch/csrc/stable/library.h "${case_CXX}" "${torch}" -O1)
# same(<what> <source> <option>...)
function(same what source)
  set(
    command
    "${case_CXX}"
    -O1
    ${ARGN}
    "-I${torch}"
    -MD
    -MF
    "${case_DIR}/depfile"
    -c
    "${case_DIR}/${source}.cpp"
    -o
  )
  case_step("${what}, without" COMMAND ${command} "${case_DIR}/without.o")
  case_step(
    "${what}, with"
    COMMAND "${case_BUILD_DIR}/CudaOps/cudaops-launch" "${case_DIR}/settings" ${command} "${case_DIR}/with.o"
  )
  file(SHA256 "${case_DIR}/without.o" without)
  file(SHA256 "${case_DIR}/with.o" with)
  case_equal("${what}: the object" "${with}" "${without}")
  file(READ "${case_DIR}/depfile" depfile)
  if(NOT depfile MATCHES "torch/inner\\.h")
    case_fail("${what}: the dependency file doesn't name torch/inner.h:\n${depfile}")
  endif()
endfunction()
same("as made" once)
file(SHA256 "${case_DIR}/with.o" as_made)
same("included twice" twice)
same("a macro that matters" once -DSWITCH)
same("another option" once -O2 -fno-exceptions)
same("debug information of none" once -DOTHER -Wall -Werror -Wpedantic)
# A directory with a header that hides one that is precompiled, and one that comes later.
file(WRITE "${case_DIR}/hiding/torch/inner.h" "#pragma once\n#define INNER 4444\n")
same("a header that hides one of torch's" once "-I${case_DIR}/hiding")
file(SHA256 "${case_DIR}/with.o" hidden)
if(hidden STREQUAL as_made)
  case_fail("a header that hides one of torch's changed nothing")
endif()
same("a header that comes after torch's" once "-idirafter${case_DIR}/hiding")
file(WRITE "${torch}/torch/inner.h" "#pragma once\n#define INNER 333\n")
same("an edited header" once)
case_step("is it valid" RESULT 1 COMMAND "${tool}" --precompiled "${place}")
case_step("made again" COMMAND "${tool}" --precompile "${place}" torch/csrc/stable/library.h "${case_CXX}" "${torch}" -O1)
case_step("is it valid now" COMMAND "${tool}" --precompiled "${place}")
same("made again" once)
file(WRITE "${place}/torch/csrc/stable/library.h.gch" "damaged")
same("damaged" once)
find_program(program_truncate truncate NO_CACHE REQUIRED)
# gcc stops at one that was cut off. Each file of the place, and all of them, emptied or cut off.
set(
  each
  library.h.gch
  library.h
  files
  stamp
  "library.h.gch library.h files stamp"
)
foreach(which IN LISTS each)
  foreach(size IN ITEMS 0 100)
    file(REMOVE_RECURSE "${place}")
    case_step("made again" COMMAND "${tool}" --precompile "${place}" torch/csrc/stable/library.h "${case_CXX}" "${torch}" -O1)
    case_step(
      "damaged"
      WORKING_DIRECTORY "${place}"
      COMMAND sh -c "for f in ${which}; do find . -name $f -exec '${program_truncate}' -s ${size} {} +; done"
    )
    same("${which} of ${size} bytes" once)
  endforeach()
endforeach()
# A configure makes it anew, and what one left that was killed goes.
file(MAKE_DIRECTORY "${place}.77")
case_step("long ago" COMMAND touch -d "2 hours ago" "${place}.77")
case_step("is it valid" RESULT 1 COMMAND "${tool}" --precompiled "${place}")
case_step("made again" COMMAND "${tool}" --precompile "${place}" torch/csrc/stable/library.h "${case_CXX}" "${torch}" -O1)
case_step("is it valid now" COMMAND "${tool}" --precompiled "${place}")
if(EXISTS "${place}.77")
  case_fail("${place}.77 is still there")
endif()
file(REMOVE_RECURSE "${place}")
same("removed" once)
