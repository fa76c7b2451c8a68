#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Asks a shared cache as a build would: stores an object and gets it back. Prints "known" where it was there before, "new"
# where it is now ("works" where sccache doesn't say which), or what is wrong.
#
#   cache_try.sh <scratch directory> ccache|sccache <program> <compiler> <key> ON|OFF <settings> [<cache_ping.sh> ...]
#
# (CCACHE_REMOTE_STORAGE in the environment; <settings> are sccache's.)

umask 077
_cudaops_engine=$2
_cudaops_cache=$3
_cudaops_compiler=$4
_cudaops_readonly=$6
_cudaops_settings=$7
rm -rf "$1"
mkdir -p "$1" && cd "$1" || exit
echo 'int cudaops;' >try.cpp
if [ "$_cudaops_engine" = sccache ]; then
  _cudaops_key=$5
  # shellcheck disable=SC1090
  . "$_cudaops_settings" || exit
  shift 7
  if [ $# -gt 0 ]; then
    /bin/sh "$@" || exit
  fi
  export SCCACHE_C_CUSTOM_CACHE_BUSTER="cudaops try $_cudaops_key"
  if _cudaops_said=$("$_cudaops_cache" "$_cudaops_compiler" -c try.cpp -o try.o 2>&1); then
    echo works
    exit
  fi
  printf '%s\n' "$_cudaops_said" | grep . | head -n 1
  exit 1
fi
unset CCACHE_SECONDARY_STORAGE CCACHE_RECACHE CCACHE_REMOTE_ONLY CCACHE_READONLY CCACHE_READONLY_DIRECT CCACHE_HASHDIR \
  CCACHE_CONFIGPATH
export CCACHE_DIRECT=1 CCACHE_DEPEND=1 CCACHE_NOHASHDIR=1 CCACHE_COMPILERCHECK=string:cudaops \
  CCACHE_NAMESPACE="cudaops try $5"

# _cudaops_ask <number>: with an empty cache of its own, so that only the shared one can answer.
_cudaops_ask() {
  _cudaops_said=$(CCACHE_DIR=$PWD/$1 CCACHE_STATSLOG=$PWD/stats$1 CCACHE_LOGFILE=$PWD/log$1 \
    "$_cudaops_cache" "$_cudaops_compiler" -MD -MF try.d -c try.cpp -o try.o 2>&1) || {
    printf '%s\n' "${_cudaops_said:-ccache fails}"
    exit 1
  }
  _cudaops_counters=" $(tr '\n' ' ' <"stats$1") "
  case $_cudaops_counters in
    *' remote_storage_error '* | *' remote_storage_timeout '*)
      # What it says of the server, without the address it may hold.
      _cudaops_said=$(sed -nE '
        /Failed to construct backend for|Redis command failed|Redis .*error|Failed to (get|put|head|delete) /{
          s/^.*(Failed to construct backend for|Redis command failed|Redis [a-z ]*error|Failed to [a-z]+) ?//
          s/^.*: //
          p
          q
        }' "log$1")
      case $_cudaops_said in
        *'Resource temporarily unavailable'*) _cudaops_said='no answer in half a second' ;;
        *'//'* | '') _cudaops_said='an error or no answer' ;;
      esac
      printf '%s\n' "$_cudaops_said"
      exit 1
      ;;
  esac
}

_cudaops_ask 1
case $_cudaops_counters in
  *' remote_storage_hit '*)
    echo known
    exit
    ;;
  *' remote_storage_read_hit '*)
    # Some entry that is none; what is written in its place may be better.
    if [ "$_cudaops_readonly" = ON ]; then
      echo 'what it answers was never stored'
      exit 1
    fi
    ;;
  *' remote_storage_read_miss '*) ;;
  *)
    echo "ccache doesn't ask it"
    exit 1
    ;;
esac
if [ "$_cudaops_readonly" = ON ]; then
  echo new
  exit
fi
_cudaops_ask 2
case $_cudaops_counters in
  *' remote_storage_hit '*) echo new ;;
  *)
    echo 'what is stored there is not found again'
    exit 1
    ;;
esac
