# URLs that the installed cache can't use, in all their spellings: an error with what would do, and never a password.
function(fake_ccache version features)
  file(
    WRITE "${case_DIR}/bin/ccache"
    "#!/bin/sh\nif [ \"$1\" = --version ]; then\n  echo 'ccache version ${version}'\n  echo 'Features: ${features}'\n  exit 0\nfi\nexec \"$@\"\n"
  )
  file(CHMOD "${case_DIR}/bin/ccache" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()
fake_ccache(4.7.5 "file-storage http-storage redis+unix-storage redis-storage")
host_kernels()

set(
  wanted
  "wanted redis://[[<user>:]<password>@]<host>[:<port>][/<number>] redis+unix:<socket> or redis+unix://<password>@localhost<socket> http://[<user>:<password>@]<host>[:<port>][/<path>] file:<directory>"
)
set(fix "Fix: -DCUDAOPS_CACHE_REMOTE=redis://<host>:6379 or leave it out: ccache then keeps its own directory only")
# refused(<URL> <as it is shown> <rule> <fix> [<argument>...])
function(refused url shown rule fix)
  file(REMOVE_RECURSE "${case_BUILD_DIR}")
  case_configure(RESULT 1 ARGS "-DCUDAOPS_CACHE_REMOTE=${url}" ${ARGN})
  set_property(GLOBAL PROPERTY case_STDERR "")
  set(said "${case_STEP_STDERR}")
  _case_normalise(said)
  string(REGEX REPLACE "^CMake Error at [^ ]* \\(message\\): " "" said "${said}")
  case_equal(
    "the text"
    "${said}"
    "CUDAOPS_CACHE_REMOTE: ${rule}. found ${shown} (variable CUDAOPS_CACHE_REMOTE) ${wanted} ${fix}"
  )
  # Neither said nor written.
  if(url MATCHES "sesame")
    execute_process(COMMAND grep -rlF sesame "${case_BUILD_DIR}" OUTPUT_VARIABLE files)
    case_equal("files that hold the password" "${files}" "")
    case_not_match("what is said" "${case_STEP_STDOUT}${case_STEP_STDERR}" "sesame")
    file(STRINGS "${case_BUILD_DIR}/CMakeCache.txt" entry REGEX "^CUDAOPS_CACHE_REMOTE")
    case_equal("the cache entry" "${entry}" "CUDAOPS_CACHE_REMOTE:STRING=${shown}")
  endif()
endfunction()
refused(redis-host:6379/0 redis-host:6379/0 "no // after the scheme" "${fix}")
refused(redis-host redis-host "not a URL" "${fix}")
refused(sesame@redis-host ***@redis-host "not a URL" "${fix}")
refused(redis:sesame@host redis:***@host "no // after the scheme" "${fix}")
refused(redis:// redis:// "no host is named" "${fix}")
refused(redis://u:sesame@host:99999 redis://u:***@host:99999 "99999 is no port" "${fix}")
refused(redis://:sesame@host/cache redis://***@host/cache "a database of redis is a number" "${fix}")
refused(
  "redis://host|operation-timeout=9"
  "redis://host|operation-timeout=9"
  "blanks, quotes, and any of | ? # can't stand in it (write %20 and the like)"
  "${fix}"
)
refused(redis+unix:// redis+unix:// "no socket is named" "${fix}")
refused(http://sesame@host/ http://***@host/ "a user needs a password" "${fix}")
refused(
  "http://host/?token=sesame"
  "http://host/?***"
  "blanks, quotes, and any of | ? # can't stand in it (write %20 and the like)"
  "${fix}"
)
refused(file://sesame@host/x file://***@host/x "a directory needs an absolute path" "${fix}")
refused(file:cache file:cache "a directory needs an absolute path" "${fix}")
refused(file://server/cache file://server/cache "a directory needs an absolute path" "${fix}")
refused(
  rediss://:sesame@host
  rediss://***@host
  "ccache 4.7.5 doesn't know rediss://"
  "Fix: -DCUDAOPS_CACHE_REMOTE=redis://localhost:<port> (through a tunnel: stunnel, ssh -L) -DCUDAOPS_CACHE=sccache (knows rediss://)"
)
refused(
  https://host
  https://host
  "ccache 4.7.5 doesn't know https://"
  "Fix: -DCUDAOPS_CACHE_REMOTE=http://localhost:<port> (through a tunnel: stunnel, ssh -L) -DCUDAOPS_CACHE=sccache (knows https://)"
)
refused(s3://bucket s3://bucket "ccache 4.7.5 doesn't know s3://" "Fix: -DCUDAOPS_CACHE_REMOTE=redis://<host>:6379")
set(wanted "wanted none of @ : / | ? # % ; [ ] quotes and blanks in it")
refused(
  redis://:ses%40me-sesame@host
  redis://***@host
  "ccache can't use this password"
  "Fix: a password without them, or -DCUDAOPS_CACHE=sccache"
)

# A ccache that was built without Redis.
fake_ccache(4.8 "file-storage http-storage")
set(
  wanted
  "wanted redis://[[<user>:]<password>@]<host>[:<port>][/<number>] redis+unix:<socket> or redis+unix://<password>@localhost<socket> http://[<user>:<password>@]<host>[:<port>][/<path>] file:<directory>"
)
refused(redis://host redis://host "ccache 4.8 doesn't know redis://" "Fix: -DCUDAOPS_CACHE_REMOTE=redis://<host>:6379")

# Without a cache there is nothing to share: a line, no error.
file(REMOVE_RECURSE "${case_BUILD_DIR}")
case_configure(ARGS -DCUDAOPS_CACHE=OFF -DCUDAOPS_CACHE_REMOTE=redis://:sesame@host)
expect_stdout("CUDAOPS_CACHE_REMOTE is not used: CUDAOPS_CACHE=OFF")
case_report_equal("" cache remote)

fake_ccache(4.7.5 "file-storage http-storage redis+unix-storage redis-storage")
# A configure that stops before a cache is asked for, or has no target that asks: the password is known to the next one.
file(REMOVE_RECURSE "${case_BUILD_DIR}")
project_says("message(FATAL_ERROR stop)")
case_configure(RESULT 1 ARGS -DCUDAOPS_CACHE_REMOTE=redis://:sesame@host)
set_property(GLOBAL PROPERTY case_STDERR "")
case_step("no password in the tree" RESULT 1 COMMAND grep -rlF sesame "${case_BUILD_DIR}")
project_says("")
case_configure()
case_step("no password in the tree" RESULT 1 COMMAND grep -rlF sesame "${case_BUILD_DIR}")
project_says("cudaops_add_kernels(host SHARED SOURCES one.cpp two.cpp)")
case_configure()
refuse_stdout("its password is not known")
case_report_equal("redis://***@host" cache remote)

# A password that can't be kept safely, and one that isn't there any more.
file(WRITE "${case_DIR}/a file" "")
file(REMOVE_RECURSE "${case_BUILD_DIR}")
case_environment("CUDAOPS_STORE=${case_DIR}/a file")
case_configure(ARGS -DCUDAOPS_CACHE_REMOTE=redis://:sesame@host)
expect_stdout(
  "the shared cache redis://[*]+@host is left out: its password can't be kept in .*/a file/secrets, and nowhere else is it safe [(]-DCUDAOPS_STORE=<dir> names another place[)]"
)
case_build()
refuse_stdout("sesame")
case_configure()
expect_stdout(
  "the shared cache redis://[*]+@host is left out: its password is not known here: set CUDAOPS_CACHE_REMOTE with it once more"
)
case_report_equal("its password is not known here: set CUDAOPS_CACHE_REMOTE with it once more" cache remote_problem)

# Misspelt, with a password in it.
case_configure(ARGS -DCUDAOPS_CACHE_REMOT=redis://:sesame@host)
expect_stderr("there is no option CUDAOPS_CACHE_REMOT, did you mean CUDAOPS_CACHE_REMOTE[?] found -DCUDAOPS_CACHE_REMOT=redis://[*]+@host")
