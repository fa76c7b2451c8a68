#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The header that every stable binding begins with, torch/csrc/stable/library.h, precompiled by gcc: half of the time
# that such a source takes.
#
#   precompile.sh make <directory> <compiler> <include directory of torch> <option>...
#   precompile.sh valid <directory>
#   precompile.sh run <directory> <compiler> <argument>...
#
# `make` writes <directory>/torch/csrc/stable/library.h.gch, `files`, which names the headers in it, and `stamp`, the
# sizes and times of all of these; `valid` tells whether they are the same still. `run` puts <directory> before the other
# include directories, where gcc takes the file by itself, if it comes first in the source and was made with the same
# options and macros. If a header isn't the one any more that went into it, or the file itself is damaged, which gcc may
# stop at, the compiler runs as it was called.

header=torch/csrc/stable/library.h

# _cudaops_identify <directory>: of what is in it and of the headers that it was made of, a line each.
_cudaops_identify() (
  set -f
  IFS='
'
  # shellcheck disable=SC2046
  stat -L -c '%s %.Y %i' -- "$1/$header" "$1/$header.gch" $(cat "$1/files") 2>/dev/null
)

_cudaops_make() {
  compiler=$1 include=$2
  shift 2
  new=$directory.$$
  # Of those that were killed.
  find "${directory%/*}" -mindepth 1 -maxdepth 1 -name '*.*' -mmin +60 -exec rm -rf {} + 2>/dev/null
  trap 'rm -rf "$new" "$new.old"' EXIT
  mkdir -p "$new/torch/csrc/stable" || exit
  # gcc comes here where the precompiled file can't be taken, and in a source that includes the header twice.
  printf '#pragma GCC system_header\n#include_next <%s>\n' $header >"$new/$header"
  # Of the header itself, whose place is in the dependency files of all that take it. -w: gcc warns of #pragma once in a
  # main file.
  "$compiler" "$@" -w "-I$include" -x c++-header -MD -MF "$new/depfile" -o "$new/$header.gch" "$include/$header" || exit
  # A line a file. Blanks in names come as "\ ".
  sed -e '1s/^[^:]*: *//' -e 's/ *\\$//' -e 's/^ *//' "$new/depfile" |
    sed -e 's/\\ /\x01/g' -e 's/  */\n/g' | tr '\001' ' ' | grep . | sort -u >"$new/files"
  rm "$new/depfile"
  _cudaops_identify "$new" >"$new/stamp" || exit
  # Another configure may have been faster; what was there before is of headers that have changed.
  _cudaops_valid || {
    [ ! -e "$directory" ] || mv -T "$directory" "$new.old"
    mv -T "$new" "$directory" || exit
  }
  # They are large: the latest few are kept.
  ls -dt "${directory%/*}"/*/stamp | tail -n +5 | while IFS= read -r old; do
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
  run)
    compiler=$1
    shift
    if _cudaops_valid; then
      set -- "-I$directory" -fpch-deps "$@"
    fi
    exec "$compiler" "$@"
    ;;
esac
