# AUTO takes ccache before sccache, and passes over what returns wrong objects, in one line of the table.
fake_cache(sccache 0.16.0)
host_kernels()
case_configure()
case_report_equal(sccache cache launcher)
case_report_equal(0.16.0 cache version)
case_report_equal("" cache problem)
refuse_stdout("sccache")
case_build(ARGS --verbose)
expect_stdout("/CudaOps/cudaops-launch\"? \"?[^ ]*/CudaOps/launch/host\\.cxx\\.settings")

fake_cache(ccache "version 4.14.2")
case_configure(BUILD_DIR "${case_DIR}/two" ARGS -DCUDAOPS_CACHE=)
file(READ "${case_DIR}/two/cudaops-report.json" report)
case_match("the report" "${report}" "\"cache\": { \"launcher\": \"ccache\", \"program\": \"[^\"]*/bin/ccache\", \"version\": \"4.14.2\"")

# Debian's old sccache, and an old ccache.
fake_cache(sccache 0.4.0-pre.6)
fake_cache(ccache "version 4.5.1")
case_configure(BUILD_DIR "${case_DIR}/three")
expect_stdout(
  "no compiler cache: ccache 4\\.5\\.1 \\(.*/bin/ccache\\) returns stale objects for CUDA, 4\\.7\\.5 and newer don't, sccache 0\\.4\\.0 \\(.*/bin/sccache\\) returns stale objects for CUDA, 0\\.10 and newer don't"
)
file(READ "${case_DIR}/three/cudaops-report.json" report)
case_match("the report" "${report}" "\"launcher\": \"\".*\"problem\": \"ccache 4\\.5\\.1 ")
