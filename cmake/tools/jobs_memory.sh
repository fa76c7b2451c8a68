#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a compile and notes the memory of its largest process, for accelerate/jobs_weight.cmake.
#
#   sh jobs_memory.sh <time> <file> <compiler> <argument>...

_cudaops_time=$1
_cudaops_file=$2
shift 2
_cudaops_source=
_cudaops_previous=
for _cudaops_a; do
  [ "$_cudaops_previous" != -c ] || _cudaops_source=$_cudaops_a
  _cudaops_previous=$_cudaops_a
done
# A line holds one path; and % and \ mean something to time.
case $_cudaops_source in
  "" | -* | *[%\\]*) exec "$@" ;;
esac
[ -x "$_cudaops_time" ] && [ -w "${_cudaops_file%/*}" ] || exec "$@"
exec "$_cudaops_time" -a -o "$_cudaops_file" -f "%M $_cudaops_source" "$@"
