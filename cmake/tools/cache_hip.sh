#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A compile of HIP whose dependency file names the headers of all passes.
#
#   sh cache_hip.sh <compiler> <argument>...
#
# Each of clang's passes writes the dependency file anew, the host's last: a header that only device code includes isn't
# in it, and an edit there would build nothing. Clang's list of headers, which every pass adds to, has them all. Where
# there is no such list <dependency file>.passes stays behind, so that a compiler cache knows.

_cudaops_dep=
_cudaops_previous=
for _cudaops_a; do
  case $_cudaops_previous in
    -MF) _cudaops_dep=$_cudaops_a ;;
  esac
  _cudaops_previous=$_cudaops_a
done
[ -n "$_cudaops_dep" ] || exec "$@"
case $_cudaops_dep in
  /*) _cudaops_list=$_cudaops_dep.passes ;;
  *) _cudaops_list=$PWD/$_cudaops_dep.passes ;;
esac
# A list that can't be written would stop clang.
true >"$_cudaops_list" || exec "$@"
unset CC_PRINT_HEADERS_FORMAT CC_PRINT_HEADERS_FILTERING
CC_PRINT_HEADERS=1 CC_PRINT_HEADERS_FILE=$_cudaops_list "$@"
_cudaops_status=$?
if [ $_cudaops_status -ne 0 ]; then
  rm -f "$_cudaops_list"
  exit $_cudaops_status
fi
# The new names go to the end of the first rule; -MP's empty rules stand behind it.
if CUDAOPS_LIST=$_cudaops_list awk '
  function word(path) {
    gsub(/\$/, "$$", path)
    gsub(/#/, "\\#", path)
    gsub(/ /, "\\ ", path)
    return path
  }
  {
    line = $0
    rule = rule (NR > 1 ? "\n" : "") line
    name = line
    sub(/ \\$/, "", name)
    names = names " " name
    if (line !~ /\\$/ && !ended) { ended = 1; first = rule; rule = "" }
  }
  END {
    if (!ended) exit 1
    rest = rule
    sub(/\n/, "", rest)
    names = names " "
    while ((getline path < ENVIRON["CUDAOPS_LIST"]) > 0) {
      listed = 1
      while (sub(/^\.\//, "", path)) {}
      if (path == "" || path ~ /^</ || path in seen) continue
      seen[path] = 1
      name = word(path)
      if (index(names, " " name " ")) continue
      first = first " \\\n  " name
      if (rest != "") rest = rest "\n" name ":"
    }
    # Nothing is listed where there is no header at all.
    gsub(/\\ /, "", names)
    if (!listed && split(names, words, " ") > 2) exit 1
    print first
    if (rest != "") print rest
  }' "$_cudaops_dep" >"$_cudaops_list.new" && mv -f "$_cudaops_list.new" "$_cudaops_dep"; then
  rm -f "$_cudaops_list"
fi
exit 0
