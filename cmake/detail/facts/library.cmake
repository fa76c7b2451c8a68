# SPDX-License-Identifier: Apache-2.0
# What a built library says of itself, read from the file by cudaops/inspect_library.py: the architectures of its
# device code (fatbins of CUDA, bundles of HIP) and the libraries that it needs.

_cudaops_use(base/probe base/programs base/replay base/state)

# _cudaops_fatbin_archs(<out> <file> PYTHON <python>)
#
# The architectures that nearly all device code of <file> was built for, as plain numbers ("75;80;90") or names of AMD's
# ("gfx90a;gfx942"); empty where there is none or the file can't be read whole. Made for libtorch_cuda.so: a few of its
# files are built for 90a or 103f besides, which says nothing of where torch runs; and for libtorch_hip.so.
function(_cudaops_fatbin_archs out file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "PYTHON" "")
  _cudaops_inspect_list(archs "${file}" "${arg_PYTHON}" --common-archs)
  set(${out} "${archs}" PARENT_SCOPE)
endfunction()

# _cudaops_torch_archs(<out> <cuda|hip>): what torch's device library was built for, plain; empty where it can't be read.
function(_cudaops_torch_archs out kind)
  _cudaops_replay_begin(TORCH_ARCHS_${kind} known)
  if(NOT known)
    _cudaops_state_get(TORCH_LIB_DIR lib)
    _cudaops_python_tool(python)
    _cudaops_fatbin_archs(archs "${lib}/libtorch_${kind}.so" PYTHON "${python}")
    _cudaops_state_set(TORCH_ARCHS_${kind} "${archs}")
    _cudaops_replay_end(TORCH_ARCHS_${kind} TORCH_ARCHS_${kind})
  endif()
  _cudaops_state_get(TORCH_ARCHS_${kind} archs)
  set(${out} "${archs}" PARENT_SCOPE)
endfunction()

# _cudaops_needed(<out> <file> PYTHON <python>): the SONAMEs that <file> links, such as libcublas.so.13.
function(_cudaops_needed out file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "PYTHON" "")
  _cudaops_inspect_list(needed "${file}" "${arg_PYTHON}" --needed)
  set(${out} "${needed}" PARENT_SCOPE)
endfunction()

# _cudaops_inspect_list(<out> <file> <python> <option>): what the reader answers, as a list; empty where it can't.
function(_cudaops_inspect_list out file python option)
  set(found "")
  if(python AND EXISTS "${file}")
    _cudaops_python_command(command "${python}" inspect_library)
    _cudaops_python_package(package)
    set(
      modules
      inspect_library.py
      elf.py
      fatbin.py
      hip_bundles.py
      unpack.py
    )
    list(TRANSFORM modules PREPEND "${package}/")
    _cudaops_probe(probe FILES "${file}" ${modules} MACHINE COMMAND ${command} "${file}" ${option})
    if(probe_EXIT STREQUAL "0")
      string(REGEX MATCHALL "[^,\r\n]+" found "${probe_OUTPUT}")
    endif()
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()
