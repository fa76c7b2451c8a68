# None on PATH: built as ever, the report says why, nothing else does.
host_kernels()
case_configure()
refuse_stdout("ccache" "compiler cache")
case_report_equal("" cache launcher)
case_report_equal("neither ccache nor sccache on PATH" cache problem)
case_build(ARGS --verbose)
refuse_stdout("cudaops-launch\"? \"?[^ ]*\\.cxx\\.settings")
