# SPDX-License-Identifier: Apache-2.0
# What a library's device code (fatbins of CUDA, bundles of HIP) really is for, read from the file by
# cudaops/inspect_library.py: compared with what was asked for, and asked of torch's own library.

_cudaops_use(base/programs facts/library)

# _cudaops_op_audit(<target> EXPECT <sm_XX|compute_XX|gfxXXX[:feature+-]>... PYTHON <python>)
#
# Adds the test <target>.architectures, which fails where one of EXPECT is missing in the built file. More than that is
# no failure: linked libraries bring device code of their own.
function(_cudaops_op_audit target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PYTHON" "EXPECT")
  if(NOT arg_EXPECT OR NOT arg_PYTHON)
    return()
  endif()
  # Commas: a ';' would have to survive ctest's files.
  list(JOIN arg_EXPECT "," expect)
  _cudaops_python_command(command "${arg_PYTHON}" inspect_library)
  add_test(NAME ${target}.architectures COMMAND ${command} $<TARGET_FILE:${target}> --check-archs ${expect})
endfunction()
