#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The compiler as ccache sees it: runs where the cache has no entry, and leaves word of how it ended, so that
# cache_launcher.sh can tell a failed compile from a failed cache.
#
#   cache_step.sh <argument>...     (CUDAOPS_CACHE_COMPILER, _DEPFILE, _MARK, _HIP and those of cache_headers.awk in the
#                                   environment)

# Who watches over the cache's time knows that it is the compiler's now.
echo begun >>"$CUDAOPS_CACHE_MARK"
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
  # What is not text in the user's language is text all the same.
  export LC_ALL=C
  # No dependency file names what the assembler reads by itself, nor a file that was asked for in vain. A header that the
  # compiler has itself is found in any case; of one that it lacks the launcher sees where a file of that name has come,
  # and the toolkit's is found where it was read. Any other mention of __has_include counts, however the question is put:
  # a macro's name, a comment or a line's end may stand in it.
  _cudaops_std=$(printf '%s' "$CUDAOPS_CACHE_ABSENT" | sed 's/\./\\./g' | tr '\n' '|')
  case " $* ${NVCC_PREPEND_FLAGS-} ${NVCC_APPEND_FLAGS-} " in
    # The compiler's own are others then, or none.
    *-nostd* | *-stdlib* | *sysroot*) ;;
    *) _cudaops_std="$_cudaops_std|$CUDAOPS_CACHE_PRESENT" ;;
  esac
  _cudaops_found=$(
    # What awk complains of is no file, so that grep complains too.
    CUDAOPS_CACHE_WANTED=all awk -f "$CUDAOPS_CACHE_HEADERS" "$CUDAOPS_CACHE_DEPFILE" 2>&1 |
      xargs -d '\n' grep -laiE -e '(^|[^[:alnum:]_])incbin' -e '\.include[[:space:]]+\\?"' -- 2>&1
    _cudaops_asked=$(
      CUDAOPS_CACHE_WANTED=own awk -f "$CUDAOPS_CACHE_HEADERS" "$CUDAOPS_CACHE_DEPFILE" |
        xargs -r -d '\n' grep -haE '__has_(include|embed)' -- 2>&1
    )
    case $_cudaops_asked in
      *'<cuda/'* | *'<nv/'*)
        _cudaops_std=$_cudaops_std$(
          CUDAOPS_CACHE_WANTED=foreign awk -f "$CUDAOPS_CACHE_HEADERS" "$CUDAOPS_CACHE_DEPFILE" |
            sed -nE 's;^.*/include/(cccl/)?((cuda|nv)/[a-z_/]+)$;|\2;p' | tr -d '\n'
        )
        ;;
    esac
    printf '%s\n' "$_cudaops_asked" |
      sed -E -e '/\/\*/!s,//.*,,' -e "s;__has_include[[:space:]]*\([[:space:]]*<($_cudaops_std)>[[:space:]]*\);;g" \
        -e 's/defined[[:space:]]*\(?[[:space:]]*__has_(include|embed)([^_a-zA-Z0-9]|$)/\2/g' \
        -e 's/^([[:space:]]*#[[:space:]]*ifn?def[[:space:]]+)__has_(include|embed)([^_a-zA-Z0-9]|$)/\1\3/' |
      grep -aE '__has_(include|embed)'
    # The compiler's, torch's and the toolkit's headers ask as well.
    CUDAOPS_CACHE_WANTED=absent awk -f "$CUDAOPS_CACHE_HEADERS" "$CUDAOPS_CACHE_DEPFILE" |
      while IFS= read -r _cudaops_file; do
        if [ -e "${_cudaops_file#*:}" ]; then
          _cudaops_name=$(printf '%s' "${_cudaops_file%%:*}" | sed 's/\./\\./g')
          CUDAOPS_CACHE_WANTED=all awk -f "$CUDAOPS_CACHE_HEADERS" "$CUDAOPS_CACHE_DEPFILE" |
            xargs -d '\n' grep -haiE -e "has_include.*[<\"]${_cudaops_name}[[:space:]]*[>\"]" -- |
            sed 's/^/__has_include: /'
        fi
      done
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
