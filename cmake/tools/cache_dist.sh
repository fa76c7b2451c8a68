#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Distributed compiles, for cache_launcher.sh, whose settings read this file where sccache has a scheduler.
#
#   sh cache_dist.sh without <configuration> <copy>
#
# There are two sccache servers, each with its own socket: one with the user's configuration, and one with a copy of it
# that names no scheduler. accelerate/cache_dist.cmake says which one is right to begin with (_cudaops_dist).

# _cudaops_distribute <argument>...: chooses the server that this compile goes to; fails where sccache can't take nvcc
# apart, which it would say with an exit code that a broken server has too.
_cudaops_distribute() {
  case " $* " in
    *" --jobserver "* | *" -jobserver "* | *code=lto_* | *code=\[*lto_*)
      _cudaops_why="sccache can't take this nvcc apart"
      return 1
      ;;
  esac
  if [ -n "$_cudaops_dist" ] && [ -e "$_cudaops_dir/here" ]; then
    if [ -n "$(find "$_cudaops_dir/here" -prune -mmin +1 2>/dev/null)" ]; then
      rmdir "$_cudaops_dir/here" 2>/dev/null
    else
      _cudaops_dist=
    fi
  fi
  if [ -n "$_cudaops_dist" ]; then
    export SCCACHE_CONF="$_cudaops_dist_config" SCCACHE_SERVER_UDS="$_cudaops_dist_socket"
    if [ -z "${SCCACHE_LOG-}${SCCACHE_ERROR_LOG-}" ] && [ -n "$_cudaops_dist_log" ]; then
      export SCCACHE_LOG=sccache::compiler=warn SCCACHE_ERROR_LOG="$_cudaops_dist_log"
    fi
  else
    export SCCACHE_CONF="$_cudaops_dist_local_config" SCCACHE_SERVER_UDS="$_cudaops_dist_local_socket"
  fi
}

# _cudaops_dist_says <what> <why> <key>: one line for all the compiles of a build; for the same key in ten minutes again.
_cudaops_dist_says() {
  [ -z "$(find "$_cudaops_dir/dist_said" -prune -mmin +10 2>/dev/null)" ] || rm -f "$_cudaops_dir/dist_said"
  ! grep -qxFe "$3" "$_cudaops_dir/dist_said" 2>/dev/null || return 0
  printf '%s\n' "$3" >>"$_cudaops_dir/dist_said"
  printf '%s\n' "CudaOps: $1: $2" >&2
}

# _cudaops_dist_done <compiler> <argument>...: after each compile that went to a distributing server. Returns where it
# was right. A server on another machine fails for reasons of its own (a token, a full disk, no memory), and sccache
# hands that on as the compiler's failure: only this machine's compiler is believed.
_cudaops_dist_done() {
  case $_cudaops_status in
    0) ;;
    129 | 130 | 143) return ;;
    *) _cudaops_dist_failed "$@" ;;
  esac
  # sccache compiles here what another machine doesn't, and says so in its log only.
  _cudaops_b=$_cudaops_dir/dist_read
  [ -e "$_cudaops_b" ] || _cudaops_b=$_cudaops_settings
  [ "$_cudaops_dist_log" -nt "$_cudaops_b" ] || return
  _cudaops_a=
  [ ! -r "$_cudaops_dir/dist_read" ] || IFS= read -r _cudaops_a <"$_cudaops_dir/dist_read"
  _cudaops_b=$(sed -n '/falling back to local: /h;${x;p;}' "$_cudaops_dist_log")
  printf '%s\n' "$_cudaops_b" >"$_cudaops_dir/dist_read"
  [ -n "$_cudaops_b" ] && [ "$_cudaops_a" != "$_cudaops_b" ] || return
  # A server that is gone is known at once. For one that hangs or is cut off each compile would wait half a minute.
  _cudaops_now
  _cudaops_a=
  case $_cudaops_b in
    *[Cc]onnection\ refused* | *connection\ closed* | *[Cc]onnection\ reset*) _cudaops_time=$_cudaops_start ;;
  esac
  if [ $((_cudaops_time - _cudaops_start)) -gt 2000 ] && mkdir "$_cudaops_dir/here" 2>/dev/null; then
    _cudaops_a=", for a minute all run here"
  fi
  # Which server, and the last cause.
  _cudaops_b=$(
    printf '%s\n' "${_cudaops_b#*falling back to local: }" | sed \
      -e 's/^.* for url (https*:\/\/\([^\/]*\)\/.*"description":"\([^"]*\)".*$/server \1: \2/' \
      -e 's/^.*ServerId(\([^)]*\)): error sending request for url ([^)]*): /server \1: /'
  )
  _cudaops_dist_says "a compile that was to be distributed ran here$_cudaops_a" "$_cudaops_b" "ran here"
}

_cudaops_dist_failed() {
  _cudaops_failed=$_cudaops_status
  "$@"
  _cudaops_status=$?
  if [ $_cudaops_status -eq 0 ] && mkdir "$_cudaops_dir/here" 2>/dev/null; then
    _cudaops_said=${_cudaops_said#*http error status: }
    _cudaops_said=${_cudaops_said%%
*}
    case $_cudaops_said in
      ?*sccache:\ Compiler*) _cudaops_said=${_cudaops_said%sccache: Compiler*} ;;
      "") _cudaops_said="exit code $_cudaops_failed" ;;
    esac
    _cudaops_dist_says "a distributed compile failed, for a minute all run here" "$_cudaops_said" "$_cudaops_said"
  fi
  if [ $_cudaops_status -eq 0 ]; then
    _cudaops_log 'not cached' 'a distributed compile failed'
  else
    _cudaops_log failed "exit code $_cudaops_status"
  fi
  exit $_cudaops_status
}

# The configuration without its table "dist", whichever way it is written.
if [ "${1-}" = without ]; then
  umask 077
  mkdir -p "${3%/*}" || exit
  awk '
    /^[ \t]*\[/ { skip = /^[ \t]*\[+[ \t]*"?dist"?[ \t]*[].]/ }
    /^[ \t]*"?dist"?[ \t]*[.=]/ && !table { next }
    /^[ \t]*\[/ { table = 1 }
    !skip' "$2" >"$3.$$" || exit
  # Written in a way that this doesn't know: then without all of it.
  ! grep -q '^[^#]*scheduler_url' "$3.$$" || : >"$3.$$"
  mv -f "$3.$$" "$3"
  exit
fi
