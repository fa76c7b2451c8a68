#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The header that every stable binding begins with, torch/csrc/stable/library.h, precompiled by gcc: half of the time
# that such a source takes.
#
#   precompile.sh make <directory> <first> <compiler> <include directory of torch> <option>...
#   precompile.sh valid <directory>
#
# `make` writes <directory>/<first>.gch, `files`, which names the headers in it, and `stamp`, the sizes and times of all
# of these; `valid` tells whether they are the same still. <first> is the header itself, or Python.h, which has to stand
# first where it is included: then <directory>/Python.h.gch is both. launcher/precompiled.cpp offers it to gcc, and looks
# at stamp before.

header=torch/csrc/stable/library.h

# _cudaops_first <directory>: the file that a source there includes first.
_cudaops_first() {
  if [ -e "$1/Python.h" ]; then echo Python.h; else echo $header; fi
}

# _cudaops_identify <directory>: of what is in it and of the headers that it was made of, a line each.
_cudaops_identify() (
  first=$(_cudaops_first "$1")
  set -f
  IFS='
'
  # shellcheck disable=SC2046
  stat -L -c '%s %.Y %i' -- "$1/$first" "$1/$first.gch" $(cat "$1/files") 2>/dev/null
)

_cudaops_make() {
  first=$1 compiler=$2 include=$3
  shift 3
  new=$directory.$$
  # Of those that were killed.
  find "${directory%/*}" -mindepth 1 -maxdepth 1 -name '*.*' -mmin +60 -exec rm -rf {} + 2>/dev/null
  trap 'rm -rf "$new" "$new.old"' EXIT
  mkdir -p "$new" && cd "$new" || exit
  # Found in the include directories: no file of this name is here yet.
  [ "$first" = $header ] || set -- "$@" -include "$first"
  # Of the header itself, whose place is in the dependency files of all that take it. -w: gcc warns of #pragma once in a
  # main file.
  "$compiler" "$@" -w "-I$include" -x c++-header -MD -MF depfile -o gch "$include/$header" || exit
  mkdir -p "$(dirname "$first")" && mv gch "$first.gch" || exit
  # gcc comes here where the precompiled file can't be taken, and in a source that includes the header twice.
  printf '#pragma GCC system_header\n#include_next <%s>\n' "$first" >"$first"
  # A line a file. Blanks in names come as "\ ".
  sed -e '1s/^[^:]*: *//' -e 's/ *\\$//' -e 's/^ *//' depfile |
    sed -e 's/\\ /\x01/g' -e 's/  */\n/g' | tr '\001' ' ' | grep . | sort -u >files
  rm depfile
  _cudaops_identify "$new" >stamp || exit
  cd / || exit
  # Another configure may have been faster; what was there before is of headers that have changed.
  _cudaops_valid || {
    [ ! -e "$directory" ] || mv -T "$directory" "$new.old"
    mv -T "$new" "$directory" || exit
  }
  # They are large: the latest few are kept.
  ls -dt "${directory%/*}"/*/stamp | tail -n +7 | while IFS= read -r old; do
    rm -rf "${old%/stamp}"
  done
}

_cudaops_valid() {
  [ -r "$directory/stamp" ] && [ "$(_cudaops_identify "$directory")" = "$(cat "$directory/stamp")" ]
}

mode=$1
directory=$2
shift 2
case $mode in
  make) _cudaops_make "$@" ;;
  valid) _cudaops_valid ;;
esac
