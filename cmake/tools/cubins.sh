#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One CUDA source, compiled an architecture at a time: detail/cubins.cmake makes an edge of each architecture, and this
# program does its part of what nvcc would do, and puts the parts together where the object is made.
#
#   sh cubins.sh --launch <settings> <sources> <nvcc> <argument>...    the launcher of a target's compiles
#   cubins_compiler <argument>...                                      a copy, as that launcher and the cache call it
#
# nvcc itself says what it would do (-dryrun): the same commands run here, so that the object is the one that it would
# have made. A part is taken only where it was made by the commands of the object and holds the name that nvcc gives to
# this unit, if it holds any; else it is made again. A plan that isn't understood is left to nvcc as a whole.
#
# A part is known by its preprocessed text, without line numbers where nothing depends on them: an edit that an
# architecture doesn't see compiles nothing for it.

# _cudaops_whole <argument>...: nvcc as it is. A part is left empty then.
_cudaops_whole() {
  rm -rf "$_cudaops_d"
  if [ -n "$CUDAOPS_CUBINS_PART" ]; then
    : >"$_cudaops_object" || exit
    printf '%s\n' "$_cudaops_source" | _cudaops_depend
    exit
  fi
  exec "$_cudaops_nvcc" "$@"
}

# _cudaops_plan <argument>...: what nvcc would do, in files of this compile's directory: env, host (up to cudafe++),
# pp.<arch> and do.<arch>, end. Fails where there is something that it doesn't know.
_cudaops_plan() {
  # The directory's name is left to the shell: so it stands in no command.
  # shellcheck disable=SC2016
  "$_cudaops_nvcc" -dryrun --keep --keep-dir '$_cudaops_d' "$@" >"$_cudaops_d/plan" 2>&1 || return
  : >"$_cudaops_d/env"
  : >"$_cudaops_d/host"
  : >"$_cudaops_d/end"
  _cudaops_archs=
  while IFS= read -r _cudaops_line; do
    # shellcheck disable=SC2016
    case $_cudaops_line in
      '#$ '*) _cudaops_line=${_cudaops_line#'#$ '} ;;
      *) return 1 ;;
    esac
    # With several threads, nvcc collects what each command says.
    case $_cudaops_line in
      *' > '*_stdout' 2>'*_stderr) _cudaops_line=${_cudaops_line%' > '*} ;;
    esac
    # shellcheck disable=SC2016
    case $_cudaops_line in
      PATH=* | LD_LIBRARY_PATH=* | CICC_PATH=* | NVVMIR_LIBRARY_DIR=* | TOP=*) _cudaops_to='env' ;;
      [A-Z_]*=*)
        case ${_cudaops_line%%=*} in
          *[!A-Z_]*) return 1 ;;
        esac
        continue
        ;;
      '-- Filter Dependencies --'* | 'rm '*) continue ;;
      'cudafe++ '*' --gen_module_id_file --module_id_file_name '*) _cudaops_to=host ;;
      *' -E '*' -o "$_cudaops_d/'*'.cpp4.ii"'*) _cudaops_to=host ;;
      *' -E '*' -o "$_cudaops_d/'*.compute_*'.cpp1.ii"'*)
        _cudaops_a=compute_${_cudaops_line##*.compute_}
        _cudaops_to=pp.${_cudaops_a%%.*}
        _cudaops_archs="$_cudaops_archs ${_cudaops_a%%.*}"
        ;;
      '"$CICC_PATH/cicc" '*' -arch compute_'*' --module_id_file_name '*)
        _cudaops_a=${_cudaops_line##*' -arch '}
        _cudaops_to=do.${_cudaops_a%%' '*}
        ;;
      'ptxas '*'"$_cudaops_d/'*.compute_*'.ptx"'*)
        _cudaops_a=${_cudaops_line%'.ptx"'*}
        _cudaops_to=do.compute_${_cudaops_a##*.compute_}
        ;;
      'fatbinary '*' --embedded-fatbin='* | *' -c -x c++ '*' "$_cudaops_d/'*.compute_*'.cudafe1.cpp" -o "'*) _cudaops_to=end ;;
      *) return 1 ;;
    esac
    printf '%s\n' "$_cudaops_line" >>"$_cudaops_d/$_cudaops_to"
  done <"$_cudaops_d/plan"
  _cudaops_lines host 2 && _cudaops_lines end 2 && [ -n "$_cudaops_archs" ] || return
  for _cudaops_a in $_cudaops_archs; do
    _cudaops_lines "pp.$_cudaops_a" 1 && grep -qF -e " -arch $_cudaops_a " "$_cudaops_d/do.$_cudaops_a" || return
  done
}

