#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The compiler as ccache sees it: runs where the cache has no entry, and leaves word of how it ended, so that
# cache_launcher.sh can tell a failed compile from a failed cache.
#
#   cache_step.sh <argument>...     (CUDAOPS_CACHE_COMPILER, _DEPFILE, _MARK in the environment)

"$CUDAOPS_CACHE_COMPILER" "$@"
_cudaops_status=$?
_cudaops_mark=done
if [ $_cudaops_status -ne 0 ]; then
  _cudaops_mark=failed
else
  # No dependency file names what the assembler reads by itself.
  _cudaops_found=$(sed -e 's/^[^:]*: *//' -e 's/ *\\$//' "$CUDAOPS_CACHE_DEPFILE" 2>/dev/null |
    xargs grep -lF -e .incbin -- 2>&1)
  if [ -n "$_cudaops_found" ]; then
    _cudaops_mark=unfit
    _cudaops_status=1
  fi
fi
echo $_cudaops_mark >"$CUDAOPS_CACHE_MARK"
exit $_cudaops_status
