#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Sums up what the compiler cache did since the last time, in one line where something was compiled anew or a cache is
# shared, and keeps the last word on each object in <directory>/compiles. Never fails a build.
#
#   cache_summary.sh <build>/CudaOps/cache <engine> <stamp> <program>
#
# sccache counts in its server, for all who use it, and the steps of nvcc one by one: what came since the last time.

cd "$1" 2>/dev/null || exit 0
_cudaops_engine=$2
_cudaops_remote=
_cudaops_remote_readonly=
_cudaops_remote_answer=
_cudaops_remote_file=
while IFS='	' read -r _cudaops_a _cudaops_b; do
  case $_cudaops_a in
    remote) _cudaops_remote=$_cudaops_b ;;
    readonly) _cudaops_remote_readonly=$_cudaops_b ;;
    answer) _cudaops_remote_answer=$_cudaops_b ;;
    file) _cudaops_remote_file=$_cudaops_b ;;
  esac
done 2>/dev/null <remote
if [ -s log ]; then
  # Compiles that still run write to a new one.
  mv -f log "log.$$" && [ -e compiles ] || true >compiles
  _cudaops_failed=
  [ ! -r remote-failed ] || read -r _cudaops_a _cudaops_b _cudaops_failed <remote-failed
  _cudaops_steps=
  if [ "$_cudaops_engine" = sccache ]; then
    _cudaops_a=$(
      [ -z "$_cudaops_remote" ] || [ -n "$_cudaops_failed" ] || . "$_cudaops_remote_file"
      "$4" --show-stats 2>/dev/null | sed -n 's/^Cache \(hits\|misses\) *\([0-9]*\)$/\2/p' | tr '\n' ' '
    )
    _cudaops_b=
    [ ! -r steps ] || read -r _cudaops_b <steps
    echo "$_cudaops_a" >steps
    _cudaops_steps="$_cudaops_a${_cudaops_b:-0 0}"
  fi
  # ccache says nothing where nothing fits into its directory.
  _cudaops_full=
  if [ "$_cudaops_engine" = ccache ] && grep -q '^miss' "log.$$"; then
    _cudaops_a=$("$4" -k cache_dir 2>/dev/null) &&
      df -Pk "$_cudaops_a" 2>/dev/null | awk 'NR == 2 { exit !($4 < 1024) } END { if (NR < 2) exit 1 }' &&
      _cudaops_full=$_cudaops_a
  fi
  export _cudaops_steps _cudaops_full
  export _cudaops_engine _cudaops_remote _cudaops_remote_readonly _cudaops_remote_answer _cudaops_failed
  # The object comes first in what is kept, so that it is the key.
  awk -F '\t' '
    function plural(count, what) { return count " " what (count == 1 ? "" : what ~ /s$/ ? "es" : "s") }
    FILENAME == "compiles" { last[$5] = $0; known[$5] = 1; next }
    NF != 5 { next }
    {
      last[$5] = $0
      ++count[$1]
      ++remote[$2]
      if ($1 == "miss" || $1 == "hit" || $1 == "asked") ++asked
      if ($1 == "not cached") ++because[$4]
      if ($1 == "miss" && !($5 in known)) { ++first; if ($4 != "") { ++bound; binding = $4 } }
    }
    END {
      for (object in last) print last[object] >"compiles.new"
      shared = ENVIRON["_cudaops_remote"]
      if (ENVIRON["_cudaops_engine"] == "sccache") {
        if (split(ENVIRON["_cudaops_steps"], step, " ") == 4) {
          # A server that was started since counts from nothing.
          if (step[1] < step[3] || step[2] < step[4]) step[3] = step[4] = 0
          count["hit"] = step[1] - step[3]
          count["miss"] = step[2] - step[4]
        }
        first = asked
      }
      if (!asked && !count["not cached"]) exit
      if (!count["miss"] && shared == "") exit
      text = plural(asked + count["not cached"], "compile") (count["asked"] ? ", in steps: " : ": ") plural(count["hit"] + 0, "hit")
      if (shared != "" && remote["hit"]) text = text " (" remote["hit"] " from the shared cache)"
      text = text ", " plural(count["miss"] + 0, "miss")
      if (count["not cached"]) {
        most = 0
        kinds = 0
        for (why in because) { ++kinds; if (because[why] > most) { most = because[why]; reason = why } }
        text = text ", " count["not cached"] " not cached (" reason (kinds > 1 ? ", ..." : "") ")"
      }
      if (bound) text = text "; " bound " found again in this directory only (" binding ")"
      if (ENVIRON["_cudaops_full"] != "") text = text "; nothing is kept, the disk of " ENVIRON["_cudaops_full"] " is full"
      if (shared != "") {
        if (remote["failed"]) text = text "; the shared cache failed " plural(remote["failed"], "time")
        if (remote["left out"]) text = text "; it was left out " plural(remote["left out"], "time")
      }
      print "CudaOps: " ENVIRON["_cudaops_engine"] ": " text
      # Of what was compiled here before an edit is the likely reason, and no word is lost about it.
      if (shared == "" || count["hit"] || !first) exit
      readonly = ENVIRON["_cudaops_remote_readonly"] == "ON"
      if (remote["failed"] || remote["left out"]) {
        why = "it failed" (ENVIRON["_cudaops_failed"] == "" ? "" : " (" ENVIRON["_cudaops_failed"] ")")
      } else if (bound * 2 > first) {
        why = binding
      } else if (ENVIRON["_cudaops_remote_answer"] == "new") {
        why = "no machine with these compilers has filled it yet" \
          (readonly ? ", and CUDAOPS_CACHE_READONLY keeps this one from it" : "; now they are there")
      } else {
        why = "it holds other sources, flags, another torch, or a build tree that lies elsewhere beside its sources" \
          (readonly ? "; CUDAOPS_CACHE_READONLY keeps what was compiled here out of it" : "; now they are there")
      }
      print "CudaOps: WARNING: none of " plural(asked, "compile") " was found in " shared ": " why
    }' compiles "log.$$" && [ -e compiles.new ] && mv -f compiles.new compiles
  rm -f "log.$$"
fi
{ true >"$3"; } 2>/dev/null
exit 0
