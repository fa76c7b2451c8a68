#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The compiler as ccache sees it: runs where the cache has no entry, and leaves word of how it ended, so that
# cache_launcher.sh can tell a failed compile from a failed cache.
#
#   cache_step.sh <argument>...     (CUDAOPS_CACHE_COMPILER, _DEPFILE, _MARK, _HIP, _SYSTEM in the environment)

if [ -n "$CUDAOPS_CACHE_HIP" ]; then
  "$CUDAOPS_CACHE_HIP" "$CUDAOPS_CACHE_COMPILER" "$@"
else
  "$CUDAOPS_CACHE_COMPILER" "$@"
fi
_cudaops_status=$?
_cudaops_mark=done
if [ $_cudaops_status -ne 0 ]; then
  _cudaops_mark=failed
elif [ -n "$CUDAOPS_CACHE_HIP" ] && [ -e "$CUDAOPS_CACHE_DEPFILE.passes" ]; then
  _cudaops_mark='unfit no list of the headers of device passes'
  _cudaops_status=1
else
  # No dependency file names what the assembler reads by itself, nor a file that was asked for in vain. The standard
  # library's headers have no ending; torch, the toolkit and the system don't get new ones by themselves.
  _cudaops_files=$(
    sed -e '1s/^[^:]*: *//' -e 's/ *\\$//' -e 's/\\ /\x01/g' -e 's/\\#/#/g' -e 's/\$\$/$/g' \
      "$CUDAOPS_CACHE_DEPFILE" 2>/dev/null | tr ' \001' '\n ' | grep .
  )
  _cudaops_found=$(
    printf '%s\n' "$_cudaops_files" | xargs -d '\n' grep -lE -e '\.incbin' -e '\.include[[:space:]]+\\?"' -- 2>&1
    printf '%s\n' "$_cudaops_files" |
      grep -vE '^/usr/|(^|/)CudaOps/links/(torch|torch_include|python|package|toolkit|nvcc|nvidia[0-9]*)/' |
      awk 'ENVIRON["CUDAOPS_CACHE_SYSTEM"] == "" || index($0, ENVIRON["CUDAOPS_CACHE_SYSTEM"]) != 1' |
      xargs -r -d '\n' grep -hE '__has_(include|embed)' -- 2>&1 |
      sed -E 's/__has_include(_next)? *\( *<[a-z_\/0-9]+> *\)//g' | grep -E '__has_(include|embed)[a-z_]* *\('
  )
  if [ -n "$_cudaops_found" ]; then
    case $_cudaops_found in
      *__has_*) _cudaops_mark='unfit __has_include of a file of the project' ;;
      *) _cudaops_mark='unfit .incbin or .include of the assembler' ;;
    esac
    _cudaops_status=1
  fi
fi
echo "$_cudaops_mark" >>"$CUDAOPS_CACHE_MARK"
exit $_cudaops_status
