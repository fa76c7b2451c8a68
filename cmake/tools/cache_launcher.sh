#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One compile through a compiler cache, so that the object is always the one that the compiler would make.
#
#   sh cache_launcher.sh <settings> <compiler> <argument>...
#
# <settings> is written by accelerate/cache.cmake: which cache, which compiler, and what that compiler consists of. Plain
# `ccache nvcc` preprocesses one of nvcc's passes and looks at no environment variable; here the cache goes by the
# dependency file, which names the headers of all passes, and its key holds everything else that decides what is in the
# object. What can't be described so is compiled without the cache, and so is everything when the cache fails.
#
# A shared cache (<build>/CudaOps/cache/remote.sh) is asked through the cache's own means, with time-outs; one that fails
# is left out for a while, and the local cache goes on.
#
# Each compile leaves a line in <build>/CudaOps/cache/log, fields parted by tabs:
#
#   hit | miss | failed | not cached   hit, miss, failed, left out or - (of the shared cache)   milliseconds   reason   object
#
# Builtins only on the way to a hit, but for one stat: a process costs a millisecond, the hit itself five.

# _cudaops_cached <argument>...: returns where the compile must do without the cache, exits where it is done.
_cudaops_cached() {
  # A cache that failed a moment ago is left alone.
  if [ -e "$_cudaops_dir/failed" ]; then
    _cudaops_why="$_cudaops_engine failed"
    ! _cudaops_left_out "$_cudaops_dir/failed" || return
    _cudaops_times=$_cudaops_n
  fi

  # What makes the compiler write more than its object, or takes its parts from elsewhere.
  if [ -n "${GCC_EXEC_PREFIX+x}${COMPILER_PATH+x}${GCC_ROOT+x}${BINUTILS_ROOT+x}${GCC_COMPARE_DEBUG+x}\
${DEPENDENCIES_OUTPUT+x}${SUNPRO_DEPENDENCIES+x}${AS_SECURE_LOG_FILE+x}${DUMP_KNOBS_TO_FILE+x}\
${CCC_OVERRIDE_OPTIONS+x}${LD_PRELOAD+x}" ]; then
    _cudaops_why='a variable of the environment that moves the compiler'
    return
  fi
  # sccache's server makes other dates than the compiler here.
  _cudaops_why=SOURCE_DATE_EPOCH
  [ "$_cudaops_engine" = ccache ] || [ -z "${SOURCE_DATE_EPOCH+x}" ] || return

  # The variables that nvcc, cicc, cudafe++, ptxas and the host compiler read and that can reach the object.
  _cudaops_key=
  for _cudaops_a in NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS NVCC_CCBIN INCLUDES SYSTEM_INCLUDES CUDAFE_FLAGS \
    PTXAS_FLAGS OCG_FLAGS NVVM_FLAGS LLVMC_FLAGS LLVMDIS_FLAGS NVASM_FLAGS CICC_PATH NVVMIR_LIBRARY_DIR TOP _HERE_ \
    _TARGET_DIR_ _TARGET_SIZE_ _SPACE_ EDG_BASE EDG_MODULES_PATH USR_INCLUDE LLVM_OVERRIDE_PRODUCER NVVM_IR_VER_CHK \
    NV_NVVM_VERSION NVVMCCWIZ LIBNVVM_DISABLE_CONCURRENT_API CAN_FINALIZE_DEBUG CPATH C_INCLUDE_PATH \
    CPLUS_INCLUDE_PATH SOURCE_DATE_EPOCH; do
    eval "[ -z \"\${$_cudaops_a+x}\" ] || _cudaops_key=\"\$_cudaops_key|$_cudaops_a=\$$_cudaops_a\""
  done
  # Flags from the environment can name files, compilers and places like those on the command line. In quotes they are
  # no words of a shell's.
  case ${NVCC_PREPEND_FLAGS-}${NVCC_APPEND_FLAGS-} in
    *[\"\'\\]*)
      case ${NVCC_PREPEND_FLAGS-}${NVCC_APPEND_FLAGS-} in
        *-I* | *include* | *isystem* | *-iquote* | *@*)
          _cudaops_why='quoted places in NVCC_PREPEND_FLAGS or NVCC_APPEND_FLAGS'
          return
          ;;
      esac
      ;;
  esac
  for _cudaops_a in ${NVCC_PREPEND_FLAGS-} ${NVCC_APPEND_FLAGS-}; do
    case $_cudaops_a in
      -optf* | --options-file* | -ccbin* | --compiler-bindir* | *native* | -M* | --generate-*dep* | -o | --output-* | \
        -keep* | --keep* | *-save-temps* | *time* | -dc | --device-c | -ldir* | --libdevice-directory* | *plugin* | \
        *specs* | *profile* | *coverage* | @* | *[=,]@* | -B* | *[=,]-B* | *-Wp,* | *-idirafter* | *-iprefix* | \
        *-iwithprefix* | *[iI][nN][cC][bB][iI][nN]*)
        _cudaops_why="$_cudaops_a in the environment"
        return
        ;;
      -g | -G | --debug | --device-debug | -lineinfo | --generate-line-info | *,-g* | *=-g*)
        _cudaops_debug=1
        ;;
    esac
  done
  if [ "$_cudaops_kind" = cuda ] && [ -n "${NVCC_CCBIN+x}" ]; then
    _cudaops_other "$NVCC_CCBIN"
    _cudaops_present=
  fi
  # What clang takes from ROCm, and from where.
  if [ "$_cudaops_kind" = hip ] && [ -n "${ROCM_PATH-}${HIP_PATH-}${HIP_DEVICE_LIB_PATH-}" ]; then
    _cudaops_why='ROCM_PATH, HIP_PATH or HIP_DEVICE_LIB_PATH decides on the device libraries'
    case $_cudaops_rocm in
      *device-lib-path=*) _cudaops_key="$_cudaops_key|${ROCM_PATH-}|${HIP_PATH-}|${HIP_DEVICE_LIB_PATH-}" ;;
      *) return ;;
    esac
  fi
  # The host compiler takes its assembler from the PATH.
  _cudaops_ifs=$IFS
  IFS=:
  for _cudaops_a in $PATH; do
    [ ! -x "$_cudaops_a/as" ] || break
  done
  IFS=$_cudaops_ifs
  [ "$_cudaops_a/as" = "$_cudaops_assembler" ] || _cudaops_other "$_cudaops_a/as"

  # Option files, as CMake's Makefiles use for include directories: plain words and words in double quotes.
  case " $* " in
    *-optf* | *--options-file*) _cudaops_expand "$@" ;;
    *) _cudaops_look "$@" ;;
  esac
}

