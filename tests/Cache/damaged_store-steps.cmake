# A cache directory that is damaged, full, read-only or no directory: right objects, at most a line.
real_machine()
if(NOT real_TORCH)
  return()
endif()
use_cache(ccache)
file(WRITE "${case_DIR}/src/k.cu" "__global__ void kernel(float* x) { x[0] *= 2; }\n")
file(WRITE "${case_DIR}/src/h.cpp" "int h() { return 1; }\n")
configure("cudaops_add_kernels(k SHARED SOURCES k.cu h.cpp)" ARGS -DCMAKE_CUDA_ARCHITECTURES=80-real)
set(objects "${case_BUILD_DIR}/CMakeFiles/k.dir/k.cu.o" "${case_BUILD_DIR}/CMakeFiles/k.dir/h.cpp.o")
function(build_again out)
  file(REMOVE ${objects})
  file(REMOVE_RECURSE "${case_BUILD_DIR}/CudaOps/cache/failed")
  case_build(ARGS -j1)
  set(hashes "")
  foreach(object IN LISTS objects)
    case_step(bare COMMAND objcopy --strip-unneeded "${object}" "${case_DIR}/bare.o")
    file(SHA1 "${case_DIR}/bare.o" hash)
    list(APPEND hashes ${hash})
  endforeach()
  set(${out} "${hashes}" PARENT_SCOPE)
  string(REGEX MATCHALL "CudaOps: ccache failed[^\n]*" lines "${case_STEP_STDOUT}")
  list(LENGTH lines count)
  if(count GREATER 1)
    case_fail("more than one line" ${lines})
  endif()
endfunction()
build_again(right)
expect_hits("first" 0 3)

# Bytes turned over, cut off, emptied: of each file of the cache.
foreach(damage IN ITEMS turned cut empty)
  case_step(
    "${damage}"
    COMMAND
      "${case_PYTHON}" -c
      "
import os, sys
for top, _, files in os.walk(sys.argv[1]):
    for name in files:
        if name in ('stats', 'CACHEDIR.TAG', 'ccache.conf') or name.startswith('stats'): continue
        path = os.path.join(top, name)
        data = bytearray(open(path, 'rb').read())
        if sys.argv[2] == 'turned':
            for i in range(len(data) // 2, min(len(data), len(data) // 2 + 64)): data[i] ^= 0x5a
        elif sys.argv[2] == 'cut': data = data[:len(data) * 2 // 3]
        else: data = b''
        open(path, 'wb').write(data)
"
      "${case_DIR}/ccache" ${damage}
  )
  build_again(hashes)
  case_equal("objects from a cache with bytes ${damage}" "${hashes}" "${right}")
  expect_hits("bytes ${damage}" 0 2)
  build_again(hashes)
  case_equal("objects from the repaired cache" "${hashes}" "${right}")
  expect_hits("repaired, bytes were ${damage}" 2 0)
endforeach()

# A file in the directory's place.
file(REMOVE_RECURSE "${case_DIR}/ccache")
file(WRITE "${case_DIR}/ccache" "")
build_again(hashes)
case_equal("objects without a cache directory" "${hashes}" "${right}")
file(REMOVE "${case_DIR}/ccache")

# Read-only and full file systems, where we may mount them.
file(MAKE_DIRECTORY "${case_DIR}/small")
find_program(unshare unshare NO_CACHE)
find_program(mount mount NO_CACHE)
set(can_mount 1)
if(unshare AND mount)
  execute_process(
    COMMAND "${unshare}" -rm "${mount}" -t tmpfs -o size=64k none "${case_DIR}/small"
    RESULT_VARIABLE can_mount
    ERROR_QUIET
  )
endif()
if(can_mount EQUAL 0)
  foreach(kind IN ITEMS full read-only)
    file(REMOVE ${objects})
    file(REMOVE_RECURSE "${case_BUILD_DIR}/CudaOps/cache/failed")
    set(then "")
    if(kind STREQUAL "read-only")
      set(then "&& ${mount} -o remount,ro none '${case_DIR}/small'")
    else()
      set(then "&& { cat /dev/zero > '${case_DIR}/small/filler' 2>/dev/null; true; }")
    endif()
    case_step(
      "build with a ${kind} cache"
      COMMAND
        "${unshare}" -rm sh -c
        "${mount} -t tmpfs -o size=64k none '${case_DIR}/small' && mkdir '${case_DIR}/small/c' ${then} && export CCACHE_DIR='${case_DIR}/small/c' && '${case_CMAKE}' --build '${case_BUILD_DIR}' -j1"
    )
    string(REGEX MATCHALL "CudaOps: ccache failed[^\n]*" lines "${case_STEP_STDOUT}")
    list(LENGTH lines count)
    if(count GREATER 1)
      case_fail("more than one line" ${lines})
    endif()
    set(hashes "")
    foreach(object IN LISTS objects)
      case_step(bare COMMAND objcopy --strip-unneeded "${object}" "${case_DIR}/bare.o")
      file(SHA1 "${case_DIR}/bare.o" hash)
      list(APPEND hashes ${hash})
    endforeach()
    case_equal("objects with a ${kind} cache" "${hashes}" "${right}")
  endforeach()
else()
  message("no user namespace to mount a small file system in: full and read-only ones are left out")
endif()
