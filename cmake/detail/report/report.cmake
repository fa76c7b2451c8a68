# SPDX-License-Identifier: Apache-2.0
# One report a build tree: a table at the end of the top-level configure, and cudaops-report.json in the top build
# directory.

_cudaops_use(base/hooks base/message base/package base/paths base/state base/text op/finish)

# _cudaops_report_finish(): the report of a configure that came to its end.
function(_cudaops_report_finish)
  _cudaops_report_write()
  _cudaops_report_table()
endfunction()
_cudaops_on(report _cudaops_report_finish)

# _cudaops_report_stop(): of one that is about to stop; deferred calls don't run after a fatal error.
function(_cudaops_report_stop)
  _cudaops_announce(report_members)
  _cudaops_state_get(STOP_TEXT text)
  _cudaops_report_write(ERROR "${text}")
endfunction()
_cudaops_on(stop _cudaops_report_stop)

# _cudaops_match_summary(<first>): what was matched, in two lines, at the first call.
function(_cudaops_match_summary first)
  if(NOT first)
    return()
  endif()
  _cudaops_state_get(TORCH_VERSION torch)
  _cudaops_state_get(TORCH_SOURCE torch_source)
  _cudaops_state_get(TOOLKIT_VERSION toolkit)
  _cudaops_state_get(TOOLKIT_ROOT root)
  _cudaops_state_get(TOOLKIT_SOURCE source)
  _cudaops_state_get(VERDICT verdict)
  _cudaops_state_get(REASON_CODE code)
  _cudaops_state_get(REASON reason)
  _cudaops_state_get(BACKEND backend)
  _cudaops_state_get(TORCH_PROBLEM problem)
  set(about_torch "no torch")
  if(torch)
    set(about_torch "torch ${torch} (${torch_source})")
    if(problem)
      string(APPEND about_torch ", incomplete: ${problem}")
    endif()
  endif()
  if(backend STREQUAL "CUDA")
    _cudaops_state_get(ARCHITECTURES archs)
    _cudaops_state_get(ARCHITECTURES_SOURCE archs_source)
    list(JOIN archs " " archs)
    if(archs_source STREQUAL "default")
      set(archs_source "default, nothing is requested: common to toolkit and torch")
    endif()
    _cudaops_status("CudaTorchMatch: ${about_torch}; CUDA ${toolkit} at ${root} (${source}): ${verdict}")
    _cudaops_status("CudaTorchMatch: architectures ${archs} (${archs_source})")
  elseif(backend STREQUAL "HIP")
    foreach(
      key
      IN
      ITEMS ROCM_VERSION ROCM_ROOT ROCM_SOURCE ARCHITECTURES ARCHITECTURES_SOURCE
    )
      _cudaops_state_get(${key} ${key})
    endforeach()
    list(JOIN ARCHITECTURES " " archs)
    if(ARCHITECTURES_SOURCE STREQUAL "default")
      set(ARCHITECTURES_SOURCE "default, nothing is requested: what torch was built for")
    endif()
    if(verdict STREQUAL "")
      set(verdict NO_TORCH)
    endif()
    _cudaops_status("CudaTorchMatch: ${about_torch}; ROCm ${ROCM_VERSION} at ${ROCM_ROOT} (${ROCM_SOURCE}): ${verdict}")
    _cudaops_status("CudaTorchMatch: architectures ${archs} (${ARCHITECTURES_SOURCE})")
  else()
    set(short "no toolkit")
    if(NOT code STREQUAL "NO_TOOLKIT")
      string(TOLOWER "${code}" short)
      string(REPLACE "_" " " short "${short}")
    endif()
    _cudaops_state_get(TORCH_KIND kind)
    set(gpu CUDA)
    if(kind STREQUAL "HIP")
      set(gpu HIP)
    endif()
    _cudaops_status("CudaTorchMatch: ${about_torch}; ${gpu}: off (${short}): ${reason}")
  endif()
endfunction()