# _cudaops_other <program>: a program that isn't among the compiler's known parts, by what it is now.
_cudaops_other() {
  _cudaops_a=$(stat -L -c '%n %s %Y %Z %i' "$(command -v "$1")" 2>&1)
  _cudaops_key="$_cudaops_key|$1:$_cudaops_a"
}

_cudaops_expand() {
  _cudaops_why='an option file'
  _cudaops_n=$#
  _cudaops_wait=
  while [ $_cudaops_n -gt 0 ]; do
    _cudaops_n=$((_cudaops_n - 1))
    _cudaops_a=$1
    shift
    case $_cudaops_wait$_cudaops_a in
      -optf | --options-file) _cudaops_wait=$_cudaops_a= ;;
      -optf=* | --options-file=*)
        _cudaops_words=
        while IFS= read -r _cudaops_line || [ -n "$_cudaops_line" ]; do
          _cudaops_words="$_cudaops_words $_cudaops_line"
        done <"${_cudaops_a#*=}" || return
        case $_cudaops_words in
          # All that a shell would see more in than a letter; letters outside ASCII are none of it.
          *[[:cntrl:]#\$\&\'\(\)\*\;\<\>\?\\^\`{\|}~!]* | *-optf* | *-options-file*) return ;;
        esac
        eval "set -- \"\$@\" $_cudaops_words"
        _cudaops_wait=
        ;;
      *) set -- "$@" "$_cudaops_a" ;;
    esac
  done
  _cudaops_look "$@"
}

# _cudaops_look <argument>...: what kind of compile is this?
_cudaops_look() {
  _cudaops_object=
  _cudaops_dep=
  _cudaops_compile=
  _cudaops_host=
  _cudaops_native=
  _cudaops_md=
  _cudaops_rocm_said=
  _cudaops_previous=
  for _cudaops_a; do
    case $_cudaops_previous in
      -D | --define-macro | -U | --undefine-macro | -MT | -MQ | --dependency-target-name)
        case $_cudaops_previous:$_cudaops_a in
          -[D-]*:*[iI][nN][cC][bB][iI][nN]*)
            _cudaops_why="$_cudaops_previous $_cudaops_a"
            return
            ;;
        esac
        _cudaops_previous=
        continue
        ;;
      -o | --output-file) _cudaops_object=$_cudaops_a ;;
      -MF | --dependency-output) _cudaops_dep=$_cudaops_a ;;
      -ccbin | --compiler-bindir) _cudaops_host=$_cudaops_a ;;
    esac
    _cudaops_previous=$_cudaops_a
    case $_cudaops_a in
      -c | --compile) _cudaops_compile=1 ;;
      # A source can have it from there.
      -D*[iI][nN][cC][bB][iI][nN]* | --define-macro*[iI][nN][cC][bB][iI][nN]* | -Xcompiler*[iI][nN][cC][bB][iI][nN]* | \
        --compiler-options*[iI][nN][cC][bB][iI][nN]*)
        _cudaops_why=$_cudaops_a
        return
        ;;
      -D* | --define-macro* | -I* | --include-path*) ;;
      --rocm-path=* | --rocm-device-lib-path=* | --hip-device-lib-path=* | --hip-path=*)
        _cudaops_rocm_said="$_cudaops_rocm_said|$_cudaops_a"
        ;;
      -MD | --generate-dependencies-with-compile) _cudaops_md=1 ;;
      -MP | -MT | -MQ | -MF | --dependency-output | --dependency-target-name | --generate-dependency-targets) ;;
      --output-file=*) _cudaops_object=${_cudaops_a#*=} ;;
      --dependency-output=*) _cudaops_dep=${_cudaops_a#*=} ;;
      -ccbin=* | --compiler-bindir=*) _cudaops_host=${_cudaops_a#*=} ;;
      # Another output than one object, or more than one, or input that no dependency file names.
      - | @* | -M* | -E | -S | -dc | -dw | -dlink | -lto* | -cubin | -ptx | -fatbin | -optix-ir | -ltoir | -lib | -link | -run | \
        --generate-*dependencies* | --device-[cw] | --device-link | --cubin | --ptx | --fatbin | --optix-ir | --ltoir | \
        --lib | --link | --run | --preprocess | -dryrun | --dryrun | -clean | --clean-targets | -n | -### | \
        -keep* | --keep* | -time | --time | -time=* | --time=* | *save-temps* | *time-trace* | -odir* | --output-directory* | \
        -ldir* | --libdevice-directory* | -target-dir* | --target-directory* | -use-local-env | --use-local-env | \
        -noprof | --dont-use-profile | *-optf* | *-options-file* | *fprofile* | *auto-profile* | *-coverage* | \
        *ftest-coverage* | *-fplugin* | *-specs* | *-wrapper* | *-fdump-* | *-fstack-usage* | *-fcallgraph* | \
        *-gsplit-dwarf* | *-fmodule* | *-fopt-info* | *-fsave-optimization* | *-fsanitize-*list* | -B* | *[=,]-B* | \
        *[=,]@* | *[=,]-M* | *[=,]-o* | *-aux-info* | *-fcompare-debug* | *-Wa,-a* | *-Wp,* | *-fembed-bitcode* | \
        *-idirafter* | *-iprefix* | *-iwithprefix* | *link-builtin-bitcode* | *vfsoverlay* | --config* | \
        --ptxas-options*dump* | -Xptxas*dump*)
        _cudaops_why=$_cudaops_a
        return
        ;;
      -g0) ;;
      -g | -g[0-9]* | -gdb* | -ggdb* | -gdwarf* | -gline* | -gcolumn* | -gstrict* | -G | --debug | --device-debug | \
        -lineinfo | --generate-line-info | -src-in-ptx | --source-in-ptx | *[=,]-g | *[=,]-g[0-9d]*)
        _cudaops_debug=1
        ;;
      *[=,]native*)
        case $_cudaops_a in
          -march=* | -mtune=* | -mcpu=* | -Xcompiler* | --compiler-options*) _cudaops_native=1 ;;
          *)
            _cudaops_why=$_cudaops_a
            return
            ;;
        esac
        ;;
      native)
        _cudaops_why="$_cudaops_previous $_cudaops_a"
        return
        ;;
    esac
  done
  _cudaops_why='not a compile of one object with its dependency file'
  [ "$_cudaops_compile$_cudaops_md" = 11 ] && [ -n "$_cudaops_object" ] && [ -n "$_cudaops_dep" ] || return
  if [ "$_cudaops_kind" = cuda ] && [ "$_cudaops_host" != "$_cudaops_host_compiler" ]; then
    _cudaops_why='no host compiler is named'
    [ -n "$_cudaops_host" ] || return
    _cudaops_present=
    _cudaops_other "$_cudaops_host"
  fi
  if [ "$_cudaops_kind" = hip ] && [ "$_cudaops_rocm_said" != "$_cudaops_rocm" ]; then
    _cudaops_why='another ROCm than the one that was configured'
    return
  fi
  if [ -n "$_cudaops_native" ]; then
    # The same words mean another processor on another machine.
    _cudaops_why='no /proc/cpuinfo'
    while IFS= read -r _cudaops_a; do
      case $_cudaops_a in
        model\ name* | flags* | Features* | CPU\ part*) _cudaops_key="$_cudaops_key|$_cudaops_a" ;;
        "") break ;;
      esac
    done </proc/cpuinfo || return
  fi
  _cudaops_place "$@"
}

