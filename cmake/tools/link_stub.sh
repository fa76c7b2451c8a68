#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Links stable ops against stubs of torch's libraries: the linker reads 50 kB where torch's have half a gigabyte.
#
#   link_stub.sh make <compiler> <nm> <readelf> <directory> <library>...
#   link_stub.sh link <directory> <command of the link>...
#   link_stub.sh own <directory> <command of the link>...
#
# `make` writes a stub of each library into <directory>: its SONAME, and of its functions those of the C interface, which
# are all that a stable op may use. `stamp` in it names the libraries that they were made of, `linker` a linker that is
# faster than the compiler's own, if there is one. `link` runs the command with stubs in the place of these libraries, and
# by that linker where the command leaves the choice open; `own` by the compiler's own. Where the libraries are others by
# now, or the link fails, the command runs as it was given: what can't be linked is said by the compiler's own linker and
# with torch itself.

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
    "$readelf" -d "$library" | grep -q "SONAME.*\[$name\]" || exit
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

# Whether all words of a link mean the same to both linkers: no other linker was asked for, no plug-in, no script.
_cudaops_any_linker() {
  # Only the compiler's own reads it.
  [ -z "${LD_RUN_PATH-}" ] || return 1
  for argument; do
    case $argument in
      # Nothing behind what is known.
      -Wl,*,*,* | -Wl,--build-id*,*) return 1 ;;
      -l* | -L* | -o | -shared | -fPIC | -pthread | -O* | -g | -D* | -std=* | -m64 | -s) ;;
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
  "$@" ${linker:+"-fuse-ld=$linker"}
}

mode=$1
shift
if [ "$mode" = make ]; then
  _cudaops_make "$@"
  exit
fi
stubs=$1
shift
if [ -r "$stubs/stamp" ]; then
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
    { said=$(_cudaops_with_stubs "$@" 2>&1) ||
      { [ -n "$linker" ] && linker= && said=$(_cudaops_with_stubs "$@" 2>&1); }; }; then
    [ -z "$said" ] || printf '%s\n' "$said"
    exit 0
  fi
fi
exec "$@"
