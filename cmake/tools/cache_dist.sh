#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sccache's configuration without its table "dist", whichever way that is written, for a server that knows no scheduler.
#
#   sh cache_dist.sh <configuration> <copy>

umask 077
mkdir -p "${2%/*}" || exit
awk '
  /^[ \t]*\[/ { skip = /^[ \t]*\[+[ \t]*"?dist"?[ \t]*[].]/ }
  /^[ \t]*"?dist"?[ \t]*[.=]/ && !table { next }
  /^[ \t]*\[/ { table = 1 }
  !skip' "$1" >"$2.$$" || exit
# Written in a way that this doesn't know: then without all of it.
! grep -q '^[^#]*scheduler_url' "$2.$$" || : >"$2.$$"
mv -f "$2.$$" "$2"