# _cudaops_place <argument>...: the same command wherever checkout, venv, toolkit and home lie. _cudaops_up leads from
# here to the top of the build tree. Debug information holds the paths that were compiled: it belongs to this place.
_cudaops_place() {
  _cudaops_up=-
  if [ . -ef "$_cudaops_build" ]; then
    _cudaops_up=
  else
    case $PWD in
      "$_cudaops_build"/*)
        _cudaops_up=
        _cudaops_a=${PWD#"$_cudaops_build"}
        while [ -n "$_cudaops_a" ]; do
          _cudaops_a=${_cudaops_a%/*}
          _cudaops_up=../$_cudaops_up
        done
        ;;
    esac
  fi
  if [ -n "$_cudaops_debug" ]; then
    _cudaops_bound='debug information belongs to this place'
  elif [ "$_cudaops_up" = - ]; then
    _cudaops_bound='run outside of the build tree'
  elif ! _cudaops_links; then
    _cudaops_bound='a link of the build tree leads nowhere'
  fi
  if [ -n "$_cudaops_bound" ]; then
    _cudaops_key="$_cudaops_key|$PWD|$_cudaops_root"
    _cudaops_run "$_cudaops_compiler" "$@"
    return
  fi
  _cudaops_n=$#
  _cudaops_previous=
  while [ $_cudaops_n -gt 0 ]; do
    _cudaops_n=$((_cudaops_n - 1))
    _cudaops_a=$1
    shift
    case $_cudaops_a in
      /*)
        case $_cudaops_previous in
          -D | --define-macro | -MT | -MQ | --dependency-target-name | -ccbin | --compiler-bindir) ;;
          *) _cudaops_relative "$_cudaops_a" && _cudaops_a=$_cudaops_r ;;
        esac
        ;;
      -I/*) _cudaops_relative "${_cudaops_a#-I}" && _cudaops_a=-I$_cudaops_r ;;
      -isystem=/* | --include-path=/* | --system-include=/* | -include=/* | --pre-include=/* | --output-file=/* | \
        --dependency-output=/*)
        _cudaops_relative "${_cudaops_a#*=}" && _cudaops_a=${_cudaops_a%%=*}=$_cudaops_r
        ;;
      -isystem/*) _cudaops_relative "${_cudaops_a#-isystem}" && _cudaops_a=-isystem$_cudaops_r ;;
      -iquote/*) _cudaops_relative "${_cudaops_a#-iquote}" && _cudaops_a=-iquote$_cudaops_r ;;
      -fmacro-prefix-map=/* | -ffile-prefix-map=/* | -fdebug-prefix-map=/*)
        _cudaops_b=${_cudaops_a#*=}
        if _cudaops_relative "${_cudaops_b%%=*}"; then
          # Nothing is left of the directory itself; an empty name would match everything.
          [ -n "$_cudaops_r" ] || continue
          _cudaops_a=${_cudaops_a%%=*}=$_cudaops_r=${_cudaops_b#*=}
        fi
        # The cache thinks that only debug information sees these.
        _cudaops_key="$_cudaops_key|$_cudaops_a"
        ;;
    esac
    _cudaops_previous=$_cudaops_a
    set -- "$@" "$_cudaops_a"
  done
  # shellcheck disable=SC2086
  _cudaops_run "${_cudaops_link_compiler:+$_cudaops_up}${_cudaops_link_compiler:-$_cudaops_compiler}" \
    "$@" $_cudaops_link_flags
}

# _cudaops_run <compiler> <argument>...
_cudaops_run() {
  # The compiler's parts are those that the fingerprint was taken of; else it is taken again.
  _cudaops_why="a part of the compiler is gone"
  if ! _cudaops_a=$(_cudaops_parts exec stat -L -c '%s %Y %Z %i'); then
    return
  fi
  if [ "$_cudaops_a" != "$_cudaops_stamp" ]; then
    _cudaops_fingerprint=
    if [ -r "$_cudaops_dir/$_cudaops_kind.changed" ]; then
      {
        IFS= read -r _cudaops_fingerprint
        _cudaops_b=
        while IFS= read -r _cudaops_line; do
          _cudaops_b="$_cudaops_b${_cudaops_b:+
}$_cudaops_line"
        done
      } <"$_cudaops_dir/$_cudaops_kind.changed"
      [ "$_cudaops_b" = "$_cudaops_a" ] || _cudaops_fingerprint=
    fi
    if [ -z "$_cudaops_fingerprint" ]; then
      _cudaops_fingerprint=$(_cudaops_parts cat | sha256sum) && [ -n "$_cudaops_fingerprint" ] || return
      printf '%s\n%s\n' "$_cudaops_fingerprint" "$_cudaops_a" >"$_cudaops_dir/$_cudaops_kind.$$" 2>/dev/null &&
        mv -f "$_cudaops_dir/$_cudaops_kind.$$" "$_cudaops_dir/$_cudaops_kind.changed"
    fi
  fi
  _cudaops_key="cudaops 1|$_cudaops_kind|$_cudaops_fingerprint$_cudaops_key"

  # What became of the compile itself: cache_step.sh writes it here.
  CUDAOPS_CACHE_MARK=$_cudaops_object.cudaops
  CUDAOPS_CACHE_COMPILER=$1
  CUDAOPS_CACHE_DEPFILE=$_cudaops_dep
  CUDAOPS_CACHE_HIP=$_cudaops_hip
  CUDAOPS_CACHE_SYSTEM=$_cudaops_system
  CUDAOPS_CACHE_STANDARD=$_cudaops_standard
  CUDAOPS_CACHE_PRESENT=$_cudaops_present
  CUDAOPS_CACHE_ABSENT=$_cudaops_absent
  CUDAOPS_CACHE_SOURCE=$_cudaops_root/
  CUDAOPS_CACHE_BUILD=$_cudaops_build/
  CUDAOPS_CACHE_FROM=${_cudaops_bound:-$_cudaops_up$_cudaops_source_from/}
  CUDAOPS_CACHE_HEADERS=${0%/*}/cache_headers.awk
  export CUDAOPS_CACHE_MARK CUDAOPS_CACHE_COMPILER CUDAOPS_CACHE_DEPFILE CUDAOPS_CACHE_HIP CUDAOPS_CACHE_SYSTEM \
    CUDAOPS_CACHE_STANDARD CUDAOPS_CACHE_PRESENT CUDAOPS_CACHE_ABSENT CUDAOPS_CACHE_SOURCE CUDAOPS_CACHE_BUILD \
    CUDAOPS_CACHE_FROM CUDAOPS_CACHE_HEADERS
  shift
  _cudaops_dirs "$@"
  [ ! -r "$_cudaops_dir/remote.sh" ] || _cudaops_remote_begin
  if [ "$_cudaops_engine" = ccache ]; then
    case " $* " in
      *" -G "*)
        # ccache takes it for an option of gcc's, with a value.
        _cudaops_n=$#
        while [ $_cudaops_n -gt 0 ]; do
          _cudaops_n=$((_cudaops_n - 1))
          _cudaops_a=$1
          shift
          [ "$_cudaops_a" != -G ] || _cudaops_a=--device-debug
          set -- "$@" "$_cudaops_a"
        done
        ;;
    esac
    # The user's own settings say where and how much; what decides on hits is said here. (Not by the namespace: entries
    # with one of more than 255 bytes can't be read again.)
    unset CCACHE_NODIRECT CCACHE_NODEPEND CCACHE_NOCPP2 CCACHE_NOHASHDIR CCACHE_HARDLINK CCACHE_COMPILER CCACHE_UNIFY
    export CCACHE_DIRECT=1 CCACHE_DEPEND=1 CCACHE_CPP2=1 CCACHE_HASHDIR=1 CCACHE_NOHARDLINK=1 CCACHE_BASEDIR= \
      CCACHE_COMPILERTYPE="$_cudaops_type" CCACHE_COMPILERCHECK="string:$_cudaops_key" CCACHE_SLOPPINESS=locale \
      CCACHE_IGNOREHEADERS= CCACHE_IGNOREOPTIONS='--threads=*' CCACHE_PREFIX=
    # Where it counts what it did, and the step says how the compiler ended.
    _cudaops_their_log=${CCACHE_STATSLOG-}
    export CCACHE_STATSLOG="$CUDAOPS_CACHE_MARK"
    set -- "$_cudaops_step" "$@"
  else
    export SCCACHE_C_CUSTOM_CACHE_BUSTER="${SCCACHE_C_CUSTOM_CACHE_BUSTER-}$_cudaops_key"
    [ -z "${_cudaops_dist+x}" ] || _cudaops_distribute "$@" || return
    # Another server than the one that knows no shared cache.
    [ "$_cudaops_remote_state$_cudaops_dist" != asked1 ] || export SCCACHE_SERVER_UDS="$SCCACHE_SERVER_UDS-shared"
    set -- "$CUDAOPS_CACHE_COMPILER" "$@"
  fi
  _cudaops_ask "$@"
  if [ "$_cudaops_status" = 0 ] && [ "$_cudaops_engine" = sccache ]; then
    # It has no step of ours: whether the entry may be used is asked afterwards.
    CUDAOPS_CACHE_COMPILER=true "$_cudaops_step" "$@"
    _cudaops_read_mark
    _cudaops_why=$_cudaops_mark_why
    [ "$_cudaops_mark" != unfit ] || return
    _cudaops_mark=
  fi
  if [ "$_cudaops_status$_cudaops_mark" = 0 ] && _cudaops_shadowed "$@"; then
    # An entry made before that file was there.
    export CCACHE_RECACHE=1 SCCACHE_RECACHE=1
    _cudaops_ask "$@"
    _cudaops_depfile names
    # It was found by another name, as in one include directory below another: no reason to compile the next time.
    [ "$_cudaops_status" != 0 ] || [ "$(_cudaops_read_sum)" != "$_cudaops_sum" ] ||
      printf '%s %s\n' "$_cudaops_sum" "$_cudaops_shadow" >>"$_cudaops_dir/harmless"
  elif [ -n "$_cudaops_mark" ]; then
    _cudaops_depfile names
  fi
  [ -z "${_cudaops_dist-}" ] || _cudaops_dist_done "$@"
  case $_cudaops_status in
    0 | 129 | 130 | 143)
      [ -z "$_cudaops_said" ] || printf '%s\n' "$_cudaops_said" >&2
      if [ $_cudaops_status = 0 ]; then
        [ $_cudaops_times = 0 ] || rm -f "$_cudaops_dir/failed"
        case $_cudaops_engine:$_cudaops_result in
          ccache:asked) _cudaops_log 'not cached' "ccache says: ${_cudaops_declined:-nothing}" ;;
          *) _cudaops_log "$_cudaops_result" "$_cudaops_bound" ;;
        esac
      fi
      exit $_cudaops_status
      ;;
  esac
  # sccache runs the compiler in its server: only its words tell whose failure it is, and at times they don't.
  _cudaops_why='sccache could not run the compiler'
  case $_cudaops_engine:$_cudaops_status:$_cudaops_said in
    sccache:254:* | sccache:*sccache:\ Compiler\ killed*) return ;;
    sccache:[12][0-9][0-9]:* | sccache:*:sccache:\ *) ;;
    sccache:*) _cudaops_mark=failed ;;
  esac
  case $_cudaops_mark in
    failed)
      # The compiler's own failure.
      [ -z "$_cudaops_said" ] || printf '%s\n' "$_cudaops_said" >&2
      _cudaops_log failed "exit code $_cudaops_status"
      exit $_cudaops_status
      ;;
    unfit)
      # Compiled, and not to be kept.
      _cudaops_why=$_cudaops_mark_why
      if [ -s "$_cudaops_object" ]; then
        [ -z "$_cudaops_said" ] || printf '%s\n' "$_cudaops_said" >&2
        _cudaops_log 'not cached' "$_cudaops_why"
        exit 0
      fi
      return
      ;;
  esac
  # The cache's failure. One line for all the compiles of a build, which do without for a minute.
  _cudaops_why="$_cudaops_engine failed"
  _cudaops_said=${_cudaops_said%%
*}
  if [ "$_cudaops_engine:$_cudaops_remote_state" = sccache:asked ]; then
    # Its server can't do without the shared cache; the user's own can.
    _cudaops_remote_failed "${_cudaops_said:-exit code $_cudaops_status}"
    return
  fi
  if _cudaops_leave_out "$_cudaops_dir/failed" "$_cudaops_said"; then
    printf '%s\n' "CudaOps: $_cudaops_engine failed and is left out for a minute: ${_cudaops_said:-exit code $_cudaops_status}" >&2
  fi
  if [ "$_cudaops_mark" = done ] && [ -s "$_cudaops_object" ] && [ -s "$_cudaops_dep" ]; then
    _cudaops_log 'not cached' "$_cudaops_why"
    exit 0
  fi
}

# _cudaops_ask <argument>...: the cache, its exit code, what it said, and what became of the compile if there was one.
_cudaops_ask() {
  # Emptied, not removed: that would cost a process.
  { true >"$CUDAOPS_CACHE_MARK"; } 2>/dev/null
  _cudaops_watch=
  [ "$_cudaops_engine:$_cudaops_remote_state" != ccache:asked ] || _cudaops_watch
  # The shell itself would say that a cache was ended.
  if [ -t 2 ] && [ "$_cudaops_engine" = ccache ]; then
    {
      (
        _cudaops_say_pid
        exec "$_cudaops_cache" "$@" 2>&3 3>&-
      ) 2>/dev/null
    } 3>&2
    _cudaops_status=$?
    _cudaops_said=
  else
    {
      _cudaops_said=$(
        _cudaops_say_pid
        exec "$_cudaops_cache" "$@" 2>&1 >&3 3>&-
      )
    } 3>&1 2>/dev/null
    _cudaops_status=$?
  fi
  if [ -n "$_cudaops_watch" ]; then
    { kill "$_cudaops_watch"; } 2>/dev/null
    { wait "$_cudaops_watch"; } 2>/dev/null
    if [ $? = 99 ]; then
      # What the server gave so far is nothing.
      _cudaops_remote_failed "no whole answer in $_cudaops_patience s"
      export CCACHE_REMOTE_STORAGE=
      _cudaops_ask "$@"
      return
    fi
  fi
  if [ "$_cudaops_status" = 0 ]; then
    # Who did nothing has not succeeded; an object that is older than this compile is another's.
    if [ ! -e "$_cudaops_object" ] || { [ ! -s "$CUDAOPS_CACHE_MARK" ] && [ "$CUDAOPS_CACHE_MARK" -nt "$_cudaops_object" ]; }; then
      _cudaops_status=256
      _cudaops_said=${_cudaops_said:-it made no object}
    fi
  fi
  _cudaops_read_mark
  [ "$_cudaops_remote_state" = - ] || _cudaops_remote_end
}

# _cudaops_watch: ccache's time-outs are for each read, and a server may send a byte a second. Ends a ccache that has not
# started the compiler in time, with exit code 99. After an interrupted build it ends nothing: the mark is another's.
_cudaops_watch() {
  (
    _cudaops_a=
    trap '[ -z "$_cudaops_a" ] || kill "$_cudaops_a"; exit 0' TERM INT
    sleep $_cudaops_patience &
    _cudaops_a=$!
    wait "$_cudaops_a"
    read -r _cudaops_b _cudaops_n _cudaops_line <"$CUDAOPS_CACHE_MARK"
    [ "$_cudaops_b:$_cudaops_line" = "pid:$$" ] && [ "/proc/$_cudaops_n/exe" -ef "$_cudaops_cache" ] || exit 0
    while read -r _cudaops_b _cudaops_line; do
      [ "$_cudaops_b" != begun ] || exit 0
    done <"$CUDAOPS_CACHE_MARK"
    # It may be gone before this says so.
    trap '' TERM
    kill "$_cudaops_n" && exit 99
  ) </dev/null >/dev/null 2>&1 &
  _cudaops_watch=$!
}

# _cudaops_say_pid: of the process that becomes the cache, and of this one.
_cudaops_say_pid() {
  [ -z "$_cudaops_watch" ] || {
    read -r _cudaops_a _cudaops_b </proc/self/stat
    echo "pid $_cudaops_a $$" >"$CUDAOPS_CACHE_MARK"
  }
} 2>/dev/null

# _cudaops_read_mark: the step's word, and ccache's counters.
_cudaops_read_mark() {
  _cudaops_mark=
  _cudaops_mark_why=
  _cudaops_result=asked
  _cudaops_declined=${CCACHE_DISABLE+CCACHE_DISABLE}
  _cudaops_remote_said=
  while IFS= read -r _cudaops_a; do
    case $_cudaops_a in
      done | failed) _cudaops_mark=$_cudaops_a ;;
      unfit*)
        _cudaops_mark=unfit
        _cudaops_mark_why=${_cudaops_a#unfit }
        ;;
      remote_storage_error | remote_storage_timeout) _cudaops_remote_said=failed ;;
      remote_storage_read_hit) _cudaops_remote_said=${_cudaops_remote_said:-answered} ;;
      remote_storage_hit) [ "$_cudaops_remote_said" = failed ] || _cudaops_remote_said=hit ;;
      remote_storage_*)
        case $_cudaops_remote_said in
          '' | answered) _cudaops_remote_said=miss ;;
        esac
        ;;
      *_cache_hit) _cudaops_result=hit ;;
      cache_miss | recache) _cudaops_result=miss ;;
      # Why ccache left it to the compiler: one of its counters.
      \#* | pid\ * | begun | *_storage_* | *_cache_miss | cleanups_performed) ;;
      *) _cudaops_declined=$_cudaops_a ;;
    esac
    case $_cudaops_a in
      pid\ * | begun) ;;
      *) [ -z "$_cudaops_their_log" ] || printf '%s\n' "$_cudaops_a" ;;
    esac
  done <"$CUDAOPS_CACHE_MARK" >>"${_cudaops_their_log:-/dev/null}"
} 2>/dev/null

# _cudaops_remote_begin: the shared cache, or that it is left out. While it fails, one compile asks it again after one,
# two, four ... minutes; the others don't wait for it.
_cudaops_remote_begin() {
  . "$_cudaops_dir/remote.sh"
  _cudaops_remote_state=asked
  _cudaops_remote_times=0
  if [ -e "$_cudaops_dir/remote-failed" ]; then
    if _cudaops_left_out "$_cudaops_dir/remote-failed"; then
      _cudaops_remote_state='left out'
    else
      _cudaops_remote_times=$_cudaops_n
    fi
  fi
  if [ "$_cudaops_engine" = sccache ]; then
    [ "$_cudaops_remote_state" = asked ] || return
    if [ ! -r "$_cudaops_remote_file" ]; then
      _cudaops_remote_failed "its settings are no longer in $_cudaops_remote_file"
      return
    fi
    # It waits a minute for a server that doesn't answer.
    _cudaops_a=$(
      . "$_cudaops_remote_file"
      _cudaops_remote_ping
    ) || {
      _cudaops_remote_failed "${_cudaops_a:-no answer}"
      return
    }
    . "$_cudaops_remote_file"
    return
  fi
  if [ "$_cudaops_remote_state" = asked ] && [ -n "$_cudaops_remote_file" ]; then
    # Its second line is for ccache; nobody else may read the file.
    _cudaops_remote_url=
    { read -r _cudaops_a && IFS= read -r _cudaops_remote_url; } 2>/dev/null <"$_cudaops_remote_file"
    [ -n "$_cudaops_remote_url" ] || _cudaops_remote_failed "its password is no longer in $_cudaops_remote_file"
  fi
  if [ "$_cudaops_remote_state" = asked ]; then
    export CCACHE_REMOTE_STORAGE="$_cudaops_remote_url$_cudaops_remote_attributes"
  else
    export CCACHE_REMOTE_STORAGE=
  fi
  unset CCACHE_SECONDARY_STORAGE
}

# _cudaops_left_out <file>: whether what failed is still left out; else this compile asks it again, alone: the file now
# says the next time for the others, and _cudaops_n how often that was so.
_cudaops_left_out() {
  read -r _cudaops_a _cudaops_n _cudaops_b <"$1"
  case $_cudaops_a:$_cudaops_n in
    *[!0-9:]* | :* | *:) _cudaops_a=0 _cudaops_n=1 ;;
  esac
  _cudaops_line=${_cudaops_start%??}
  _cudaops_line=${_cudaops_line:-0}
  # A time long to come is one of before the machine was started.
  if [ $_cudaops_line -lt $_cudaops_a ] && [ $((_cudaops_a - _cudaops_line)) -le 4000 ]; then
    return 0
  fi
  printf '%s %s %s\n' $((_cudaops_line + (60 << _cudaops_n))) $((_cudaops_n < 5 ? _cudaops_n + 1 : 5)) "$_cudaops_b" >"$1"
  return 1
} 2>/dev/null

# _cudaops_leave_out <file> <why>: for a minute from now on. Returns whether this is the compile that says so.
_cudaops_leave_out() {
  if ! { set -C && true >"$1"; }; then
    set +C
    [ ! -e "$1" ]
    return
  fi
  set +C
  _cudaops_line=${_cudaops_start%??}
  printf '%s 1 %s\n' $((${_cudaops_line:-0} + 60)) "$2" >"$1"
} 2>/dev/null

# _cudaops_remote_failed <what>: one line for all the compiles of a build.
_cudaops_remote_failed() {
  _cudaops_remote_state=failed
  if _cudaops_leave_out "$_cudaops_dir/remote-failed" "$1"; then
    printf '%s\n' "CudaOps: the shared cache $_cudaops_remote failed and is left out for a minute: $1" >&2
  fi
}

# _cudaops_remote_end: what the shared cache did.
_cudaops_remote_end() {
  case $_cudaops_remote_state:$_cudaops_remote_said in
    'left out':*) ;;
    *:failed) _cudaops_remote_failed "no answer, or none that $_cudaops_engine understands" ;;
    failed:*) ;;
    *:)
      # The local cache had it: the next one is to ask. What sccache does in its server is not known.
      [ "$_cudaops_engine" = ccache ] || return
      [ $_cudaops_remote_times = 0 ] || printf '0 %s\n' $_cudaops_remote_times >"$_cudaops_dir/remote-failed"
      ;;
    *)
      _cudaops_remote_state=$_cudaops_remote_said
      [ $_cudaops_remote_state = hit ] || _cudaops_remote_state=miss
      # It is back.
      [ $_cudaops_remote_times = 0 ] || rm -f "$_cudaops_dir/remote-failed"
      ;;
  esac
}

# _cudaops_log <result> <reason>
_cudaops_log() {
  _cudaops_now
  case $_cudaops_object in
    /*) ;;
    *)
      case $PWD in
        "$_cudaops_build"/*) _cudaops_object=${PWD#"$_cudaops_build"/}/$_cudaops_object ;;
        *) [ . -ef "$_cudaops_build" ] || _cudaops_object=$PWD/$_cudaops_object ;;
      esac
      ;;
  esac
  [ "$_cudaops_remote_state" != asked ] || _cudaops_remote_state=-
  printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$_cudaops_remote_state" $(((_cudaops_time - _cudaops_start) * 10)) "$2" \
    "$_cudaops_object" >>"$_cudaops_dir/log"
} 2>/dev/null

# Hundredths of a second since the machine was started, which no clock that is set can change.
_cudaops_now() {
  read -r _cudaops_time _cudaops_a </proc/uptime || _cudaops_time=0.00
  _cudaops_time=${_cudaops_time%.*}${_cudaops_time#*.}
  # A number with a leading zero is octal.
  while :; do
    case $_cudaops_time in
      0?*) _cudaops_time=${_cudaops_time#0} ;;
      *) return ;;
    esac
  done
} 2>/dev/null

# _cudaops_dirs <argument>...: the directories that are searched for headers, for cache_headers.awk, sorted as the compiler
# does; of one that gets there by -Xcompiler the place among the others isn't known, and it stands before and after them.
_cudaops_dirs() {
  for _cudaops_a in q i xi s xs e p; do
    eval "_cudaops_dirs_$_cudaops_a="
  done
  _cudaops_here=
  _cudaops_expect=
  _cudaops_through=
  _cudaops_x=
  if [ "$_cudaops_kind" = cuda ]; then
    # nvcc includes cuda_runtime.h as if by -include.
    _cudaops_here=1
    for _cudaops_b in ${NVCC_PREPEND_FLAGS-}; do
      _cudaops_dir_word "$_cudaops_b"
    done
  fi
  for _cudaops_b; do
    _cudaops_dir_word "$_cudaops_b"
  done
  if [ "$_cudaops_kind" = cuda ]; then
    for _cudaops_b in ${NVCC_APPEND_FLAGS-}; do
      _cudaops_dir_word "$_cudaops_b"
    done
  fi
  _cudaops_split : e "${CPATH-}"
  _cudaops_split : p "${CPLUS_INCLUDE_PATH-}"
  CUDAOPS_CACHE_HERE=$_cudaops_here
  for _cudaops_a in Q:q I:i XI:xi S:s XS:xs E:e P:p; do
    eval "CUDAOPS_CACHE_DIRS_${_cudaops_a%:*}=\$_cudaops_dirs_${_cudaops_a#*:}"
    export "CUDAOPS_CACHE_DIRS_${_cudaops_a%:*}"
  done
  export CUDAOPS_CACHE_HERE
}

# _cudaops_shadowed <argument>...: whether a file of the project is there now that the compiler would find before a
# header that the entry names, or where it was told that there is none. The entry can't know it: a dependency file says
# what was found, not what was not.
_cudaops_shadowed() {
  _cudaops_words=$*
  _cudaops_depfile shadows
}

# _cudaops_dir_word <word>: one of the compiler's, of its host compiler's after -Xcompiler.
_cudaops_dir_word() {
  case $_cudaops_through:$1 in
    1:*)
      _cudaops_through=
      _cudaops_host_words "$1"
      return
      ;;
    :-Xcompiler | :--compiler-options)
      _cudaops_through=1
      return
      ;;
    :-Xcompiler=* | :--compiler-options=*)
      _cudaops_host_words "${1#*=}"
      return
      ;;
  esac
  case $_cudaops_expect in
    '') ;;
    *)
      _cudaops_a=$_cudaops_expect
      _cudaops_expect=
      _cudaops_split , "$_cudaops_a" "$1"
      return
      ;;
  esac
  case $1 in
    -I | --include-path) _cudaops_expect=${_cudaops_x}i ;;
    -isystem | --system-include) _cudaops_expect=${_cudaops_x}s ;;
    -iquote) _cudaops_expect=q ;;
    --include-path=*) _cudaops_split , ${_cudaops_x}i "${1#*=}" ;;
    -I*) _cudaops_split , ${_cudaops_x}i "${1#-I}" ;;
    -iquote*) _cudaops_split , q "${1#-iquote}" ;;
    -isystem=* | --system-include=*) _cudaops_split , ${_cudaops_x}s "${1#*=}" ;;
    -isystem*) _cudaops_split , ${_cudaops_x}s "${1#-isystem}" ;;
    # Looked for where the compiler is run first.
    -include* | --pre-include* | -imacros*) _cudaops_here=1 ;;
  esac
}

# _cudaops_host_words <word,word...>
_cudaops_host_words() {
  _cudaops_n=$_cudaops_x
  _cudaops_x=x
  _cudaops_ifs=$IFS
  IFS=,
  # shellcheck disable=SC2086
  set -- $1
  IFS=$_cudaops_ifs
  for _cudaops_line; do
    _cudaops_dir_word "$_cudaops_line"
  done
  _cudaops_x=$_cudaops_n
}

# _cudaops_split <separator> <class> <directories>: adds them. nvcc takes several, parted by commas; elsewhere a comma is
# part of the name, and a directory that isn't there shadows nothing.
_cudaops_split() {
  [ -n "$3" ] || return 0
  case $1$3 in
    ,*,*) eval "_cudaops_dirs_$2=\$_cudaops_dirs_$2\${3%/}'
'" ;;
    # No word comes after the last separator.
    :*:) eval "_cudaops_dirs_$2=\$_cudaops_dirs_$2.'
'" ;;
  esac
  _cudaops_ifs=$IFS
  IFS=$1
  _cudaops_a=$2
  # shellcheck disable=SC2086
  set -- $3
  IFS=$_cudaops_ifs
  for _cudaops_line; do
    case $_cudaops_line in
      ?*/) _cudaops_line=${_cudaops_line%/} ;;
      '') _cudaops_line=. ;;
    esac
    eval "_cudaops_dirs_$_cudaops_a=\$_cudaops_dirs_$_cudaops_a\$_cudaops_line'
