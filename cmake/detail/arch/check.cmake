# SPDX-License-Identifier: Apache-2.0
# The architectures that a user gives a target, or a directory.

_cudaops_use(arch/cuda arch/grammar arch/select arch/spell base/message base/state)

# _cudaops_arch_check_target(<target> <out> <given> <arch>...)
#
# The canonical entries of what cudaops_target_architectures() is given, <given> FALSE where that is nothing at all; what
# can't be read or built ends the configure.
function(_cudaops_arch_check_target target out given)
  _cudaops_arch_parse("${ARGN}" entries error meant)
  if(NOT error AND entries STREQUAL "")
    set(error "no architecture is given.")
  elseif(NOT error AND entries MATCHES "(^|;)(native|all|all-major|common)(;|$)")
    set(error "${CMAKE_MATCH_2} needs a toolkit to mean something.")
  endif()
  if(error)
    set(fact "")
    if(given)
      string(REPLACE ";" " " found "${ARGN}")
      set(fact "found   ${found}")
    endif()
    set(
      fix
      "cudaops_resolve_architectures(archs REQUEST <arch>...)"
      "cudaops_target_architectures(${target} \${archs})"
    )
    if(NOT meant STREQUAL "")
      list(JOIN meant " " meant)
      set(fix "cudaops_target_architectures(${target} ${meant})")
    endif()
    _cudaops_stop(
      "cudaops_target_architectures(${target}): ${error}"
      FACTS "${fact}" "wanted  what cudaops_resolve_architectures() gives, or a list such as 80 90a"
      FIX ${fix}
    )
  endif()
  _cudaops_state_get(TOOLKIT_ARCHS supported)
  _cudaops_state_get(TOOLKIT_VERSION version)
  _cudaops_state_get(TOOLKIT_ROOT root)
  if(supported STREQUAL "" AND "${CMAKE_CUDA_COMPILER_ID}" STREQUAL "NVIDIA")
    # A project that has enabled CUDA by itself.
    _cudaops_arch_ask_nvcc(supported "${CMAKE_CUDA_COMPILER}")
    set(version "${CMAKE_CUDA_COMPILER_VERSION}")
    set(root "${CMAKE_CUDA_COMPILER_TOOLKIT_ROOT}")
  endif()
  string(REPLACE ";" " " text "${ARGN}")
  _cudaops_arch_check(
    check
    ENTRIES ${entries}
    SUPPORTED ${supported}
    TOOLKIT_VERSION "${version}"
    TOOLKIT_ROOT "${root}"
    REQUESTED "${text}"
    SOURCE "this call"
  )
  _cudaops_arch_stop_unless_built("cudaops_target_architectures(${target})" "cudaops_target_architectures(${target} @)")
  set(${out} "${entries}" PARENT_SCOPE)
endfunction()

# _cudaops_arch_warn_of_change(<command>)
#
# CMAKE_CUDA_ARCHITECTURES of a directory, set after find_package(CudaTorchMatch), means nothing to <command>.
function(_cudaops_arch_warn_of_change command)
  set(value "${CMAKE_CUDA_ARCHITECTURES}")
  _cudaops_state_get(ARCHITECTURES archs)
  _cudaops_state_get(ARCHITECTURES_REQUESTED requested)
  # In another directory than that of find_package() it is still what was asked for.
  if(value STREQUAL "$CACHE{CMAKE_CUDA_ARCHITECTURES}" OR value STREQUAL requested)
    return()
  endif()
  _cudaops_arch_parse("${value}" entries error meant)
  if(NOT error)
    _cudaops_use(arch/request)
    _cudaops_arch_same("${entries}" "${archs}" same)
    if(same)
      return()
    endif()
  endif()
  _cudaops_state_get(ARCHITECTURES_SOURCE source)
  string(REPLACE ";" " " found "${value}")
  list(JOIN archs " " archs)
  _cudaops_warn(
    "${command}: CMAKE_CUDA_ARCHITECTURES was set after find_package(CudaTorchMatch), which has chosen for the whole build."
    FACTS "found   ${found}" "built   ${archs} (${source})"
    FIX "set(CMAKE_CUDA_ARCHITECTURES ${found})   (before find_package(CudaTorchMatch))"
  )
endfunction()
