#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Links what add_torch_op() and cudaops_add_kernels() make: with every symbol there but Python's own, and stable ops against
# stubs of torch's libraries, where the linker reads 50 kB instead of half a gigabyte.
#
#   link_stub.sh make <compiler> <nm> <readelf> <directory> <library>...
#   link_stub.sh python <compiler> <readelf> <python> <stub>
#   link_stub.sh link|own <directory> may|must <script> <command of the link>...
#
# `make` writes a stub of each library into <directory>: its SONAME, and of its functions those of the C interface, which
# are all that a stable op may use. `stamp` in it names the libraries that they were made of, `linker` a linker that is
# faster than the compiler's own, if there is one.
#
# `link` runs the command with stubs in the place of these libraries, and by that linker where the command leaves the
# choice open; `own` by the compiler's own. Where <directory> is empty, the libraries are others by now, or the link
# fails, the command runs as it was given: what can't be linked is said by the compiler's own linker and with torch itself.
#
# The command says --no-undefined, which knows no exceptions, and Python's symbols come from the interpreter. What fails to
# link (`may` use Python's API) or would fail (`must`) is linked with a library that has what <python> exports to modules:
# the linker itself says what else is missing. Where nothing is, the file is linked without that library, so that it
# doesn't need it, and with these symbols open. <script> runs `python`, when that library is wanted for the first time:
# it stands beside it, as <script> with .so for .sh.

_cudaops_identify() {
  stat -L -c '%s %Y %n' -- "$@" 2>/dev/null
}

_cudaops_make() {
  compiler=$1 nm=$2 readelf=$3 directory=$4
  shift 4
  new=$directory.$$
  trap 'rm -rf "$new"' EXIT
  mkdir -p "$new" || exit
  for library; do
    name=${library##*/}
    # All of it is read: readelf would complain of a reader that ends before, where SIGPIPE is ignored.
    [ -n "$("$readelf" -d "$library" | grep "SONAME.*\[$name\]")" ] || exit
    "$nm" -D --defined-only "$library" |
      awk '$2 == "T" && $3 ~ /^(aoti_)?torch_[A-Za-z0-9_]+$/ { print ".globl " $3 "\n.type " $3 ",@function\n" $3 ":" }
        END { print ".section .note.GNU-stack,\"\",@progbits" }' >"$new/stub.s"
    grep -q '^\.globl' "$new/stub.s" || exit
    "$compiler" -shared -nostdlib "-Wl,-soname,$name" -o "$new/$name" "$new/stub.s" || exit
  done
  # Of the fast linkers the one that links as the compiler's own does. mold 1 makes weak references strong, and an op that
  # asks whether this torch has a function would no longer load where it has not; lld takes gcc's LTO objects for empty
  # ones; and both may take a symbol that several archives have from another one.
  if "$compiler" -shared -fuse-ld=gold -o "$new/tried" "$new/stub.s" "$new/$name" 2>/dev/null; then
    echo gold >"$new/linker"
  fi
  rm -f "$new/stub.s" "$new/tried"
  _cudaops_identify "$@" >"$new/stamp" || exit
  # Another configure may have been faster; one directory is as good as the other.
  mv -T "$new" "$directory" 2>/dev/null || [ -e "$directory/stamp" ]
}

# What the interpreter's own files (the program, and libpython where it has one) export of Python's names.
_cudaops_make_python() {
  compiler=$1 readelf=$2 python=$3 stub=$4
  new=$stub.$$
  trap 'rm -f "$new" "$new.s"' EXIT
  files=$("$python" -I -S -B -c '
with open("/proc/self/maps") as maps:
    print("".join(sorted({line.split(None, 5)[5] for line in maps if " /" in line})), end="")') || exit
  printf '%s\n' "$files" |
    while IFS= read -r file; do
      # Not each is an ELF file.
      "$readelf" -W --dyn-syms "$file" 2>/dev/null
    done |
    awk 'NF >= 8 && $(NF - 1) != "UND" && ($5 == "GLOBAL" || $5 == "WEAK") && $NF ~ /^_?Py/ {
        name = $NF
        sub(/@.*/, "", name)
        if (seen[name]++) next
        kind = "function"
        section = ".text"
        if ($4 == "OBJECT") { kind = "object"; section = ".data" }
        if ($4 == "TLS") { kind = "tls_object"; section = ".section .tbss,\"awT\",@nobits" }
        print section "\n.globl " name "\n.type " name ",@" kind "\n.size " name ",8\n" name ":\n.zero 8"
      }
      END { print ".section .note.GNU-stack,\"\",@progbits" }' >"$new.s"
  if ! grep -q '^\.globl' "$new.s"; then
    echo "$python exports none of Python's symbols" >&2
    exit 1
  fi
  "$compiler" -shared -nostdlib -Wl,-soname,cudaops-python-stub -o "$new" "$new.s" && mv -f "$new" "$stub"
}

# Whether all words of a link mean the same to both linkers: no other linker was asked for, no plug-in, no script.
_cudaops_any_linker() {
  # Only the compiler's own reads it.
  [ -z "${LD_RUN_PATH-}" ] || return 1
  for argument; do
    case $argument in
      # Nothing behind what is known.
      -Wl,*,*,* | -Wl,--build-id*,*) return 1 ;;
      -l* | -L* | -o | -shared | -fPIC | -pthread | -fopenmp | -O* | -g | -D* | -std=* | -m64 | -s) ;;
      -static-libgcc | -static-libstdc++) ;;
      -Wl,-soname,* | -Wl,-rpath,* | -Wl,-rpath-link,* | -Wl,--no-undefined | -Wl,-z,defs | -Wl,-z,now | -Wl,-z,relro) ;;
      -Wl,--as-needed | -Wl,--no-as-needed | -Wl,--exclude-libs,* | -Wl,-s | -Wl,--strip-all) ;;
      -Wl,--enable-new-dtags | -Wl,--build-id* | -Wl,-Bstatic | -Wl,-Bdynamic) ;;
      -*) return 1 ;;
      *.o | *.a | *.so | *.so.[0-9]*) ;;
      *) return 1 ;;
    esac
  done
}

