# torch/version.py in every shape that was seen, and in shapes that must be refused in one sentence.
include("${CMAKE_CURRENT_LIST_DIR}/common/check.cmake")
_cudaops_use(facts/version_text)

function(
  reads
  what
  text
  version
  release
  kind
  cuda
  hip
  git
)
  _cudaops_read_torch_version("${text}" v)
  check_equal("${what}" "${v_VERSION}|${v_RELEASE}|${v_KIND}|${v_CUDA}|${v_HIP}|${v_GIT}|${v_ERROR}"
    "${version}|${release}|${kind}|${cuda}|${hip}|${git}|"
  )
endfunction()
function(refuses what text error)
  _cudaops_read_torch_version("${text}" v)
  check_equal("${what}" "${v_VERSION}|${v_RELEASE}|${v_KIND}|${v_CUDA}|${v_HIP}|${v_GIT}|${v_ERROR}"
    "||||||torch/version.py ${error}"
  )
endfunction()

set(
  start
  "from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip', 'rocm', 'xpu']\n"
)
set(
  cuda
  "__version__ = '2.15.0+cu132'\ndebug = False\ncuda: Optional[str] = '13.2'\ngit_version = 'd0f2'\nhip: Optional[str] = None\n"
)
reads("2.15" "${start}${cuda}rocm: Optional[str] = None\nxpu: Optional[str] = None\n" 2.15.0+cu132 2.15.0 CUDA 13.2 "" d0f2)
string(REPLACE "\n" "\r\n" crlf "${start}${cuda}")
reads("CRLF" "${crlf}" 2.15.0+cu132 2.15.0 CUDA 13.2 "" d0f2)
string(REPLACE "'" "\"" quotes "${start}${cuda}")
reads("double quotes" "${quotes}" 2.15.0+cu132 2.15.0 CUDA 13.2 "" d0f2)
string(ASCII 239 187 191 bom)
reads("byte order mark" "${bom}${cuda}" 2.15.0+cu132 2.15.0 CUDA 13.2 "" d0f2)
reads("no annotations, no line end" "__version__='1.10.0'\ncuda='11.3'" 1.10.0 1.10.0 CUDA 11.3 "" "")
reads("CPU" "__version__ = '2.9.1+cpu'\ncuda: Optional[str] = None\nhip: Optional[str] = None\n" 2.9.1+cpu 2.9.1 CPU "" "" "")
reads("ROCm" "__version__ = '2.9.1+rocm6.4'\ncuda = None\nhip = '6.4.43482-0f2d60242'\n" 2.9.1+rocm6.4 2.9.1 HIP "" 6.4.43482-0f2d60242 "")
reads("empty string for None" "__version__ = '2.9.1'\ncuda = ''\nhip = ''\n" 2.9.1 2.9.1 CPU "" "" "")
foreach(
  version
  IN
  ITEMS 2.16.0.dev20260101+cu132 2.11.0a0+git1234 2.1.0a0+40ec155e58.nv24.03 2.0.0rc1 2.5.1.post303 2.0.0.post1.dev2
)
  string(REGEX MATCH "^[0-9.]*[0-9]" release "${version}")
  reads("${version}" "__version__ = '${version}'\ncuda = '13.2'\nhip = None\n" "${version}" "${release}" CUDA 13.2 "" "")
endforeach()
reads("the last assignment counts" "cuda = None\n${cuda}cuda = '13.0'  # patched\n" 2.15.0+cu132 2.15.0 CUDA 13.0 "" d0f2
)
reads("trailing junk" "${cuda}\nif True:\n  cuda = 3\n\\ ; [ ] #{} \${x} @y@ \"\n" 2.15.0+cu132 2.15.0 CUDA 13.2 "" d0f2
)
reads("names that begin alike" "${cuda}cuda_home = 7\nhipify = 8\n" 2.15.0+cu132 2.15.0 CUDA 13.2 "" d0f2)
reads("a commit that is none" "__version__ = '2.9.1'\ncuda = None\ngit_version = 'a b'\n" 2.9.1 2.9.1 CPU "" "" "")

refuses("empty" "" "sets no __version__.")
refuses("another file" "import os\nprint('2.15.0')\n" "sets no __version__.")
refuses("half a file" "__version__ = '2.15.0+cu132'\ndebug = Fa" "does not say which CUDA torch was built with (no line sets cuda).")
refuses("cut in a string" "__version__ = '2.15.0+cu132'\ncuda: Optional[str] = '13." "sets cuda to something that is neither a string nor None.")
refuses("a number" "__version__ = '2.15.0'\ncuda = 13.2\n" "sets cuda to something that is neither a string nor None.")
refuses("computed" "__version__ = get()\ncuda = None\n" "sets __version__ to something that is neither a string nor None.")
refuses("not a version" "__version__ = 'unknown'\ncuda = None\n" "holds a __version__ that is no version.")
refuses("with a list separator" "__version__ = '2.15;0'\ncuda = None\n" "holds a __version__ that is no version.")
refuses("None" "__version__ = None\ncuda = None\n" "holds a __version__ that is no version.")
refuses("cuda is text" "__version__ = '2.15.0'\ncuda = 'yes'\n" "holds a cuda that is no version.")
refuses("cuda without minor" "__version__ = '2.15.0'\ncuda = '13'\n" "holds a cuda that is no version.")
refuses("hip is text" "__version__ = '2.15.0'\ncuda = None\nhip = 'yes'\n" "holds a hip that is no version.")
refuses("both" "__version__ = '2.15.0'\ncuda = '13.2'\nhip = '6.4'\n" "names both a CUDA and a HIP version.")