'"
  done
}

# _cudaops_depfile shadows|names: the source tree's files by their own names in the dependency file, as whoever generates one
# of them calls it. With `shadows`: returns whether a file shadows a header.
_cudaops_depfile() {
  [ -s "$_cudaops_dep" ] || return
  _cudaops_deeper=
  if ! _cudaops_b=$(_cudaops_headers "$1"); then
    # Not known: compiled again.
    [ "$1" = shadows ]
    return
  fi
  _cudaops_ifs=$IFS
  IFS='
'
  for _cudaops_a in $_cudaops_b; do
    case $_cudaops_a in
      */) [ ! -d "$_cudaops_a" ] || _cudaops_deeper="$_cudaops_deeper$_cudaops_a
" ;;
      *)
        if [ -f "$_cudaops_a" ] && ! _cudaops_was_read "$_cudaops_a" && ! _cudaops_harmless "$_cudaops_a"; then
          IFS=$_cudaops_ifs
          return 0
        fi
        ;;
    esac
  done
  if [ -n "$_cudaops_deeper" ]; then
    for _cudaops_a in $(_cudaops_headers shadows); do
      if [ -f "$_cudaops_a" ] && ! _cudaops_was_read "$_cudaops_a" && ! _cudaops_harmless "$_cudaops_a"; then
        IFS=$_cudaops_ifs
        return 0
      fi
    done
  fi
  IFS=$_cudaops_ifs
  return 1
}

