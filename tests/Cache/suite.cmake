# Compiler caches: which one is taken, that it gives the right object, and that nothing stops when it fails.
include("${case_TESTS_DIR}/AddTorchOp/common/commands.cmake")

# What the launcher calls and other cases don't.
foreach(program IN ITEMS stat awk timeout)
  find_program(suite_program ${program} NO_CACHE REQUIRED)
  file(MAKE_DIRECTORY "${case_DIR}/bin")
  file(CREATE_LINK "${suite_program}" "${case_DIR}/bin/${program}" SYMBOLIC)
  unset(suite_program)
endforeach()
case_path("${case_DIR}/bin")
case_environment("CCACHE_DIR=${case_DIR}/ccache")

# use_cache(ccache|sccache): the machine's own; skips the case where there is none that CudaOps takes.
macro(use_cache engine)
  find_program(suite_cache ${engine} NO_CACHE)
  set(suite_minimum 4.7.5)
  if("${engine}" STREQUAL "sccache")
    set(suite_minimum 0.10)
  endif()
  set(suite_version "")
  if(suite_cache)
    execute_process(COMMAND "${suite_cache}" --version OUTPUT_VARIABLE suite_version)
    string(REGEX MATCH "[0-9]+\\.[0-9]+(\\.[0-9]+)?" suite_version "${suite_version}")
  endif()
  if("${suite_version}" VERSION_LESS suite_minimum)
    case_skip("no ${engine} ${suite_minimum} or newer on this machine (found: '${suite_version}')")
    return()
  endif()
  file(CREATE_LINK "${suite_cache}" "${case_DIR}/bin/${engine}" SYMBOLIC)
  unset(suite_cache)
  if("${engine}" STREQUAL "sccache")
    # A server of our own, that goes by itself.
    case_environment(
      "SCCACHE_DIR=${case_DIR}/sccache" "SCCACHE_SERVER_UDS=${case_DIR}/sccache.sock" SCCACHE_IDLE_TIMEOUT=30
    )
  endif()
endmacro()

# fake_cache(<engine> <version> [<shell code>]): says its version; does <shell code> for everything else, or just runs
# the compiler.
function(fake_cache engine version)
  set(code "exec \"$@\"")
  if(ARGC GREATER 2)
    set(code "${ARGV2}")
  endif()
  set(text "#!/bin/sh\nif [ \"$1\" = --version ]; then\n  echo '${engine} ${version}'\n  exit 0\nfi\n${code}\n")
  file(WRITE "${case_DIR}/bin/${engine}" "${text}")
  file(CHMOD "${case_DIR}/bin/${engine}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

# host_kernels(): a project of two host files, without torch and toolkit: what is said about the cache itself.
function(host_kernels)
  machine(CPU)
  file(WRITE "${case_DIR}/src/one.cpp" "int one() { return 1; }\n")
  file(WRITE "${case_DIR}/src/two.cpp" "int two() { return 2; }\n")
  project_says("cudaops_add_kernels(host SHARED SOURCES one.cpp two.cpp)")
  set(case_ARGS "${case_ARGS}" PARENT_SCOPE)
endfunction()

# expect_one(<hit or miss> <value>): what becomes of host_kernels()' one.cpp when its object is gone, and what it returns.
function(expect_one result value)
  file(REMOVE "${case_BUILD_DIR}/CMakeFiles/host.dir/one.cpp.o")
  case_build()
  file(STRINGS "${case_BUILD_DIR}/CudaOps/cache/compiles" line REGEX "one\\.cpp\\.o$" ENCODING UTF-8)
  case_match("the record" "${line}" "^${result} ")
  case_step("the object" COMMAND objdump -d "${case_BUILD_DIR}/CMakeFiles/host.dir/one.cpp.o")
  expect_stdout("\\\$0x${value},%eax")
endfunction()

# hits(<out-hits> <out-misses>): of ccache, since the last call.
function(hits out_hits out_misses)
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env "CCACHE_DIR=${case_DIR}/ccache" "${case_DIR}/bin/ccache" --print-stats
    OUTPUT_VARIABLE text
  )
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env "CCACHE_DIR=${case_DIR}/ccache" "${case_DIR}/bin/ccache" --zero-stats
    OUTPUT_QUIET
  )
  set(sum 0)
  foreach(kind IN ITEMS direct preprocessed)
    if(text MATCHES "${kind}_cache_hit\t([0-9]+)")
      math(EXPR sum "${sum} + ${CMAKE_MATCH_1}")
    endif()
  endforeach()
  set(${out_hits} ${sum} PARENT_SCOPE)
  set(missed "?")
  if(text MATCHES "cache_miss\t([0-9]+)")
    set(missed ${CMAKE_MATCH_1})
  endif()
  set(${out_misses} ${missed} PARENT_SCOPE)
endfunction()

# expect_hits(<what> <hits> <misses>)
function(expect_hits what wanted_hits wanted_misses)
  hits(hit missed)
  case_equal("hits and misses, ${what}" "${hit} ${missed}" "${wanted_hits} ${wanted_misses}")
endfunction()

# stale_table(): common/stale.py by the launcher of the build tree; every row of it with CUDAOPS_TEST_LONG.
function(stale_table)
  set(all "")
  if(case_LONG)
    set(all --all)
  endif()
  case_step(
    "the table of wrong objects"
    COMMAND
      "${case_PYTHON}" "${case_SUITE}/common/stale.py" "${case_REPO}" "${case_BUILD_DIR}" "${case_DIR}/table" ${all}
  )
endfunction()

# use_redis(): a Redis of the machine's; skips the case where there is none.
macro(use_redis)
  find_program(suite_redis redis-server NO_CACHE)
  if(NOT suite_redis)
    case_skip("no redis-server on this machine")
    return()
  endif()
endmacro()

# shared(<scenario> [<name>=<value>...]): common/shared.py, with Redis where use_redis() was called.
function(shared scenario)
  set(options "seed=${case_SEED_DIR}" ${ARGN})
  if(suite_redis)
    # Not below the case: the path of a socket has 107 characters at most.
    execute_process(COMMAND mktemp -d OUTPUT_VARIABLE sockets OUTPUT_STRIP_TRAILING_WHITESPACE)
    list(APPEND options "redis=${suite_redis}" "socket=${sockets}/redis.sock")
  endif()
  case_step(
    "${scenario}"
    COMMAND "${case_PYTHON}" "${case_SUITE}/common/shared.py" ${scenario} "${case_DIR}" "${case_CMAKE}" "${case_REPO}" ${options}
  )
  if(suite_redis)
    file(REMOVE_RECURSE "${sockets}")
  endif()
endfunction()