_cudaops_lines() {
  [ "$(wc -l <"$_cudaops_d/$1")" -eq "$2" ]
}

# _cudaops_do <file>: the commands in it as nvcc would run them, up to one that fails.
_cudaops_do() {
  (
    while IFS= read -r _cudaops_line; do
      export "${_cudaops_line?}"
    done <"$_cudaops_d/env"
    while IFS= read -r _cudaops_line; do
      eval "$_cudaops_line" </dev/null || exit
    done <"$_cudaops_d/$1"
  )
}

# _cudaops_tools: what makes device code here, and the variables that it reads. The commands name neither.
_cudaops_tools() {
  (
    while IFS= read -r _cudaops_line; do
      export "${_cudaops_line?}"
    done <"$_cudaops_d/env"
    stat -L -c '%n %s %Y %i' "$_cudaops_nvcc" "$CICC_PATH/cicc" "$(command -v ptxas)" \
      "${NVVMIR_LIBRARY_DIR:-$CICC_PATH/../libdevice}"/*.bc 2>&1
    for _cudaops_a in PTXAS_FLAGS OCG_FLAGS NVVM_FLAGS NVASM_FLAGS LLVMC_FLAGS LLVMDIS_FLAGS LLVM_OVERRIDE_PRODUCER \
      NVVM_IR_VER_CHK NV_NVVM_VERSION; do
      eval "printf '%s=%s\n' $_cudaops_a \"\${$_cudaops_a-}\""
    done
  )
}

# _cudaops_headers <file>...: the files that preprocessed texts name, one a line.
_cudaops_headers() {
  LC_ALL=C awk '
    /^# [0-9]+ "/ {
      if (!match($0, /".*"/)) next
      name = substr($0, RSTART + 1, RLENGTH - 2)
      if (name in seen) next
      seen[name] = 1
      if (name ~ /^<.*>$/ || name ~ /\/\/$/ || name == "") next
      text = ""
      while ((at = index(name, "\\")) > 0) {
        text = text substr(name, 1, at - 1)
        code = substr(name, at + 1, 3)
        if (code ~ /^[0-7][0-7][0-7]$/) {
          text = text sprintf("%c", substr(code, 1, 1) * 64 + substr(code, 2, 1) * 8 + substr(code, 3, 1))
          name = substr(name, at + 4)
        } else {
          text = text substr(name, at + 1, 1)
          name = substr(name, at + 2)
        }
      }
      print text name
    }' "$@"
}

# _cudaops_depend: the dependency file, of the files that stdin names.
_cudaops_depend() {
  [ -n "$_cudaops_dep" ] || return 0
  CUDAOPS_TARGET=$_cudaops_target LC_ALL=C awk '
    function quoted(name) {
      gsub(/ /, "\\ ", name)
      gsub(/#/, "\\#", name)
      gsub(/\$/, "$$", name)
      return name
    }
    # What -MT says stands as it is.
    BEGIN { printf "%s :", ENVIRON["CUDAOPS_TARGET"] }
    !seen[$0]++ { printf "%s%s", NR == 1 ? " " : " \\\n    ", quoted($0) }
    END { print "" }' >"$_cudaops_dep"
}

# _cudaops_make_part: the file part, of the commands in do.<arch> and their preprocessed text: what is compiled, the
# commands, and the unit's name as nvcc makes it for one architecture.
_cudaops_make_part() {
  sed 's/ --module_id_file_name "[^"]*"/ --gen_module_id_file --module_id_file_name "$_cudaops_d\/name.'"$_cudaops_arch"'"/' \
    "$_cudaops_d/do.$_cudaops_arch" >"$_cudaops_d/now"
  _cudaops_do now || return
  _cudaops_name=
  IFS= read -r _cudaops_name <"$_cudaops_d/name.$_cudaops_arch" || [ -n "$_cudaops_name" ] || return
  # Most code holds its unit's name nowhere; then it doesn't matter. No pipe: grep ends at the first match, and who writes
  # to it would say so where SIGPIPE is ignored.
  grep -qF -e "$_cudaops_name" "$_cudaops_d"/*".$_cudaops_arch.ptx" "$_cudaops_d"/*".$_cudaops_arch.cudafe1.stub.c" ||
    echo any >"$_cudaops_d/name.$_cudaops_arch"
  (
    cd "$_cudaops_d" || exit
    rm -f part
    set -- "name.$_cudaops_arch" "do.$_cudaops_arch" *".$_cudaops_arch.cudafe1.stub.c"
    grep -qF -e ".$_cudaops_arch.ptx\"" end && set -- "$@" *".$_cudaops_arch.ptx"
    for _cudaops_a in *".$_cudaops_arch".*cubin; do
      [ ! -e "$_cudaops_a" ] || set -- "$@" "$_cudaops_a"
    done
    "$CUDAOPS_CUBINS_AR" qcD part "$@"
  )
}

# _cudaops_part <argument>...: the edge of one architecture.
_cudaops_part() {
  _cudaops_arch=$CUDAOPS_CUBINS_PART
  case "$_cudaops_archs " in
    *" $_cudaops_arch "*) ;;
    *) _cudaops_whole "$@" ;;
  esac
  _cudaops_do "pp.$_cudaops_arch" || exit
  _cudaops_headers "$_cudaops_d"/*".$_cudaops_arch.cpp1.ii" >"$_cudaops_d/from.$_cudaops_arch"
  _cudaops_depend <"$_cudaops_d/from.$_cudaops_arch" || exit

  # What the part is made of. Line numbers matter for debug information and where the code asks for them, and a line in a
  # raw string is no line of code.
  {
    sed 's/^/\/\/ /' "$_cudaops_d/do.$_cudaops_arch"
    grep -oF -e ".$_cudaops_arch.ptx\"" "$_cudaops_d/end" | sed 's/^/\/\/ /'
    if grep -qE -e ' (-g|-generate-line-info|-show-src|--debug_mode) ' "$_cudaops_d/do.$_cudaops_arch" ||
      grep -qE '__builtin_(LINE|FILE|COLUMN|source_location)|R"' "$_cudaops_d"/*".$_cudaops_arch.cpp1.ii"; then
      cat "$_cudaops_d"/*".$_cudaops_arch.cpp1.ii"
    else
      sed -e '/^# [0-9]/d' -e '/^[[:space:]]*$/d' "$_cudaops_d"/*".$_cudaops_arch.cpp1.ii"
    fi
  } >"$_cudaops_d/known.ii"
  _cudaops_known=
  if [ -n "$CUDAOPS_CACHE_MARK" ] && [ -n "$CUDAOPS_CUBINS_CCACHE" ]; then
    # The launcher has put all of the compiler and its environment into the name space. The cache that called us has
    # turned itself off.
    (
      unset CCACHE_DEPEND CCACHE_DISABLE UNCACHED_ERR_FD
      export CCACHE_NODEPEND=1 CCACHE_COMPILERTYPE=gcc CUDAOPS_CUBINS_DIRECTORY="$_cudaops_d"
      "$CUDAOPS_CUBINS_CCACHE" "$0" -c "$_cudaops_d/known.ii" -o "$_cudaops_d/part"
    )
    _cudaops_status=$?
    if [ $_cudaops_status -ne 0 ]; then
      [ ! -e "$_cudaops_d/failed" ] || exit $_cudaops_status
      # The cache's failure.
      _cudaops_make_part || exit
    fi
  else
    _cudaops_known=$(_cudaops_tools | cat - "$_cudaops_d/known.ii" | sha256sum) && _cudaops_known=${_cudaops_known%% *}
    mkdir "$_cudaops_d/old"
    if [ -s "$_cudaops_object" ] && _cudaops_unpack "$_cudaops_object" "$_cudaops_d/old" &&
      [ "$(cat "$_cudaops_d/old/known.$_cudaops_arch")" = "$_cudaops_known" ]; then
      cp "$_cudaops_object" "$_cudaops_d/part" &&
        (cd "$_cudaops_d" && "$CUDAOPS_CUBINS_AR" dD part "known.$_cudaops_arch" "from.$_cudaops_arch" "pp.$_cudaops_arch") || exit
    else
      _cudaops_make_part || exit
    fi
  fi
  # From which files the text came is not the part's: others can have the same.
  printf '%s\n' "$_cudaops_known" >"$_cudaops_d/known.$_cudaops_arch"
  (cd "$_cudaops_d" && "$CUDAOPS_CUBINS_AR" qcD part "known.$_cudaops_arch" "from.$_cudaops_arch" "pp.$_cudaops_arch") &&
    mv -f "$_cudaops_d/part" "$_cudaops_object"
}

# _cudaops_unpack <archive> <directory>
_cudaops_unpack() {
  case $1 in
    /*) set -- "$1" "$2" ;;
    *) set -- "$PWD/$1" "$2" ;;
  esac
  (cd "$2" && "$CUDAOPS_CUBINS_AR" x "$1" 2>/dev/null)
}

# _cudaops_join <argument>...: the object, of what the architectures' edges have made.
_cudaops_join() {
  _cudaops_do host || exit
  _cudaops_name=
  IFS= read -r _cudaops_name <"$(printf '%s\n' "$_cudaops_d"/*.module_id)" || [ -n "$_cudaops_name" ] || _cudaops_whole "$@"
  _cudaops_again=
  for _cudaops_a in $_cudaops_archs; do
    mkdir "$_cudaops_d/part"
    _cudaops_unpack "$CUDAOPS_CUBINS_PARTS.$_cudaops_a.cu.o.part" "$_cudaops_d/part"
    _cudaops_theirs=
    [ ! -e "$_cudaops_d/part/name.$_cudaops_a" ] || IFS= read -r _cudaops_theirs <"$_cudaops_d/part/name.$_cudaops_a"
    if [ ! -e "$_cudaops_d/part/pp.$_cudaops_a" ]; then
      _cudaops_again="$_cudaops_again $_cudaops_a"
      printf '%s\n' "CudaOps: $_cudaops_source is compiled for $_cudaops_a once more: there is no result of its own step" >&2
    elif [ "$(cat "$_cudaops_d/part/do.$_cudaops_a")" != "$(cat "$_cudaops_d/do.$_cudaops_a")" ] ||
      [ "$(cat "$_cudaops_d/part/pp.$_cudaops_a")" != "$(cat "$_cudaops_d/pp.$_cudaops_a")" ]; then
      _cudaops_again="$_cudaops_again $_cudaops_a"
      printf '%s\n' "CudaOps: $_cudaops_source is compiled for $_cudaops_a once more: its own step has other options" >&2
    elif [ "$_cudaops_theirs" != any ] && [ "$_cudaops_theirs" != "$_cudaops_name" ]; then
      _cudaops_again="$_cudaops_again $_cudaops_a"
      printf '%s\n' "CudaOps: $_cudaops_source is compiled for $_cudaops_a once more: its first definition depends on __CUDA_ARCH__" >&2
    else
      mv -f "$_cudaops_d/part"/* "$_cudaops_d" || exit
    fi
    rm -rf "$_cudaops_d/part"
  done
  # The unit has another name here than an architecture gives it, or there is no such part.
  for _cudaops_a in $_cudaops_again; do
    _cudaops_do "pp.$_cudaops_a" || exit
    _cudaops_headers "$_cudaops_d"/*".$_cudaops_a.cpp1.ii" >"$_cudaops_d/from.$_cudaops_a"
    _cudaops_do "do.$_cudaops_a" || exit
  done
  _cudaops_do end || exit
  {
    _cudaops_headers "$_cudaops_d"/*.cpp4.ii
    cat "$_cudaops_d"/from.*
  } | _cudaops_depend
}

# The edge's command, before the cache sees it.
if [ "$1" = --launch ]; then
  . "$2"
  _cudaops_table=$3
  CUDAOPS_CUBINS_NVCC=$4
  shift 4
  _cudaops_source=
  _cudaops_object=
  _cudaops_previous=
  for _cudaops_a; do
    case $_cudaops_previous in
      -c) _cudaops_source=$_cudaops_a ;;
      -o) _cudaops_object=$_cudaops_a ;;
    esac
    _cudaops_previous=$_cudaops_a
  done
  CUDAOPS_CUBINS_PART=
  CUDAOPS_CUBINS_PARTS=
  case $_cudaops_source in
    */CudaOps/cubins/*.compute_*.cu | CudaOps/cubins/*.compute_*.cu)
      CUDAOPS_CUBINS_PART=compute_${_cudaops_source##*.compute_}
      CUDAOPS_CUBINS_PART=${CUDAOPS_CUBINS_PART%.cu}
      _cudaops_name=${_cudaops_source%.compute_*}
      _cudaops_to=$_cudaops_object.part
      ;;
    */CudaOps/cubins/*.cu | CudaOps/cubins/*.cu)
      CUDAOPS_CUBINS_PARTS=${_cudaops_object%.cu.o}
      _cudaops_name=${_cudaops_source%.cu}
      _cudaops_to=$_cudaops_object
      ;;
    *)
      # A source that nobody told us of.
      [ -z "$_cudaops_plain" ] || exec /bin/sh "$_cudaops_launcher" "$_cudaops_plain" "$CUDAOPS_CUBINS_NVCC" "$@"
      exec "$CUDAOPS_CUBINS_NVCC" "$@"
      ;;
  esac
  # The source that it stands for, as the table calls it.
  _cudaops_real=
  while IFS='	' read -r _cudaops_a _cudaops_b; do
    [ "$_cudaops_a" != "${_cudaops_name##*/}" ] || _cudaops_real=$_cudaops_b
  done <"$_cudaops_table"
  if [ -z "$_cudaops_real" ]; then
    echo "CudaOps: $_cudaops_table doesn't know $_cudaops_source; configure again" >&2
    exit 1
  fi
  _cudaops_n=$#
  _cudaops_previous=
  while [ $_cudaops_n -gt 0 ]; do
    _cudaops_n=$((_cudaops_n - 1))
    _cudaops_a=$1
    shift
    case $_cudaops_previous in
      -c) set -- "$@" "$_cudaops_real" ;;
      -o) set -- "$@" "$_cudaops_to" ;;
      *) set -- "$@" "$_cudaops_a" ;;
    esac
    _cudaops_previous=$_cudaops_a
  done
  export CUDAOPS_CUBINS_AR CUDAOPS_CUBINS_NVCC CUDAOPS_CUBINS_PART CUDAOPS_CUBINS_PARTS
  if [ -n "$_cudaops_cache" ]; then
    set -- /bin/sh "$_cudaops_launcher" "$_cudaops_cache" "$_cudaops_compiler" "$@"
  else
    set -- "$_cudaops_compiler" "$@"
  fi
  [ -n "$CUDAOPS_CUBINS_PART" ] || exec "$@"
  # No object of the same command, for the cache.
  export CCACHE_NAMESPACE="${CCACHE_NAMESPACE-}cubins 1|$CUDAOPS_CUBINS_PART|"
  "$@" || exit
  # What the link sees of it.
  if [ ! -s "$_cudaops_empty" ]; then
    "$_cudaops_cxx" -x c++ -fPIC -c /dev/null -o "$_cudaops_object.new" && mv -f "$_cudaops_object.new" "$_cudaops_empty" || exit
  fi
  cp "$_cudaops_empty" "$_cudaops_object"
  exit
