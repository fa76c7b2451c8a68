# Which complete ones serve which request.
foreach(
  version
  2.15.0-cp311
  2.15.0+cpu-cp312
  2.1.2-cp311
  2.9.1-cp313t
  2.15.0-half
  .part-2.15.0-cp311
)
  file(WRITE "${case_DIR}/store/torch/${version}/.complete" "{}")
  file(WRITE "${case_DIR}/store/torch/${version}/bin/python" "")
endforeach()
file(WRITE "${case_DIR}/store/torch/2.14.0-cp311/bin/python" "") # no stamp
file(WRITE "${case_DIR}/store/torch/2.13.0-cp311/.complete" "") # its python is gone
function(expect version regex)
  call_provide("${version}" _cudaops_provide_torch DEFINE "-DCUDAOPS_TORCH_VERSION=${version}")
  case_match("${version}" "${case_STEP_STDOUT}" "^-- result \\[${case_DIR}/store/torch/${regex}/bin/python\\]")
endfunction()
expect(2.15.0 "2\\.15\\.0-cp311")
expect(2.15.0+cpu "2\\.15\\.0\\+cpu-cp312")
expect(2.1 "2\\.1\\.2-cp311")
expect(2.9.1 "2\\.9\\.1-cp313t")
call_provide(list _cudaops_provided_torch)
string(REGEX REPLACE "[^;[]*/torch/([^/]*)/bin/python" "\\1" short "${case_STEP_STDOUT}")
case_match("list" "${short}" "\\[2\\.15\\.0[^;]*;2\\.15\\.0[^;]*;2\\.9\\.1-cp313t;2\\.1\\.2-cp311\\]")
