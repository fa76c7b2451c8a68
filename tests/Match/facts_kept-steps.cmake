# What a Python says of its torch is kept in the store, and asked again as soon as anything has changed that it follows
# from. The interpreter counts its starts.
# Python 3.11 reads a .pth file in the locale's encoding, which is ASCII where LC_ALL=C; LANG=C becomes UTF-8.
case_environment(LANG=C UNSET LC_ALL)
include("${case_TESTS_DIR}/fixtures/match.cmake")
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
set(python "${case_DIR}/venv/bin/python")
case_environment("HOME=${case_DIR}/home")
set(site "${case_DIR}/venv/lib/python${case_PYTHON_VERSION}/site-packages")
file(
  WRITE "${site}/sitecustomize.py"
  "with open(r'''${case_DIR}/starts''', 'a') as file:\n    file.write('start\\n')\n"
)

# What changed in the last two seconds may have changed after it was read, so nothing is kept of it.
function(long_ago)
  execute_process(
    COMMAND find "${case_DIR}/venv" -exec touch -h -d 2024-01-01 {} +
    COMMAND_ERROR_IS_FATAL ANY
  )
endfunction()

# configured(<what> <starts> [FRESH] [ARGS <argument>...]): how often the interpreter runs in this configure.
function(configured what expected)
  cmake_parse_arguments(PARSE_ARGV 2 arg "FRESH" "" "ARGS")
  if(arg_FRESH)
    file(REMOVE_RECURSE "${case_BUILD_DIR}")
  endif()
  file(REMOVE "${case_DIR}/starts")
  match(FIND QUIET ARGS "-DPython_EXECUTABLE=${python}" ${arg_ARGS})
  set(lines "")
  if(EXISTS "${case_DIR}/starts")
    file(STRINGS "${case_DIR}/starts" lines)
  endif()
  list(LENGTH lines starts)
  case_equal("${what}: starts of the interpreter" "${starts}" "${expected}")
endfunction()

configured("just installed" 1)
expect_match(VERDICT CPU_TORCH TORCH_DIR "${site}/torch")
configured("just installed, again" 1)
long_ago()
configured("installed long ago" 1)
configured("again" 0)
configured("a fresh directory" 0 FRESH)
file(REMOVE "${case_DIR}/starts")
case_configure(BUILD_DIR "${case_DIR}/another build" ARGS "-DPython_EXECUTABLE=${python}")
if(EXISTS "${case_DIR}/starts")
  case_fail("another build directory: the interpreter was started")
endif()
expect_match(VERDICT CPU_TORCH TORCH_DIR "${site}/torch" TORCH_VERSION 2.13.0+cpu)

# Its version is read from a file each time.
file(READ "${site}/torch/version.py" text)
string(REPLACE "2.13.0" "2.12.0" text "${text}")
file(WRITE "${site}/torch/version.py" "${text}")
configured("another version, in place" 0 FRESH)
expect_match(TORCH_VERSION 2.12.0+cpu)

file(WRITE "${site}/other/__init__.py" "")
configured("another package" 1 FRESH)
long_ago()
configured("another package, long ago" 1)
configured("another package, again" 0)

file(WRITE "${site}/more.pth" "${case_DIR}/more\n")
long_ago()
configured("a .pth file" 1 FRESH)
configured("a .pth file, again" 0 FRESH)
file(WRITE "${site}/more.pth" "${case_DIR}/even more\n")
execute_process(COMMAND touch -d 2024-01-01 "${site}" COMMAND_ERROR_IS_FATAL ANY)
configured("another text in the .pth file" 1 FRESH)
long_ago()

file(RENAME "${site}/torch" "${case_DIR}/torch")
configured("without torch" 1 FRESH)
expect_match(VERDICT NO_TORCH)
file(RENAME "${case_DIR}/torch" "${site}/torch")
configured("with torch again" 1)
expect_match(VERDICT CPU_TORCH TORCH_DIR "${site}/torch")
long_ago()
configured("kept again" 1 FRESH)
configured("used" 0 FRESH)

# The user's own packages, which may stand before the others, from the first of them on.
set(user_site "${case_DIR}/home/.local/lib/python${case_PYTHON_VERSION}/site-packages")
file(WRITE "${user_site}/one.py" "")
# So new that nothing is kept of it, however long the configure takes to begin.
execute_process(COMMAND touch -d tomorrow "${user_site}" COMMAND_ERROR_IS_FATAL ANY)
configured("the first package of the user's" 1 FRESH)
file(REMOVE_RECURSE "${case_DIR}/home/.local")
configured("without it" 0 FRESH)

# What code at the interpreter's start looks at isn't known.
file(READ "${site}/sitecustomize.py" text)
file(APPEND "${site}/sitecustomize.py" "import os, sys\nsys.path += os.environ.get('MORE', '').split(':')\n")
long_ago()
configured("a sitecustomize that reads the environment" 1 FRESH)
configured("a sitecustomize that reads the environment, again" 1 FRESH)
file(WRITE "${site}/sitecustomize.py" "${text}")
file(WRITE "${site}/code.pth" "import sys; sys.path.append('${case_DIR}/more')\n")
long_ago()
configured("a .pth file with code" 1 FRESH)
configured("a .pth file with code, again" 1 FRESH)
file(REMOVE "${site}/code.pth")
long_ago()
configured("without code" 0 FRESH)

# Variables that say where packages are.
fake_torch("${case_DIR}/second" VERSION 2.14.0 CPU)
set(second "${case_DIR}/second/lib/python${case_PYTHON_VERSION}/site-packages")
case_environment("PYTHONPATH=${second}")
configured("PYTHONPATH" 1 FRESH)
expect_match(TORCH_DIR "${second}/torch" TORCH_VERSION 2.14.0+cpu)
case_environment(UNSET PYTHONPATH)
configured("no PYTHONPATH" 0 FRESH)
expect_match(TORCH_DIR "${site}/torch")

# Damaged entries are as none.
file(GLOB entries "${case_DIR}/store/probes/*")
if(NOT entries)
  case_fail("nothing is kept in ${case_DIR}/store/probes")
endif()
foreach(entry IN LISTS entries)
  file(READ "${entry}" text)
  string(REPLACE "site-packages" "site_packages" text "${text}")
  file(WRITE "${entry}" "${text}")
endforeach()
configured("damaged" 1 FRESH)
expect_match(TORCH_DIR "${site}/torch")
configured("mended" 0 FRESH)
foreach(entry IN LISTS entries)
  file(WRITE "${entry}" "")
endforeach()
configured("empty" 1 FRESH)

# A store that can't be written costs time, and is warned of.
file(WRITE "${case_DIR}/no store" "a file")
configured("no store" 1 FRESH ARGS "-DCUDAOPS_STORE=${case_DIR}/no store")
configured("no store, the same directory" 0 ARGS "-DCUDAOPS_STORE=${case_DIR}/no store")
configured("no store, another directory" 1 FRESH ARGS "-DCUDAOPS_STORE=${case_DIR}/no store")