# _cudaops_report_write([ERROR <text>]): cudaops-report.json. Rewritten only when it changes.
function(_cudaops_report_write)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "ERROR" "")
  foreach(
    key
    IN
    ITEMS
      VERDICT
      REASON_CODE
      REASON
      TORCH_VERSION
      TORCH_CUDA
      TORCH_HIP
      TORCH_DIR
      PYTHON_EXECUTABLE
      TOOLKIT_VERSION
      TOOLKIT_ROOT
      TOOLKIT_NVCC
      TOOLKIT_SOURCE
      BACKEND
      ROCM_VERSION
      ROCM_ROOT
      ROCM_COMPILER
      ROCM_SOURCE
      HOST_COMPILER
      HOST_COMPILER_ID
      HOST_COMPILER_VERSION
      ARCHITECTURES_REQUESTED
      ARCHITECTURES_SOURCE
  )
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
    set(
      names
      ${compiler}
      version
      source
      verdict
      problem
    )
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

  foreach(kind IN ITEMS OPS KERNELS)
    set(rows "")
    _cudaops_state_get(${kind} targets)
    foreach(target IN LISTS targets)
      _cudaops_report_target(${target} ${kind} row)
      list(APPEND rows "    ${row}")
    endforeach()
    list(JOIN rows ",\n" rows)
    if(NOT rows STREQUAL "")
      set(rows "\n${rows}\n  ")
    endif()
    set(${kind} "${rows}")
  endforeach()
  if(NOT candidates STREQUAL "")
    set(candidates "\n${candidates}\n  ")
  endif()
  set(error "")
  if(NOT "${arg_ERROR}" STREQUAL "")
    _cudaops_json_quote(error "${arg_ERROR}")
    set(error "  \"error\": ${error},\n")
  endif()

  set(
    text
    "{\n  \"cudaops\": ${version},\n  \"backend\": ${BACKEND},\n  \"verdict\": ${VERDICT},\n  \"reason_code\": ${REASON_CODE},\n"
  )
  string(APPEND text "  \"reason\": ${REASON},\n${error}")
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
  _cudaops_state_get(REPORT_MEMBERS members)
  string(APPEND text "${members}")
  string(APPEND text "  \"ops\": [${OPS}],\n  \"kernels\": [${KERNELS}]\n}\n")

  _cudaops_top_directories(source build)
  set(file "${build}/cudaops-report.json")
  if(EXISTS "${file}")
    file(READ "${file}" old)
    if(old STREQUAL text)
      return()
    endif()
  endif()
  file(WRITE "${file}" "${text}")
endfunction()

# One op or kernels target as a JSON object on one line.
function(_cudaops_report_target target kind out)
  foreach(
    key
    IN
    ITEMS STATE REASON_CODE REASON ABI TORCH_TARGET ARCHITECTURES
  )
    _cudaops_target_get(${target} ${key} value)
    set(${key} "${value}")
  endforeach()
  _cudaops_json_quote(name "${target}")
  _cudaops_json_quote(reason "${REASON}")
  _cudaops_json_list(archs "${ARCHITECTURES}")
  set(row "\"name\": ${name}, \"state\": \"${STATE}\", \"reason_code\": \"${REASON_CODE}\", \"reason\": ${reason}")
  if(kind STREQUAL "OPS")
    _cudaops_op_library_path(${target} library)
    _cudaops_json_quote(library "${library}")
    string(APPEND row ", \"abi\": \"${ABI}\", \"torch_target\": \"${TORCH_TARGET}\", \"architectures\": ${archs}")
    string(APPEND row ", \"library\": ${library}")
  else()
    string(APPEND row ", \"architectures\": ${archs}")
  endif()
  set(${out} "{ ${row} }" PARENT_SCOPE)
endfunction()

# The table that ends the configure step.
function(_cudaops_report_table)
  _cudaops_state_get(OPS ops)
  _cudaops_state_get(KERNELS kernels)
  _cudaops_state_get(REPORT_LINE line)
  if(NOT ops AND NOT kernels)
    if(line)
      _cudaops_status("CudaOps: ${line}")
    endif()
    return()
  endif()
  set(width 4)
  foreach(target IN LISTS ops kernels)
    string(LENGTH "${target}" length)
    if(length GREATER width)
      set(width ${length})
    endif()
  endforeach()
  set(text "CudaOps:")
  foreach(kind IN ITEMS ops kernels)
    foreach(target IN LISTS ${kind})
      foreach(
        key
        IN
        ITEMS STATE REASON_CODE REASON ABI TORCH_TARGET ARCHITECTURES
      )
        _cudaops_target_get(${target} ${key} value)
        set(${key} "${value}")
      endforeach()
      string(LENGTH "${target}" length)
      math(EXPR pad "${width} - ${length} + 2")
      string(REPEAT " " ${pad} pad)
      string(LENGTH "${STATE}" length)
      math(EXPR state_pad "11 - ${length}")
      string(REPEAT " " ${state_pad} state_pad)
      set(detail "")
      if(kind STREQUAL "ops")
        set(detail "${ABI}")
        if(TORCH_TARGET)
          string(APPEND detail " ${TORCH_TARGET}")
        endif()
      else()
        set(detail "kernels")
      endif()
      if(ARCHITECTURES)
        list(JOIN ARCHITECTURES " " archs)
        string(APPEND detail "  ${archs}")
      endif()
      if(REASON_CODE)
        string(APPEND detail "  ${REASON_CODE}: ${REASON}")
      endif()
      string(APPEND text "\n     ${target}${pad}${STATE}${state_pad}${detail}")
    endforeach()
  endforeach()
  if(line)
    string(APPEND text "\n     ${line}")
  endif()
  _cudaops_status("${text}")
endfunction()
