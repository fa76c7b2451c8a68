# The line of a compiler's output that says what is wrong, wherever the compiler and the sources stand.
include("${CMAKE_CURRENT_LIST_DIR}/common/check.cmake")
_cudaops_use(base/text)

function(reads text line)
  _cudaops_error_line("${text}" out)
  check_equal("[${text}]" "${out}" "${line}")
endfunction()
set(from "In file included from /error/fatal/x.cu:1:\n                 from /error/a.h:2,\n")
foreach(
  line
  IN
  ITEMS
    "/error/b.h:1:2: error: #error is here"
    "/error/b.h:1:10: fatal error: no.h: No such file or directory"
    "/error/x.cu(3): error: identifier \"a\" is undefined"
    "/error/x.cu(3): error #70-D: incomplete type is not allowed"
    "nvcc fatal   : Unsupported gpu architecture 'compute_10'"
    "nvcc error   : 'cudafe++' died due to signal 9 (Kill signal)"
    "ptxas /error/x.ptx, line 9; fatal   : Unsupported .version 8.8; current version is 8.4"
    "collect2: error: ld returned 1 exit status"
    "Error: no license"
)
  reads("${from}${line}\n1 error generated.\n" "${line}")
endforeach()
reads(
  "/usr/bin/ld: final link failed: No space left on device\ncollect2: error: ld returned 1 exit status\n"
  "/usr/bin/ld: final link failed: No space left on device"
)
reads(
  "/usr/bin/ld: main.o: in function `main':\nmain.cpp:(.text+0x5): undefined reference to `f()'\ncollect2: error: ld returned 1 exit status\n"
  "main.cpp:(.text+0x5): undefined reference to `f()'"
)
reads(
  "/usr/bin/ld: skipping incompatible /a/libz.so when searching for -lz\n/usr/bin/ld: cannot find -lz\nclang: error: linker command failed with exit code 1\n"
  "/usr/bin/ld: cannot find -lz"
)
# Words of no compiler: the first line.
reads("\n  sh: /error/nvcc: not found\nand more\n" "sh: /error/nvcc: not found")
reads("" "")
