# SPDX-License-Identifier: Apache-2.0
# What the report says of the match.

_cudaops_use(base/package base/state base/text)

# _cudaops_report_match(): REPORT_HEAD and REPORT_MATCH of the state, the members of the report before and after its error.
function(_cudaops_report_match)
  set(keys "VERDICT;REASON_CODE;REASON;BACKEND;TORCH_VERSION;TORCH_CUDA;TORCH_HIP;TORCH_DIR;PYTHON_EXECUTABLE")
  list(
    APPEND keys
    "TOOLKIT_VERSION;TOOLKIT_ROOT;TOOLKIT_NVCC;TOOLKIT_SOURCE;ROCM_VERSION;ROCM_ROOT;ROCM_COMPILER;ROCM_SOURCE"
  )
  list(APPEND keys "HOST_COMPILER;HOST_COMPILER_ID;HOST_COMPILER_VERSION;ARCHITECTURES_REQUESTED;ARCHITECTURES_SOURCE")
  foreach(key IN LISTS keys)
    _cudaops_state_get(${key} value)
    _cudaops_json_quote(${key} "${value}")
    # None, not "", where there is nothing: torch.version.cuda says None too.
    if(value STREQUAL "" AND key MATCHES "^(TORCH_CUDA|TORCH_HIP)$")
      set(${key} "null")
    endif()
  endforeach()
  _cudaops_state_get(PACKAGE_DIR package)
  set(version "")
  if(package)
    _cudaops_package_version("${package}" version)
  endif()
  _cudaops_json_quote(version "${version}")
  _cudaops_state_get(ARCHITECTURES archs)
  _cudaops_json_list(archs "${archs}")

  set(candidates "")
  set(compiler nvcc)
  if(ROCM_COMPILER MATCHES "[^\"]")
    set(compiler compiler)
  endif()
  _cudaops_state_get(CANDIDATES rows)
  foreach(row IN LISTS rows)
    string(REPLACE "|" ";" cells "${row}")
    set(line "")
    list(LENGTH cells count)
    set(names "${compiler};version;source;verdict;problem")
    foreach(i RANGE 0 4)
      set(cell "")
      if(i LESS count)
        list(GET cells ${i} cell)
      endif()
      list(GET names ${i} name)
      _cudaops_json_quote(cell "${cell}")
      list(APPEND line "\"${name}\": ${cell}")
    endforeach()
    list(JOIN line ", " line)
    list(APPEND candidates "    { ${line} }")
  endforeach()
  list(JOIN candidates ",\n" candidates)

  if(NOT candidates STREQUAL "")
    set(candidates "\n${candidates}\n  ")
  endif()
  set(
    head
    "{\n  \"cudaops\": ${version},\n  \"backend\": ${BACKEND},\n  \"verdict\": ${VERDICT},\n  \"reason_code\": ${REASON_CODE},\n"
  )
  string(APPEND head "  \"reason\": ${REASON},\n")
  set(text "")
  string(
    APPEND text
    "  \"torch\": { \"version\": ${TORCH_VERSION}, \"cuda\": ${TORCH_CUDA}, \"hip\": ${TORCH_HIP}, \"dir\": ${TORCH_DIR}, \"python\": ${PYTHON_EXECUTABLE} },\n"
  )
  string(
    APPEND text
    "  \"toolkit\": { \"version\": ${TOOLKIT_VERSION}, \"root\": ${TOOLKIT_ROOT}, \"nvcc\": ${TOOLKIT_NVCC}, \"source\": ${TOOLKIT_SOURCE} },\n"
  )
  string(
    APPEND text
    "  \"rocm\": { \"version\": ${ROCM_VERSION}, \"root\": ${ROCM_ROOT}, \"compiler\": ${ROCM_COMPILER}, \"source\": ${ROCM_SOURCE} },\n"
  )
  string(APPEND text "  \"candidates\": [${candidates}],\n")
  string(
    APPEND text
    "  \"host_compiler\": { \"path\": ${HOST_COMPILER}, \"id\": ${HOST_COMPILER_ID}, \"version\": ${HOST_COMPILER_VERSION} },\n"
  )
  string(
    APPEND text
    "  \"architectures\": { \"requested\": ${ARCHITECTURES_REQUESTED}, \"source\": ${ARCHITECTURES_SOURCE}, \"resolved\": ${archs} },\n"
  )
  _cudaops_state_set(REPORT_HEAD "${head}")
  _cudaops_state_set(REPORT_MATCH "${text}")
endfunction()
