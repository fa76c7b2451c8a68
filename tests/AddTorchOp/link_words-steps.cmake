# What of a link leaves the choice of the linker open: with words and variables that linkers read differently it is the
# compiler's own, and a library is the one that that one links, with archives, LTO and weak references as well.
find_program(compiler NAMES g++ NO_CACHE)
use_linkers(linkers)
if(NOT compiler OR NOT "gold" IN_LIST linkers)
  case_skip("no g++, or no ld.gold on this machine")
  return()
endif()
set(tool "${case_DIR}/cudaops-launch")
case_step(
  program
  COMMAND "${compiler}" -std=c++17 -fno-exceptions "${case_REPO}/cmake/launcher/cudaops_launch.cpp" -o "${tool}"
)
file(WRITE "${case_DIR}/own" "link_step\t1\nstubs\t${case_DIR}/stubs\nuses_python\tmay\n")
file(WRITE "${case_DIR}/open" "link_step\t1\nstubs\t${case_DIR}/stubs\nopen\t1\nuses_python\tmay\n")

# source(<name> <code>): <name>.o.
function(source name code)
  file(WRITE "${case_DIR}/${name}.cpp" "extern \"C\" {\n${code}\n}\n")
  case_step(compile COMMAND "${compiler}" -fPIC -c ${ARGN} "${name}.cpp")
endfunction()

# link(<out> <out-by> <mode> <word>...): what the library is, and which linker made it, empty for the compiler's own.
function(link out out_by mode)
  file(REMOVE "${case_DIR}/libop.so")
  case_step(
    link
    COMMAND
      "${tool}" "${case_DIR}/${mode}" "${compiler}" -fPIC -Wl,--no-undefined -shared
      -Wl,-soname,libop.so -o libop.so ${ARGN} "${case_DIR}/torch/libtorch_cpu.so"
  )
  case_step(look COMMAND sh look.sh)
  string(REGEX MATCH "by ([^\n]*)\n" by "${case_STEP_STDOUT}")
  set(${out_by} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  string(REPLACE "${by}" "" is "${case_STEP_STDOUT}")
  set(${out} "${is}" PARENT_SCOPE)
endfunction()

file(
  WRITE "${case_DIR}/look.sh"
  "echo \"by $(readelf -p .comment -n libop.so | grep -oE 'mold|LLD|gold' | head -n 1)\"\n"
  "readelf -d libop.so | grep -oE '(NEEDED|RUNPATH|RPATH|SONAME).*' | LC_ALL=C sort\n"
  "nm -D libop.so | sed -n 's/^[0-9a-f ]* \\([TUw]\\) /\\1 /p' | grep -vE '^T (_init|_fini)|_edata|_end|__bss_start' | LC_ALL=C sort\n"
  "'${case_PYTHON}' -c 'import ctypes; print(ctypes.CDLL(\"./libop.so\").top())'\n"
)
file(MAKE_DIRECTORY "${case_DIR}/torch")
source(torch "int torch_there() { return 0; }\nint torch_newer() { return 1; }")
case_step(torch COMMAND "${compiler}" -shared -Wl,-soname,libtorch_cpu.so -o torch/libtorch_cpu.so torch.o)
case_environment("LD_LIBRARY_PATH=${case_DIR}/torch:${case_DIR}")
source(top "int torch_there(); int f(); int top() { return torch_there() + f(); }")
source(f "int g(); int f() { return g(); }")
source(g1 "int g() { return 1; }")
source(g2 "int g() { return 2; }")
source(weak "__attribute__((weak)) int torch_newer(); int newer() { return torch_newer ? torch_newer() : 0; }")
source(lto "int registered() { return 3; }" -flto -fno-fat-lto-objects)
case_step(archives COMMAND sh -c "ar rc libone.a g1.o && ar rc libtwo.a f.o g2.o")
case_step(libg COMMAND "${compiler}" -shared -Wl,-soname,libg.so -o libg.so g1.o)
case_step(libf COMMAND "${compiler}" -shared -Wl,-soname,libf.so -o libf.so f.o ./libg.so)
file(WRITE "${case_DIR}/only.map" "{ global: top; local: *; };\n")
case_step(
  make
  COMMAND "${tool}" --link-stubs "${compiler}" nm readelf "${case_DIR}/stubs" "${case_DIR}/torch/libtorch_cpu.so"
)

file(READ "${case_DIR}/stubs/linker" picked)
case_equal("the linker that was picked" "${picked}" "gold\n")

set(
  open_words
  "top.o f.o g1.o"
  "top.o f.o g1.o lto.o"
  "top.o f.o g1.o weak.o" # is not there in each torch
  "top.o f.o libone.a -static-libstdc++"
  "top.o libone.a libtwo.a" # g() of either
  "top.o libone.a ./libf.so" # g() of libg.so
  "top.o f.o libone.a -Wl,--exclude-libs,ALL"
  "top.o f.o libone.a -Wl,--exclude-libs,libone"
)
set(
  own_words
  "top.o f.o g1.o -Wl,-Map=op.map"
  "top.o f.o g1.o -Wl,-rpath,/nowhere,--version-script=only.map"
  "top.o f.o g1.o -Wl,--build-id=sha1,--version-script=only.map"
)
foreach(words IN LISTS open_words own_words)
  separate_arguments(list UNIX_COMMAND "${words}")
  link(usual by own ${list})
  case_equal("the linker of ${words} by 'own'" "${by}" "")
  link(open by open ${list})
  case_equal("${words}" "${open}" "${usual}")
  set(expected "")
  if(words IN_LIST open_words)
    set(expected gold)
  endif()
  case_equal("the linker of ${words}" "${by}" "${expected}")
endforeach()
case_environment("LD_RUN_PATH=/nowhere")
link(usual by own top.o f.o g1.o)
link(open by open top.o f.o g1.o)
case_equal("with LD_RUN_PATH" "${open}" "${usual}")
case_environment(UNSET LD_RUN_PATH)

# A linker that is gone is no reason to read all of torch: this one can't be read.
file(WRITE "${case_DIR}/stubs/linker" "nonesuch\n")
link(usual by own top.o f.o g1.o)
file(COPY "${case_DIR}/torch/libtorch_cpu.so" DESTINATION "${case_DIR}/whole")
file(
  WRITE "${case_DIR}/damage.py"
  "import os\nname = 'torch/libtorch_cpu.so'\nstat = os.stat(name)\nopen(name, 'wb').write(bytes(stat.st_size))\n"
  "os.utime(name, ns=(stat.st_atime_ns, stat.st_mtime_ns))\n"
)
case_step(damage COMMAND "${case_PYTHON}" damage.py)
case_environment("LD_LIBRARY_PATH=${case_DIR}/whole:${case_DIR}")
link(open by open top.o f.o g1.o)
case_equal("the library, where the linker picked is gone" "${open}" "${usual}")
