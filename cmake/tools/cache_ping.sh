#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whether a server answers, in half a second. sccache waits a minute for one that doesn't; ccache needs no such help.
#
#   cache_ping.sh redis|http|connect <host> <port>
#
# (SCCACHE_REDIS_USERNAME and _PASSWORD in the environment.) Prints what is wrong. bash connects without starting
# something large.

if ! { command -v bash && command -v timeout; } >/dev/null; then
  echo 'there is no bash, or no timeout, to ask it in time'
  exit 1
fi
# shellcheck disable=SC2016
timeout 1 bash -c '
  exec 2>/dev/null
  if ! exec 3<>"/dev/tcp/$1/$2"; then
    echo "no connection"
    exit 1
  fi
  case $0 in
    redis)
      user=${SCCACHE_REDIS_USERNAME-}
      password=${SCCACHE_REDIS_PASSWORD-}
      LC_ALL=C
      if [ -n "$user" ]; then
        printf "*3\r\n\$4\r\nAUTH\r\n\$%d\r\n%s\r\n\$%d\r\n%s\r\n" "${#user}" "$user" "${#password}" "$password" >&3
      elif [ -n "$password" ]; then
        printf "*2\r\n\$4\r\nAUTH\r\n\$%d\r\n%s\r\n" "${#password}" "$password" >&3
      else
        printf "PING\r\n" >&3
      fi
      ;;
    http) printf "HEAD / HTTP/1.0\r\n\r\n" >&3 ;;
    *) exit 0 ;;
  esac
  if ! IFS= read -r -t 0.5 line <&3; then
    echo "no answer in half a second"
    exit 1
  fi
  case $0:$line in
    redis:+* | http:HTTP/*) exit 0 ;;
    redis:-*) line=${line#-} ;;
    *) line="an answer of something else" ;;
  esac
  printf "%s\n" "${line%?}"
  exit 1' "$@"
_cudaops_exit=$?
[ $_cudaops_exit != 124 ] || echo 'no connection in a second'
exit $_cudaops_exit
