# Two machines, as network namespaces, with other homes, checkouts and venvs, on one Redis with a password: the second
# compiles nothing. A third one that only reads.
real_machine()
if(NOT real_TORCH)
  return()
endif()
use_cache(ccache)
use_redis()
find_program(ip ip NO_CACHE PATHS /usr/sbin /sbin)
find_program(mount mount NO_CACHE)
execute_process(
  COMMAND sh -c "[ $(id -u) = 0 ] && '${ip}' netns add cudaops-try && '${ip}' netns del cudaops-try"
  RESULT_VARIABLE exit
  OUTPUT_QUIET
  ERROR_VARIABLE error
)
if(NOT exit STREQUAL "0" OR NOT mount)
  string(STRIP "${error}" error)
  case_skip("no network namespaces for this user: needs root, ip and mount (${error})")
  return()
endif()
cmake_path(GET real_TORCH PARENT_PATH venv)
cmake_path(GET venv PARENT_PATH venv)
shared(machines "ip=${ip}" "mount=${mount}" "venv=${venv}" "toolkit=${real_TOOLKIT}" "sources=${case_DIR}/src")