# _cudaops_was_read <file>: whether it is a header that was read itself, by a detour: what a directory that -I names calls
# "../common/one.h" lies in common/../common too. Asked of directories, not of names: ".." of a link leads elsewhere.
_cudaops_was_read() {
  case $1 in
    */../*) ;;
    *) return 1 ;;
  esac
  for _cudaops_n in $(_cudaops_headers all); do
    case $_cudaops_n in
      */"${1##*/}") [ ! "${1%/*}" -ef "${_cudaops_n%/*}" ] || return 0 ;;
    esac
  done
  return 1
}

# _cudaops_harmless <file>: whether this very compile was done here while the file was there.
_cudaops_harmless() {
  _cudaops_shadow=$1
  _cudaops_sum=$(_cudaops_read_sum)
  grep -qxF -e "$_cudaops_sum $1" "$_cudaops_dir/harmless"
} 2>/dev/null

# _cudaops_read_sum: a sum of the command, the names of what the dependency file says was read, and what stands there.
_cudaops_read_sum() {
  {
    printf '%s\n' "$_cudaops_words" "$_cudaops_key"
    _cudaops_headers all | xargs -d '\n' grep -aH -e '' --
  } | sha256sum
} 2>/dev/null

# _cudaops_headers all|shadows|names: see cache_headers.awk.
_cudaops_headers() {
  LC_ALL=C CUDAOPS_CACHE_WANTED=$1 CUDAOPS_CACHE_DEEPER=$_cudaops_deeper awk -f "$CUDAOPS_CACHE_HEADERS" "$_cudaops_dep"
}

_cudaops_settings=$1
shift
if [ -r "$_cudaops_settings" ]; then
  unset _cudaops_dist
  _cudaops_hip=
  _cudaops_system=
  . "$_cudaops_settings"
  set -f
  _cudaops_debug=
  _cudaops_bound=
  _cudaops_their_log=
  _cudaops_remote_state=-
  _cudaops_patience=10
  _cudaops_times=0
  _cudaops_now
  _cudaops_start=$_cudaops_time
  _cudaops_why='another compiler than the one that was configured'
  if [ "$1" = "$_cudaops_compiler" ]; then
    shift
    _cudaops_cached "$@"
    set -- "$_cudaops_compiler" "$@"
  fi
  [ -z "$_cudaops_hip" ] || set -- "$_cudaops_hip" "$@"
  # Compiled without the cache; how long that takes nobody waits to see.
  _cudaops_object=
  for _cudaops_a; do
    case $_cudaops_object in
      -o) _cudaops_object=$_cudaops_a && break ;;
    esac
    [ "$_cudaops_a" != -o ] || _cudaops_object=-o
  done
  _cudaops_log 'not cached' "$_cudaops_why"
fi
exec "$@"
