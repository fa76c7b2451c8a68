# Compiler detections that are kept: when they are used, when they must not be, and that nobody can tell the difference.
#
# Compilers here are scripts that count their calls: a detection runs its compiler, a seed doesn't.

# Projects here find their tools themselves: of what they find, the seeds know.
set(case_NO_SEED TRUE)
set(seed_MODULE "${case_REPO}/cmake/CudaOpsSeed.cmake")
case_environment("SEED_CALLS=${case_DIR}/calls")

# counting_compiler(<path> <real compiler> [<extra line>])
function(counting_compiler path real)
  file(WRITE "${path}" "#!/bin/sh\n${ARGV2}\necho \"$0\" >>\"$SEED_CALLS\"\nexec '${real}' \"$@\"\n")
  file(CHMOD "${path}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

# seed_toolkit(<dir> <version>): a fake toolkit whose nvcc counts its calls and doesn't hide what it depends on.
function(seed_toolkit dir version)
  fake_toolkit("${dir}" VERSION ${version})
  file(READ "${dir}/bin/nvcc" text)
  string(REGEX REPLACE " eval [^\n]*;;" " : ;;" text "${text}")
  string(REPLACE "host=g++" "host='${case_CXX}'" text "${text}")
  string(REGEX REPLACE "^#![^\n]*\n" "#!/bin/sh\necho nvcc >>\"$SEED_CALLS\"\n" text "${text}")
  file(WRITE "${dir}/bin/nvcc" "${text}")
endfunction()

# seed_project(<dir> <language>... [BODY <text>])
function(seed_project dir)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "BODY" "")
  list(JOIN arg_UNPARSED_ARGUMENTS " " languages)
  file(
    WRITE "${dir}/CMakeLists.txt"
    "cmake_minimum_required(VERSION 3.25)\nproject(seeded LANGUAGES ${languages})\n"
    "get_cmake_property(left VARIABLES)\nlist(FILTER left INCLUDE REGEX ^_cudaops)\n"
    "if(left)\n  message(SEND_ERROR \"left behind: \${left}\")\nendif()\n${arg_BODY}\n"
  )
  file(WRITE "${dir}/one.cpp" "int one() { return 1; }\n")
  file(WRITE "${dir}/two.c" "int two(void) { return 2; }\n")
  file(WRITE "${dir}/main.c" "int main(void) { return 0; }\n")
  file(WRITE "${dir}/three.cu" "int three() { return 3; }\n")
endfunction()

# seed_configure(<what> EXPECT <language>=USED|KEPT|DETECTED... [SAYS <regex>] [PROJECT <dir>] [BUILD <dir>] [RESULT <n>]
#                [ARGS <argument>...])
#
# Configures a fresh build directory. USED: from the store, and no counting compiler has run; KEPT: detected, then kept;
# DETECTED: detected and not kept.
function(seed_configure what)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SAYS;PROJECT;BUILD;RESULT" "EXPECT;ARGS")
  if(NOT arg_PROJECT)
    set(arg_PROJECT "${case_DIR}/src")
  endif()
  if(NOT arg_BUILD)
    set(arg_BUILD "${case_DIR}/build")
  endif()
  set(result "")
  if(DEFINED arg_RESULT)
    set(result RESULT ${arg_RESULT})
  endif()
  file(REMOVE_RECURSE "${arg_BUILD}")
  file(REMOVE "${case_DIR}/calls")
  case_step(
    "${what}"
    ${result}
    COMMAND
      "${case_CMAKE}" -S "${arg_PROJECT}" -B "${arg_BUILD}" -G "${case_GENERATOR}" --log-level=VERBOSE
      "-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=${seed_MODULE}" ${arg_ARGS}
  )
  set(case_STEP_STDOUT "${case_STEP_STDOUT}" PARENT_SCOPE)
  set(all_used TRUE)
  foreach(pair IN LISTS arg_EXPECT)
    string(REGEX MATCH "^([A-Z]+)=([A-Z]+)$" pair "${pair}")
    set(language "${CMAKE_MATCH_1}")
    set(expected "${CMAKE_MATCH_2}")
    set(actual DETECTED)
    if(case_STEP_STDOUT MATCHES "Seed: ${language} as detected before")
      set(actual USED)
    elseif(case_STEP_STDOUT MATCHES "Seed: ${language} is kept")
      set(actual KEPT)
    endif()
    case_equal("${what}: ${language}" "${actual}" "${expected}")
    if(NOT actual STREQUAL "USED")
      set(all_used FALSE)
      case_match("${what}: ${language}" "${case_STEP_STDOUT}" "The ${language} compiler identification is [GNC]")
    else()
      case_not_match("${what}: ${language}" "${case_STEP_STDOUT}" "The ${language} compiler identification")
    endif()
  endforeach()
  if(all_used AND EXISTS "${case_DIR}/calls")
    file(READ "${case_DIR}/calls" calls)
    case_fail("${what}: a compiler ran" "${calls}")
  endif()
  if(arg_SAYS)
    case_match("${what}" "${case_STEP_STDOUT}" "${arg_SAYS}")
  endif()
endfunction()

# expect_cached(<name> <value>): in the last build directory.
function(expect_cached name value)
  if(NOT EXISTS "${case_DIR}/build/CMakeCache.txt")
    case_fail("no cache in the build directory")
    return()
  endif()
  file(STRINGS "${case_DIR}/build/CMakeCache.txt" line REGEX "^${name}:" ENCODING UTF-8)
  string(REGEX REPLACE "^[^=]*=" "" line "${line}")
  case_equal("${name} in the cache" "${line}" "${value}")
endfunction()

# expect_seeds(<n>): entries in the store; nothing half-written beside them.
function(expect_seeds number)
  file(GLOB entries LIST_DIRECTORIES TRUE RELATIVE "${case_DIR}/store/seeds" "${case_DIR}/store/seeds/*")
  list(LENGTH entries length)
  case_equal("entries in the store" "${length}" "${number}")
  file(GLOB entries LIST_DIRECTORIES TRUE RELATIVE "${case_DIR}/store/seeds" "${case_DIR}/store/seeds/.*")
  list(FILTER entries INCLUDE REGEX "^[.][0-9a-f]")
  case_equal("files half-written in the store" "${entries}" "")
endfunction()
