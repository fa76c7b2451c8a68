#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes a file that only this user can read, whole or not at all.
#
#   cache_secret.sh <file>     (CUDAOPS_SECRET in the environment)

umask 077
_cudaops_directory=${1%/*}
mkdir -p "$_cudaops_directory" && chmod 700 "$_cudaops_directory" || exit
if [ -r "$1" ] && [ -O "$1" ] && [ "$(cat "$1"; echo .)" = "$CUDAOPS_SECRET." ]; then
  chmod 600 "$1"
  exit
fi
rm -f "$1.$$"
printf '%s' "$CUDAOPS_SECRET" >"$1.$$" && mv -f "$1.$$" "$1"
