# SPDX-License-Identifier: Apache-2.0
# What the launcher (launcher/cache.h) must know of this build tree: what the compilers consist of, and where things lie
# that lie elsewhere on the next machine. Where it is known from the last configure step this isn't read.

_cudaops_use(base/paths base/probe base/programs base/stamps base/state launch/launcher)

# _cudaops_cache_settings_make(<language>): the settings of a language and what is known of its compiler, in the state.
function(_cudaops_cache_settings_make language)
  _cudaops_state_get(CACHE_ENGINE engine)
  set(parts "")
  set(key "")
  set(link_compiler "")
  if(language STREQUAL "CUDA")
    _cudaops_cache_nvcc_parts(parts key link_compiler problem)
    set(type nvcc)
  elseif(language STREQUAL "HIP")
    if(NOT engine STREQUAL "ccache")
      # It looks at the preprocessed source, and brings back the dependency file of one pass.
      _cudaops_state_set(CACHE_HIP_PROBLEM "${engine} returns dependency files of the host's pass only")
      return()
    endif()
    _cudaops_use(accelerate/cache_clang)
    _cudaops_cache_hip_parts(parts key rocm problem)
    set(type clang)
  else()
    _cudaops_cxx(cxx)
    _cudaops_cache_host_parts("${cxx}" "${CMAKE_CXX_COMPILER_ID}" parts key problem)
    string(TOLOWER "${CMAKE_CXX_COMPILER_ID}" type)
    string(REPLACE "gnu" "gcc" type "${type}")
  endif()
  if(problem STREQUAL "")
    _cudaops_cache_stat("${parts}" stamp)
    # By content, so that the same compiler in another place is the same one; half a second, once on a machine.
    _cudaops_probe(
      sums
      FILES ${parts}
      MATCHALL "[0-9a-f]+  "
      MACHINE
      ENVIRONMENT "CUDAOPS_STAMP=${stamp}"
      COMMAND "${CMAKE_COMMAND}" -E sha1sum ${parts}
    )
    if(stamp STREQUAL "" OR NOT sums_EXIT STREQUAL "0")
      set(problem "the compiler's files can't be read: ${sums_ERROR}")
    endif()
  endif()
  if(NOT problem STREQUAL "")
    _cudaops_state_set(CACHE_${language}_PROBLEM "${problem}")
    return()
  endif()
  string(SHA1 fingerprint "${sums_OUTPUT}|${key}")

  # The commands run in the top build tree or below it, whoever's project this is.
  _cudaops_top_directories(source build)
  set(directory "${build}/CudaOps/cache")
  file(MAKE_DIRECTORY "${directory}")
  _cudaops_state_set(CACHE_DIRECTORY "${directory}")
  _cudaops_state_set(CACHE_${language}_FINGERPRINT "${fingerprint}")
  _cudaops_cache_links(places source_name)
  set(standard ${CMAKE_${language}_IMPLICIT_INCLUDE_DIRECTORIES})
  if(standard STREQUAL "")
    set(standard ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
  endif()
  _cudaops_cache_asked("${standard}" present absent)
  list(APPEND standard ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
  list(REMOVE_DUPLICATES standard)
  set(link_flags "")
  if(language STREQUAL "CUDA")
    _cudaops_state_get(HOST_COMPILER host)
    _cudaops_state_get(HOST_COMPILER_ID host_id)
    if(NOT host)
      set(host "${CMAKE_CUDA_HOST_COMPILER}")
      set(host_id "${CMAKE_CXX_COMPILER_ID}")
    endif()
    if(host_id STREQUAL "GNU")
      set(link_flags -Xcompiler=-fno-canonical-system-headers)
    endif()
  else()
    set(host "")
    if(language STREQUAL "CXX" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # gcc names system headers by their shortest real path, which is that of this machine.
      set(link_flags -fno-canonical-system-headers)
    endif()
  endif()
  _cudaops_path_lookup(as assembler)
  if(NOT assembler STREQUAL "")
    list(GET assembler 0 assembler)
  endif()
  _cudaops_state_get(CACHE_PROGRAM program)
  string(TOLOWER "${language}" kind)
  string(REPLACE "\n" ";" stamp "${stamp}")
  set(text "")
  foreach(
    pair
    IN
    ITEMS
      "engine|${engine}"
      "cache|${program}"
      "kind|${kind}"
      "type|${type}"
      "compiler|${CMAKE_${language}_COMPILER}"
      "host_compiler|${host}"
      "assembler|${assembler}"
      "build|${build}"
      "source|${source}"
      "source_name|${source_name}"
      "dir|${directory}"
      "step|${directory}/step"
      "fingerprint|${fingerprint}"
      "link_compiler|${link_compiler}"
      "link_flags|${link_flags}"
  )
    string(REGEX MATCH "^([^|]+)[|](.*)$" pair "${pair}")
    _cudaops_launcher_line(text ${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
  endforeach()
  _cudaops_launcher_line(text standard ${standard})
  list(JOIN present " " present)
  list(JOIN absent " " absent)
  _cudaops_launcher_line(text present "${present}")
  _cudaops_launcher_line(text absent "${absent}")
  _cudaops_launcher_line(text part ${parts})
  _cudaops_launcher_line(text stamp ${stamp})
  if(language STREQUAL "HIP")
    _cudaops_state_get(ROCM_ROOT root)
    cmake_path(APPEND root "")
    _cudaops_launcher_line(text hip 1)
    _cudaops_launcher_line(text rocm "${rocm}")
    _cudaops_launcher_line(text system "${root}")
  endif()
  _cudaops_state_get(CACHE_DIST_SETTINGS dist)
  set(settings "${directory}/${kind}.settings")
  _cudaops_launcher_settings("${settings}" "${text}" "${places}" "${dist}")
  # The program, as the cache calls it.
  _cudaops_launcher_name("${directory}/step")
  _cudaops_state_set(CACHE_${language}_SETTINGS "${settings}")
  _cudaops_follows("${settings}" "${directory}/step" "${build}/CudaOps/links")
endfunction()

# _cudaops_cache_asked(<directories> <out-present> <out-absent>)
#
# Headers that __has_include asks for: those that the compiler has in its own <directories>, and those that it lacks: of
# what is asked for often, because each hit looks for a file of that name. Questions about others can't be answered from
# the cache.
function(_cudaops_cache_asked directories out_present out_absent)
  # Distributions leave it to the user.
  list(REMOVE_ITEM directories /usr/local/include)
  foreach(directory IN LISTS directories)
    foreach(folder IN ITEMS "" /experimental /ext /sys)
      _cudaops_file_stamp("${directory}${folder}" ignored)
    endforeach()
  endforeach()
  string(
    CONCAT names
    "algorithm any array atomic barrier bit bitset charconv chrono codecvt compare complex concepts "
    "condition_variable contracts coroutine debugging deque exception execution expected filesystem flat_map "
    "flat_set format forward_list fstream functional future generator hazard_pointer hive initializer_list "
    "inplace_vector iomanip ios iosfwd iostream istream iterator latch limits linalg list locale map mdspan "
    "memory memory_resource mutex new numbers numeric optional ostream print queue random ranges ratio rcu regex "
    "scoped_allocator semaphore set shared_mutex simd source_location span spanstream sstream stack stacktrace "
    "stdexcept stdfloat stop_token streambuf string string_view strstream syncstream system_error text_encoding "
    "thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector "
    "version cassert ccomplex cctype cerrno cfenv cfloat cinttypes ciso646 climits clocale cmath csetjmp csignal "
    "cstdalign cstdarg cstdbool cstddef cstdint cstdio cstdlib cstring ctgmath ctime cuchar cwchar cwctype "
    "cxxabi.h unistd.h "
  )
  string(
    CONCAT experimental
    "algorithm any array buffer chrono coroutine deque executor filesystem forward_list functional generator "
    "internet io_context iterator list map memory memory_resource net netfwd numeric optional propagate_const "
    "random ranges ratio regex scope set simd socket source_location string string_view synchronized_value "
    "system_error timer tuple type_traits unordered_map unordered_set utility vector "
  )
  set(seldom "contracts;debugging;hazard_pointer;hive;inplace_vector;linalg;rcu;simd;text_encoding")
  # What the headers of compilers, toolkits and torch ask for.
  string(
    CONCAT theirs
    "__config ext/random fcntl.h "
    "pstl/pstl_config.h pthread.h pybind11/gil_simple.h quadmath.h sycl/sycl.hpp sys/single_threaded.h tbb/tbb.h "
    "yvals.h "
  )
  separate_arguments(names UNIX_COMMAND "${names}")
  separate_arguments(experimental UNIX_COMMAND "${experimental}")
  separate_arguments(theirs UNIX_COMMAND "${theirs}")
  list(TRANSFORM experimental PREPEND experimental/)
  set(present "")
  set(absent "")
  foreach(name IN LISTS names experimental theirs)
    set(found absent)
    foreach(directory IN LISTS directories)
      if(EXISTS "${directory}/${name}")
        set(found present)
        break()
      endif()
    endforeach()
    list(APPEND ${found} ${name})
  endforeach()
  list(REMOVE_ITEM absent ${seldom})
  set(${out_present} "${present}" PARENT_SCOPE)
  set(${out_absent} "${absent}" PARENT_SCOPE)
endfunction()

# _cudaops_cache_stat(<files> <out>): what the launcher compares, a line for each file; empty where one can't be read.
# Those of nvcc include those of its host compiler: one process for both languages. The time of the last change of the
# file itself, which nobody sets back, tells where a script's text was changed and its date restored.
function(_cudaops_cache_stat files out)
  set(lines "")
  set(asked TRUE)
  foreach(file IN LISTS files)
    _cudaops_follows_content("${file}")
    _cudaops_state_get_of(CACHE_STAT "${file}" line)
    list(APPEND lines "${line}")
    if(line STREQUAL "")
      set(asked FALSE)
    endif()
  endforeach()
  if(NOT asked)
    _cudaops_run(stat COMMAND stat -L -c "%s %.9Y %.9Z %i" ${files})
    set(${out} "" PARENT_SCOPE)
    if(NOT stat_EXIT STREQUAL "0")
      return()
    endif()
    string(STRIP "${stat_OUTPUT}" lines)
    string(REPLACE "\n" ";" lines "${lines}")
    foreach(file line IN ZIP_LISTS files lines)
      _cudaops_state_set("CACHE_STAT ${file}" "${line}")
    endforeach()
  endif()
  list(JOIN lines "\n" lines)
  set(${out} "${lines}" PARENT_SCOPE)
endfunction()

# _cudaops_cache_host_parts(<compiler> <id> <out-files> <out-key> <out-problem>)
#
# The programs that make an object of C++. The directory counts too: the compiler's own headers lie beside it, and the
# dependency files name them with it.
function(
  _cudaops_cache_host_parts
  compiler
  id
  out_files
  out_key
  out_problem
)
  set(${out_problem} "" PARENT_SCOPE)
  file(REAL_PATH "${compiler}" real)
  set(files "${compiler}")
  if(id STREQUAL "GNU")
    # By the name that it has in all build trees, so that they share the answer.
    _cudaops_launcher(program ignored)
    _cudaops_state_get(LAUNCHER_STORED tool)
    _cudaops_probe(
      about
      PROGRAM OF "${compiler}"
      DEPENDS "depends=([^\n]*)"
      COMMAND "${tool}" --gcc-parts "${compiler}"
    )
    foreach(program IN ITEMS cc1plus as specs)
      string(REGEX MATCH "(^|\n)${program}=([^\n]*)" path "${about_OUTPUT}")
      set(path "${CMAKE_MATCH_2}")
      if(NOT path MATCHES "/")
        if(program STREQUAL "specs")
          continue()
        endif()
        _cudaops_path_lookup("${program}" path)
        if(NOT path STREQUAL "")
          list(GET path 0 path)
        endif()
      endif()
      if(NOT EXISTS "${path}")
        set(${out_problem} "${compiler} doesn't report its ${program}" PARENT_SCOPE)
        return()
      endif()
      list(APPEND files "${path}")
    endforeach()
  elseif(id STREQUAL "Clang")
    _cudaops_use(accelerate/cache_clang)
    _cudaops_cache_clang_parts("${compiler}" files)
  else()
    set(${out_problem} "${id} is not a compiler that this was tested with" PARENT_SCOPE)
    return()
  endif()
  set(${out_files} "${files}" PARENT_SCOPE)
  set(${out_key} "${real}" PARENT_SCOPE)
endfunction()

# _cudaops_cache_nvcc_parts(<out-files> <out-key> <out-link> <out-problem>)
#
# <out-link> is nvcc's path below the top build tree, through a link to the toolkit: called so, it names its own headers
# relative to here. Empty where the toolkit's place is no directory of its own.
function(_cudaops_cache_nvcc_parts out_files out_key out_link out_problem)
  set(${out_link} "" PARENT_SCOPE)
  set(${out_problem} "" PARENT_SCOPE)
  if(NOT CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA")
    set(${out_problem} "${CMAKE_CUDA_COMPILER_ID} is not a CUDA compiler that this was tested with" PARENT_SCOPE)
    return()
  endif()
  _cudaops_nvcc_real("${CMAKE_CUDA_COMPILER}" nvcc)
  cmake_path(GET nvcc PARENT_PATH bin)
  cmake_path(GET bin PARENT_PATH root)
  set(files "${CMAKE_CUDA_COMPILER}" "${nvcc}")
  foreach(
    file
    IN
    ITEMS bin/nvcc.profile bin/cudafe++ bin/ptxas bin/fatbinary nvvm/bin/cicc
  )
    if(NOT EXISTS "${root}/${file}")
      set(${out_problem} "${nvcc} is not the nvcc of a toolkit: there is no ${root}/${file}" PARENT_SCOPE)
      return()
    endif()
    list(APPEND files "${root}/${file}")
  endforeach()
  _cudaops_glob_in(in "${root}")
  file(GLOB libdevice "${in}/nvvm/libdevice/*.bc")
  _cudaops_follows_names("${root}/nvvm/libdevice")
  list(APPEND files ${libdevice})
  _cudaops_state_get(HOST_COMPILER host)
  _cudaops_state_get(HOST_COMPILER_ID id)
  if(NOT host)
    set(host "${CMAKE_CUDA_HOST_COMPILER}")
    set(id "${CMAKE_CXX_COMPILER_ID}")
  endif()
  if(host)
    _cudaops_cache_host_parts("${host}" "${id}" host_files host_key problem)
    if(problem)
      set(${out_problem} "${problem}" PARENT_SCOPE)
      return()
    endif()
    list(APPEND files ${host_files})
  endif()
  list(REMOVE_DUPLICATES files)
  set(${out_files} "${files}" PARENT_SCOPE)
  if(root MATCHES "^(/|/usr|/usr/local)$" OR NOT "${root}/bin/nvcc" STREQUAL nvcc)
    set(${out_key} "${host_key}|${nvcc}" PARENT_SCOPE)
    return()
  endif()
  set(${out_key} "${host_key}" PARENT_SCOPE)
  set(name toolkit)
  _cudaops_state_get(TOOLKIT_ROOT toolkit)
  if(NOT root STREQUAL toolkit)
    set(name nvcc)
    _cudaops_cache_link(nvcc "${root}")
  endif()
  set(${out_link} "CudaOps/links/${name}/bin/nvcc" PARENT_SCOPE)
  _cudaops_state_set(CACHE_LINK_COMPILER "CudaOps/links/${name}/bin/nvcc")
endfunction()

# _cudaops_cache_link(<name> <directory>): a link to it in the top build tree, and a row in CACHE_LINKS.
function(_cudaops_cache_link name directory)
  _cudaops_top_directories(source build)
  set(link "${build}/CudaOps/links/${name}")
  set(old "")
  if(IS_SYMLINK "${link}")
    file(READ_SYMLINK "${link}" old)
  endif()
  if(NOT old STREQUAL directory)
    file(MAKE_DIRECTORY "${build}/CudaOps/links")
    file(REMOVE "${link}")
    file(CREATE_LINK "${directory}" "${link}" SYMBOLIC)
  endif()
  _cudaops_state_get(CACHE_LINKS links)
  if(NOT "${directory}|CudaOps/links/${name}" IN_LIST links)
    _cudaops_state_append(CACHE_LINKS "${directory}|CudaOps/links/${name}")
  endif()
endfunction()

# _cudaops_cache_links(<out> <out-source>)
#
# Lines of the settings: what directories are called relative to the top build tree, and the links that this needs; and
# what the source tree is called so.
function(_cudaops_cache_links out out_source)
  _cudaops_state_get(TORCH_DIR torch)
  _cudaops_state_get(TORCH_INCLUDE_DIR torch_include)
  _cudaops_state_get(PYTHON_INCLUDE_DIR python_include)
  _cudaops_state_get(PYTHON_NVIDIA_DIRS nvidia)
  _cudaops_state_get(PACKAGE_DIR package)
  _cudaops_state_get(TOOLKIT_ROOT toolkit)
  if(toolkit MATCHES "^(/|/usr|/usr/local)$")
    set(toolkit "")
  endif()
  set(number 0)
  foreach(
    pair
    IN
    ITEMS
      "torch|${torch}"
      "torch_include|${torch_include}"
      "python|${python_include}"
      "package|${package}"
      "toolkit|${toolkit}"
  )
    string(REGEX MATCH "^([^|]+)[|](.*)$" pair "${pair}")
    if(IS_DIRECTORY "${CMAKE_MATCH_2}")
      _cudaops_cache_link(${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
    endif()
  endforeach()
  foreach(directory IN LISTS nvidia)
    if(IS_DIRECTORY "${directory}")
      math(EXPR number "${number} + 1")
      _cudaops_cache_link(nvidia${number} "${directory}")
    endif()
  endforeach()

  # The build tree and the source tree. A build tree inside of the source tree goes up, as anyone would write it.
  _cudaops_top_directories(source build)
  cmake_path(IS_PREFIX source "${build}" NORMALIZE inside)
  if(inside)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${build}" OUTPUT_VARIABLE up)
    # Through a link there is another directory above.
    file(REAL_PATH "${build}" real_build)
    file(REAL_PATH "${source}" real_source)
    file(REAL_PATH "${real_build}/${up}" above)
    if(NOT above STREQUAL real_source)
      set(inside FALSE)
    endif()
  endif()
  if(inside)
    set(source_row "${source}|${up}")
    set(${out_source} "${up}" PARENT_SCOPE)
  else()
    _cudaops_cache_link(source "${source}")
    set(source_row "")
    set(${out_source} "CudaOps/links/source" PARENT_SCOPE)
  endif()
  _cudaops_state_get(CACHE_LINKS links)
  set(text "")
  foreach(link IN LISTS links)
    string(REGEX REPLACE "^.*[|]" "" link "${link}")
    _cudaops_launcher_line(text link "${link}")
  endforeach()

  # The longest first: a venv inside of the source tree is a venv.
  set(rows ${links} "${build}|" ${source_row})
  set(sorted "")
  foreach(row IN LISTS rows)
    string(REGEX REPLACE "[|].*$" "" directory "${row}")
    string(LENGTH "${directory}" length)
    math(EXPR length "100000 - ${length}")
    list(APPEND sorted "${length}|${row}")
  endforeach()
  list(SORT sorted)
  list(REMOVE_DUPLICATES sorted)
  foreach(row IN LISTS sorted)
    string(REGEX MATCH "^[0-9]+[|](.*)[|](.*)$" row "${row}")
    set(directory "${CMAKE_MATCH_1}")
    set(name "${CMAKE_MATCH_2}")
    if(name STREQUAL "")
      set(name .)
    endif()
    _cudaops_launcher_line(text place "${directory}")
    _cudaops_launcher_line(text place_name "${name}")
  endforeach()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()