# The command with the file of "-o" taken to another name.
_cudaops_into() {
  into=$1
  shift
  count=$#
  last=
  while [ "$count" -gt 0 ]; do
    count=$((count - 1))
    argument=$1
    shift
    [ "$last" != -o ] || argument=$into
    last=$argument
    set -- "$@" "$argument"
  done
  "$@"
}

_cudaops_output() {
  while [ $# -gt 1 ]; do
    [ "$1" != -o ] || printf '%s' "$2"
    shift
  done
}

# What to do about the names that the linker misses: those of CUDA and of OpenMP tell their library.
_cudaops_missing() {
  awk '
    BEGIN { count = split("cublas cublasLt cuda_driver cudnn cufft curand cusolver cusparse nccl nvml nvrtc openmp", names, " ") }
    /undefined (reference to|symbol)/ {
      name = $0
      sub(/.*undefined (reference to|symbol)[^A-Za-z_]*/, "", name)
      sub(/[^A-Za-z0-9_].*/, "", name)
      if (match(name, /^(cublas|cublasLt|cudnn|cufft|curand|cusolver|cusparse|nccl|nvml|nvrtc)[A-Z]/))
        ++missing[substr(name, 1, RLENGTH - 1)]
      else if (name ~ /^cu[A-Z]/ && name !~ /^cuFile/) ++missing["cuda_driver"]
      else if (name ~ /^(GOMP|omp|__kmpc)_/) ++missing["openmp"]
      else other = 1
    }
    END {
      for (i = 1; i <= count; ++i) if (names[i] in missing) libraries = libraries " CudaOps::" names[i]
      if (libraries != "") print "Fix: target_link_libraries(<target> PRIVATE" libraries ")"
      if (other || libraries == "") {
        print "Fix: add the source that defines it (a .cpp that calls a CUDA launcher belongs to CUDA_SOURCES),"
        print "     or the library: target_link_libraries(<target> PRIVATE <library>)"
      }
    }'
}

# Runs the command of a link with Python's symbols as the exception. Prints what the linker says.
_cudaops_link() {
  if [ "$uses_python" = may ] || [ -z "$script" ]; then
    said=$("$@" 2>&1) && {
      [ -z "$said" ] || printf '%s\n' "$said"
      return 0
    }
  fi
  output=$(_cudaops_output "$@")
  # The device link of CUDA makes an object.
  if [ -z "$script" ] || [ "${output##*.}" = o ]; then
    printf '%s\n' "$said"
    return 1
  fi
  python_stub=${script%.sh}.so
  if [ ! -e "$python_stub" ] && ! made=$(/bin/sh "$script" 2>&1); then
    printf '%s\n' "${said-}" "what Python's API is can't be told: $made"
    return 1
  fi
  said=$(_cudaops_into "$output.check" "$@" "$python_stub" 2>&1)
  result=$?
  rm -f "$output.check"
  if [ "$result" = 0 ]; then
    said=$("$@" -Wl,--unresolved-symbols=ignore-all 2>&1)
    result=$?
  elif _cudaops_into "$output.check" "$@" -Wl,--unresolved-symbols=ignore-all >/dev/null 2>&1; then
    said="$said
$(printf '%s\n' "$said" | _cudaops_missing)"
  fi
  rm -f "$output.check"
  [ -z "$said" ] || printf '%s\n' "$said"
  return "$result"
}

_cudaops_with_stubs() {
  count=$#
  while [ "$count" -gt 0 ]; do
    count=$((count - 1))
    argument=$1
    shift
    case $argument in
      "$prefix"/lib*.so) [ ! -e "$stubs/${argument##*/}" ] || argument=$stubs/${argument##*/} ;;
    esac
    set -- "$@" "$argument"
  done
  _cudaops_link "$@" ${linker:+"-fuse-ld=$linker"}
}

mode=$1
shift
case $mode in
  make)
    _cudaops_make "$@"
    exit
    ;;
  python)
    _cudaops_make_python "$@"
    exit
    ;;
esac
stubs=$1 uses_python=$2 script=$3
shift 3
if [ -n "$stubs" ] && [ -r "$stubs/stamp" ]; then
  libraries=
  stamp=
  set -f
  while IFS= read -r line; do
    library=${line#* }
    library=${library#* }
    prefix=${library%/*}
    libraries="$libraries
$library"
    stamp="$stamp${stamp:+
}$line"
  done <"$stubs/stamp"
  linker=
  compiler=$1
  shift
  if [ "$mode" = link ] && [ -r "$stubs/linker" ]; then
    read -r linker <"$stubs/linker"
    _cudaops_any_linker "$@" || linker=
  fi
  set -- "$compiler" "$@"
  IFS='
'
  # shellcheck disable=SC2086
  now=$(_cudaops_identify $libraries)
  unset IFS
  # The linker that was found may be gone, or no longer work.
  if [ "$now" = "$stamp" ] &&
    { said=$(_cudaops_with_stubs "$@") || { [ -n "$linker" ] && linker= && said=$(_cudaops_with_stubs "$@"); }; }; then
    [ -z "$said" ] || printf '%s\n' "$said"
    exit 0
  fi
fi
said=$(_cudaops_link "$@")
result=$?
[ -z "$said" ] || printf '%s\n' "$said" >&2
# Not every linker removes what an earlier link left there.
[ "$result" = 0 ] || rm -f "$(_cudaops_output "$@")"
exit "$result"
