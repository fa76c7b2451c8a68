# SPDX-License-Identifier: Apache-2.0
# What a built library says of itself, read from the file by cudaops/inspect_library.py: the architectures of its
# device code (fatbins of CUDA, bundles of HIP) and the libraries that it needs.

_cudaops_use(base/probe base/programs base/replay base/state)

# _cudaops_torch_archs(<out> <cuda|hip>): what torch's device library was built for, plain; empty where it can't be read.
function(_cudaops_torch_archs out kind)
  _cudaops_replay_begin(TORCH_ARCHS_${kind} known)
  if(NOT known)
    _cudaops_state_get(TORCH_LIB_DIR lib)
    _cudaops_python_tool(python)
    _cudaops_library_facts(archs "${lib}/libtorch_${kind}.so" "${python}" --common-archs)
    _cudaops_state_set(TORCH_ARCHS_${kind} "${archs}")
    _cudaops_replay_end(TORCH_ARCHS_${kind} TORCH_ARCHS_${kind})
  endif()
  _cudaops_state_get(TORCH_ARCHS_${kind} archs)
  set(${out} "${archs}" PARENT_SCOPE)
endfunction()

# _cudaops_library_facts(<out> <file> <python> --common-archs|--needed): a list; empty where the file can't be read.
#
#   --common-archs  the architectures that nearly all device code of <file> was built for, as plain numbers ("75;80;90")
#                   or names of AMD's ("gfx90a;gfx942"). Made for libtorch_cuda.so, of which a few files are built for
#                   90a or 103f besides, which says nothing of where torch runs; and for libtorch_hip.so
#   --needed        the SONAMEs that <file> links, such as libcublas.so.13
function(_cudaops_library_facts out file python option)
  set(found "")
  if(python AND EXISTS "${file}")
    _cudaops_python_command(command "${python}" inspect_library)
    _cudaops_python_package(package)
    set(
      modules
      inspect_library.py
      binaries/elf.py
      binaries/fatbin.py
      binaries/hip_bundles.py
      binaries/unpack.py
    )
    list(TRANSFORM modules PREPEND "${package}/")
    _cudaops_probe(probe FILES "${file}" ${modules} MACHINE COMMAND ${command} "${file}" ${option})
    if(probe_EXIT STREQUAL "0")
      string(REGEX MATCHALL "[^,\r\n]+" found "${probe_OUTPUT}")
    endif()
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()
