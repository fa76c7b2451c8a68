# The program that runs compiles is built once, for each compiler; where that fails or is cut off the next build is right,
# and where it can't be done at all ops are built without a cache and the report says why.
fake_cache(ccache "version 4.14")
set(case_NO_SEED TRUE)
host_kernels()
set(compiler "${case_DIR}/bin/my-c++")
list(APPEND case_ARGS "-DCMAKE_CXX_COMPILER=${compiler}")

# compiler(<shell code>): what it does where it is to build the program; $out is the file. Ten times in this case: what the
# first has built, without optimisation, is copied by the others.
function(compiler code)
  file(
    WRITE "${compiler}"
    "#!/bin/sh\ncase \" $* \" in\n  *\" -print-file-name\"*) ;;\n  */cudaops_launch.cpp\\ *)\n    for out; do :; done\n    echo built >>'${case_DIR}/built'\n    ${code}\n    program='${case_DIR}/program'\n    [ -e \"$program\" ] || '${case_CXX}' \"$@\" -O0 -o \"$program\" || exit\n    exec cp \"$program\" \"$out\"\n    ;;\nesac\nexec '${case_CXX}' \"$@\"\n"
  )
  file(CHMOD "${compiler}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()
# expect_built(<what> <count>): how often it was compiled since the last call.
function(expect_built what count)
  set(lines "")
  if(EXISTS "${case_DIR}/built")
    file(STRINGS "${case_DIR}/built" lines)
    file(REMOVE "${case_DIR}/built")
  endif()
  list(LENGTH lines built)
  case_equal("builds of the program, ${what}" ${built} ${count})
endfunction()
# expect_works(<what> <build>): compiles go through the cache, and the library is right.
function(expect_works what build)
  case_build(BUILD_DIR "${build}" ARGS --verbose --clean-first)
  expect_stdout("${build}/CudaOps/cudaops-launch\"? [^\n]*/CudaOps/launch/host\\.cxx\\.settings\"? ")
  case_step("${what}: both files are in it" COMMAND nm -D "${build}/libhost.so")
  expect_stdout("T _Z3onev" "T _Z3twov")
endfunction()
# stored(<out>): what is in the store.
function(stored out)
  file(GLOB_RECURSE files RELATIVE "${case_DIR}/store/launch" "${case_DIR}/store/launch/*")
  list(TRANSFORM files REPLACE "^[0-9a-f]+/" "")
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

# A compiler that can't; builds do without, and nothing of it is remembered.
compiler("echo \"my-c++: error: unrecognized command-line option '-std=c++17'\" >&2; exit 1")
set(
  problem
  "there is no cudaops-launch: ${compiler} can't compile it: my-c++: error: unrecognized command-line option '-std=c++17'"
)
case_configure()
case_report_equal("" cache launcher)
case_report_equal("${problem}" cache problem)
string(REPLACE "+" "\\+" regex "${problem}")
expect_stdout("no compiler cache: ${regex}")
case_build(ARGS --verbose)
refuse_stdout("cudaops-launch")
case_step("both files are in it" COMMAND nm -D "${case_BUILD_DIR}/libhost.so")
expect_stdout("T _Z3onev" "T _Z3twov")
# In the store, and in the build tree, whose disk may be another one.
expect_built("a compiler that can't" 2)

# Killed while it is built: half a program beside, none in its place.
compiler("head -c 1000 /bin/sh >\"$out\"; kill -9 $PPID; sleep 5")
case_step(
  killed
  COMMAND sh -c "\"$@\" >/dev/null 2>&1; echo $?" sh "${case_CMAKE}" -S "${case_PROJECT_DIR}" -B "${case_BUILD_DIR}"
)
case_equal("exit code" "${case_STEP_STDOUT}" "137\n")
expect_built("killed" 1)
compiler("")
case_configure()
case_report_equal(ccache cache launcher)
expect_works("after a killed one" "${case_BUILD_DIR}")
expect_built("after a killed one" 1)
case_configure()
expect_built("nothing to do" 0)

# Other build trees take it from the store, and one that stands needs no store.
case_configure(BUILD_DIR "${case_DIR}/two")
expect_works("another build tree" "${case_DIR}/two")
expect_built("another build tree" 0)
file(RENAME "${case_DIR}/store" "${case_DIR}/elsewhere")
expect_works("the store is gone" "${case_DIR}/two")
file(RENAME "${case_DIR}/elsewhere" "${case_DIR}/store")

# Damaged in the store.
foreach(damage IN ITEMS "" "no program")
  file(GLOB programs "${case_DIR}/store/launch/*/cudaops-launch")
  foreach(program IN LISTS programs)
    file(WRITE "${program}" "${damage}")
  endforeach()
  file(REMOVE_RECURSE "${case_DIR}/two")
  case_configure(BUILD_DIR "${case_DIR}/two")
  expect_works("damaged" "${case_DIR}/two")
  expect_built("damaged" 1)
endforeach()

# Another compiler in its place: its program is another one.
compiler(": # upgraded"
)
case_configure()
expect_built("an upgraded compiler" 1)
expect_works("an upgraded compiler" "${case_BUILD_DIR}")

# Two at once.
file(REMOVE_RECURSE "${case_DIR}/store/launch")
compiler("sleep 1 # slowly"
)
case_step(
  "two at once"
  COMMAND
    sh -c "\"$@\" -B three >/dev/null 2>&1 & \"$@\" -B four >/dev/null 2>&1 && wait $!" sh "${case_CMAKE}" -S
    "${case_PROJECT_DIR}" -G "${case_GENERATOR}" ${case_ARGS}
)
expect_works("the one" "${case_DIR}/three")
expect_works("the other" "${case_DIR}/four")
file(REMOVE "${case_DIR}/built")
stored(files)
list(REMOVE_DUPLICATES files)
case_equal("what is in the store" "${files}" "cudaops-launch")

# A store that can't be written: for the build tree alone.
file(WRITE "${case_DIR}/file" "")
case_configure(BUILD_DIR "${case_DIR}/no store" ARGS "-DCUDAOPS_STORE=${case_DIR}/file/store")
expect_works("no store" "${case_DIR}/no store")
expect_built("no store" 1)
case_configure(BUILD_DIR "${case_DIR}/no store" ARGS "-DCUDAOPS_STORE=${case_DIR}/file/store")
expect_built("no store, again" 0)

# A full one, where we may mount it.
find_program(unshare unshare NO_CACHE)
find_program(mount mount NO_CACHE)
file(MAKE_DIRECTORY "${case_DIR}/small")
set(can_mount 1)
if(unshare AND mount)
  execute_process(
    COMMAND "${unshare}" -rm "${mount}" -t tmpfs -o size=64k none "${case_DIR}/small"
    RESULT_VARIABLE can_mount
    ERROR_QUIET
  )
endif()
if(can_mount EQUAL 0)
  case_step(
    "a full store"
    COMMAND
      "${unshare}" -rm sh -c
      "mount=$1 && small=$2 && shift 2 && \"$mount\" -t tmpfs -o size=64k none \"$small\" && \"$@\"" sh "${mount}"
      "${case_DIR}/small" "${case_CMAKE}" -S "${case_PROJECT_DIR}" -B "${case_DIR}/full" -G "${case_GENERATOR}"
      ${case_ARGS} "-DCUDAOPS_STORE=${case_DIR}/small"
  )
  expect_works("a full store" "${case_DIR}/full")
else()
  message("no user namespace to mount a small file system in: a full store is left out")
endif()

# A compiler for another machine.
case_configure(BUILD_DIR "${case_DIR}/cross" ARGS -DCMAKE_SYSTEM_NAME=Linux)
file(READ "${case_DIR}/cross/cudaops-report.json" report)
string(JSON problem GET "${report}" cache problem)
case_equal("cross" "${problem}" "there is no cudaops-launch: the C++ compiler builds for another machine")
case_build(BUILD_DIR "${case_DIR}/cross" ARGS --verbose)
refuse_stdout("cudaops-launch")