fi

_cudaops_d=$CUDAOPS_CUBINS_DIRECTORY
unset CUDAOPS_CUBINS_DIRECTORY
_cudaops_arch=$CUDAOPS_CUBINS_PART
if [ -n "$_cudaops_d" ]; then
  # The cache has no such part.
  _cudaops_make_part && exit
  _cudaops_status=$?
  : >"$_cudaops_d/failed"
  exit $_cudaops_status
fi

_cudaops_object=
_cudaops_source=
_cudaops_dep=
_cudaops_target=
_cudaops_previous=
_cudaops_nvcc=$CUDAOPS_CUBINS_NVCC
for _cudaops_a; do
  case $_cudaops_previous in
    -c) _cudaops_source=$_cudaops_a ;;
    -o) _cudaops_object=$_cudaops_a ;;
    -MF) _cudaops_dep=$_cudaops_a ;;
    -MT) _cudaops_target=$_cudaops_a ;;
  esac
  _cudaops_previous=$_cudaops_a
done
[ -n "$_cudaops_target" ] || _cudaops_target=$_cudaops_object
# The launcher says paths relative to the build tree where it can; so does nvcc then, of its own headers.
if [ -n "$CUDAOPS_CUBINS_LINK" ]; then
  case " $*" in
    *[\ =I]CudaOps/links/* | */../CudaOps/links/* | *[\ =I]../CudaOps/links/*)
      _cudaops_up=
      for _cudaops_a in 1 2 3 4 5 6 7 8 9 10 11 12; do
        if [ -x "$_cudaops_up$CUDAOPS_CUBINS_LINK" ]; then
          _cudaops_nvcc=$_cudaops_up$CUDAOPS_CUBINS_LINK
          break
        fi
        _cudaops_up=../$_cudaops_up
      done
      ;;
  esac
fi
if [ -z "$_cudaops_object" ] || [ -z "$_cudaops_source" ] || [ -z "$CUDAOPS_CUBINS_PART$CUDAOPS_CUBINS_PARTS" ]; then
  exec "$_cudaops_nvcc" "$@"
fi
_cudaops_d=$_cudaops_object.parts
rm -rf "$_cudaops_d"
mkdir -p "$_cudaops_d" || exit
trap 'rm -rf "$_cudaops_d"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
_cudaops_plan "$@" || _cudaops_whole "$@"
if [ -n "$CUDAOPS_CUBINS_PART" ]; then
  _cudaops_part "$@"
else
  _cudaops_join "$@"
fi
