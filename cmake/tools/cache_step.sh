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
  # No dependency file names what the assembler reads by itself, nor a file that was asked for in vain. The headers of
  # the standard library, torch, the toolkit and the system don't get new ones by themselves. Any other mention of
  # __has_include counts, however the question is put: a macro's name, a comment or a line's end may stand in it.
  _cudaops_std='algorithm|any|array|atomic|barrier|bit|bitset|charconv|chrono|codecvt|compare|complex|concepts|'
  _cudaops_std="${_cudaops_std}condition_variable|contracts|coroutine|debugging|deque|exception|execution|expected|"
  _cudaops_std="${_cudaops_std}filesystem|flat_map|flat_set|format|forward_list|fstream|functional|future|generator|"
  _cudaops_std="${_cudaops_std}hazard_pointer|hive|initializer_list|inplace_vector|iomanip|ios|iosfwd|iostream|istream|"
  _cudaops_std="${_cudaops_std}iterator|latch|limits|linalg|list|locale|map|mdspan|memory|memory_resource|mutex|new|"
  _cudaops_std="${_cudaops_std}numbers|numeric|optional|ostream|print|queue|random|ranges|ratio|rcu|regex|"
  _cudaops_std="${_cudaops_std}scoped_allocator|semaphore|set|shared_mutex|simd|source_location|span|spanstream|sstream|"
  _cudaops_std="${_cudaops_std}stack|stacktrace|stdexcept|stdfloat|stop_token|streambuf|string|string_view|strstream|"
  _cudaops_std="${_cudaops_std}syncstream|system_error|text_encoding|thread|tuple|type_traits|typeindex|typeinfo|"
  _cudaops_std="${_cudaops_std}unordered_map|unordered_set|utility|valarray|variant|vector|version|cassert|ccomplex|"
  _cudaops_std="${_cudaops_std}cctype|cerrno|cfenv|cfloat|cinttypes|ciso646|climits|clocale|cmath|csetjmp|csignal|"
  _cudaops_std="${_cudaops_std}cstdalign|cstdarg|cstdbool|cstddef|cstdint|cstdio|cstdlib|cstring|ctgmath|ctime|cuchar|"
  _cudaops_std="${_cudaops_std}cwchar|cwctype|cxxabi\\.h|unistd\\.h|experimental/[a-z_]+|cuda/[a-z_/]+|nv/target"
  _cudaops_found=$(
    # What awk complains of is no file, so that grep complains too.
    CUDAOPS_CACHE_WANTED=all awk -f "$CUDAOPS_CACHE_HEADERS" "$CUDAOPS_CACHE_DEPFILE" 2>&1 |
      xargs -d '\n' grep -laE -e '\.incbin' -e '\.include[[:space:]]+\\?"' -- 2>&1
    CUDAOPS_CACHE_WANTED=own awk -f "$CUDAOPS_CACHE_HEADERS" "$CUDAOPS_CACHE_DEPFILE" |
      xargs -r -d '\n' grep -haE '__has_(include|embed)' -- 2>&1 |
      sed -E -e '/\/\*/!s,//.*,,' -e "s;__has_include[[:space:]]*\([[:space:]]*<($_cudaops_std)>[[:space:]]*\);;g" \
        -e 's/defined[[:space:]]*\(?[[:space:]]*__has_(include|embed)([^_a-zA-Z0-9]|$)/\2/g' \
        -e 's/^([[:space:]]*#[[:space:]]*ifn?def[[:space:]]+)__has_(include|embed)([^_a-zA-Z0-9]|$)/\1\3/' |
      grep -aE '__has_(include|embed)'
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
