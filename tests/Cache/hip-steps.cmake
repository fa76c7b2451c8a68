# HIP, with Debian's compiler: hits, with the cache or without it an edit of a header that only device code includes
# builds again, and the table of wrong objects.
if(
  NOT EXISTS /usr/bin/hipcc
  OR NOT EXISTS /usr/include/hip/hip_runtime.h
  OR NOT EXISTS /usr/lib/x86_64-linux-gnu/libamdhip64.so
)
  case_skip("Debian's hipcc and libamdhip64-dev are not installed here")
  return()
endif()
use_cache(ccache)
file(STRINGS /usr/include/hip/hip_version.h version REGEX "define HIP_VERSION_(MAJOR|MINOR) ")
string(REGEX MATCHALL "[0-9]+" version "${version}")
list(JOIN version "." version)
machine(VERSION 2.13.0 ROCM ${version})
list(APPEND case_ARGS -DROCm_ROOT=/usr -DCMAKE_HIP_ARCHITECTURES=gfx90a)
set(source "${case_DIR}/src/two words")
file(WRITE "${source}/device.h" "#define TIMES 2\n")
file(
  WRITE "${case_DIR}/src/k.hip"
  "#include <hip/hip_runtime.h>\n#ifdef __HIP_DEVICE_COMPILE__\n#include \"two words/device.h\"\n#else\n#define TIMES 1\n#endif\n"
  "__global__ void kernel(float* x) { x[0] *= TIMES; }\n"
)
file(WRITE "${case_DIR}/src/h.cpp" "int host() { return 1; }\n")
set(code "cudaops_add_kernels(any SHARED SOURCES k.hip h.cpp)")

# device_code(<out>): of the library.
function(device_code out)
  case_step(
    "device code"
    COMMAND objcopy -O binary --only-section=.hip_fatbin "${case_BUILD_DIR}/libany.so" "${case_DIR}/code"
  )
  file(SHA1 "${case_DIR}/code" hash)
  set(${out} "${hash}" PARENT_SCOPE)
endfunction()

configure("${code}")
case_build()
expect_hits("the first build" 0 3)
device_code(two)
case_build(ARGS --clean-first)
expect_hits("after clean" 3 0)

foreach(cache IN ITEMS AUTO OFF)
  configure("${code}" ARGS -DCUDAOPS_CACHE=${cache})
  case_build()
  hits(hit missed)
  case_build()
  case_match("nothing to do, cache ${cache}" "${case_STEP_STDOUT}" "no work to do")
  file(WRITE "${source}/device.h" "#define TIMES 3\n")
  case_build()
  device_code(three)
  if(three STREQUAL two)
    case_fail("an edit in a header of device code built nothing, cache ${cache}")
  endif()
  file(WRITE "${source}/device.h" "#define TIMES 2\n")
  case_build()
  device_code(again)
  case_equal("the device code of before, cache ${cache}" "${again}" "${two}")
endforeach()

configure("${code}" ARGS -DCUDAOPS_CACHE=AUTO)
stale_table()
