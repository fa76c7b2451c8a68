# A libtorch zip's build-version, and how +cuXYZ is read.
include("${CMAKE_CURRENT_LIST_DIR}/common/check.cmake")
_cudaops_use(facts/version_text)

foreach(
  row
  IN
  ITEMS
    "2.7.0+cu118|2.7.0|CUDA|11.8|"
    "2.10.0+cu128|2.10.0|CUDA|12.8|"
    "2.15.0+cu132|2.15.0|CUDA|13.2|"
    "2.15.0+CU130|2.15.0|CUDA|13.0|"
    "1.8.0+cu101|1.8.0|CUDA|10.1|"
    "1.2.0+cu92|1.2.0|CUDA|9.2|"
    "3.0.0+cu1210|3.0.0|CUDA|12.10|"
    "1.13.1+cu117.with.pypi.cudnn|1.13.1|CUDA|11.7|"
    "2.9.0+cu128_full|2.9.0|CUDA|12.8|"
    "2.16.0.dev20260101+cu132|2.16.0|CUDA|13.2|"
    "2.7.0+cpu|2.7.0|CPU||"
    "2.7.0+cpu.cxx11.abi|2.7.0|CPU||"
    "2.9.0+xpu|2.9.0|CPU||"
    "2.7.0+rocm6.4|2.7.0|HIP||6.4"
    "2.9.0+rocm7.0.2|2.9.0|HIP||7.0.2"
    "2.11.0|2.11.0|UNKNOWN||"
    "2.11.0a0+git1234|2.11.0|UNKNOWN||"
    "2.3.0a0+40ec155e58.nv24.3|2.3.0|UNKNOWN||"
    "2.7.0+custom1|2.7.0|UNKNOWN||"
)
  string(REGEX MATCH "^[^|]*" text "${row}")
  foreach(end IN ITEMS "" "\n" "\r\n" " \n\n")
    _cudaops_read_build_version("${end}${text}${end}" v)
    check_equal("${text}" "${v_VERSION}|${v_RELEASE}|${v_KIND}|${v_CUDA}|${v_HIP}|${v_ERROR}" "${row}|")
  endforeach()
endforeach()
foreach(
  digits
  IN
  ITEMS 1 12 69 012 1205 12100 130000
)
  _cudaops_read_build_version("2.7.0+cu${digits}" v)
  check_equal("+cu${digits}" "${v_VERSION}|${v_RELEASE}|${v_KIND}|${v_CUDA}|${v_HIP}|${v_ERROR}"
    "|||||build-version names no CUDA version that can be read from +cu${digits}."
  )
endforeach()
foreach(
  text
  IN
  ITEMS "" "\n" "2" "libtorch" "2.7.0 +cu128" "2.7.0+" "2.7.0\n2.8.0" "2.7;0" "<html>"
)
  _cudaops_read_build_version("${text}" v)
  check_equal("[${text}]" "${v_VERSION}|${v_RELEASE}|${v_KIND}|${v_CUDA}|${v_HIP}|${v_ERROR}"
    "|||||build-version holds no version."
  )
endforeach()
