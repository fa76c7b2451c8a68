# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
CudaOpsShard
------------

Distributes the instantiations of a template over several files, which compile in parallel.

.. command:: cudaops_shard_instantiations

  .. code-block:: cmake

    cudaops_shard_instantiations(<out-var>
      TEMPLATE <file.cuh> INSTANTIATIONS <instantiation>... [FILES <n>])

  Makes ``.cu`` files in ``${CMAKE_CURRENT_BINARY_DIR}/<out-var>.shards`` and sets ``<out-var>`` to them: sources for
  :command:`cudaops_add_kernels`, :command:`add_torch_op` or a target of your own, in this directory. Each includes
  ``TEMPLATE`` and instantiates its share. A file is written only when its text changes, and compiling it again gives
  the same device code. The second call in a directory with the same ``<out-var>`` writes to ``<out-var>_2.shards``.

  ``TEMPLATE``
    The header that defines the template.
  ``INSTANTIATIONS``
    Explicit instantiation definitions, such as ``"template void attend<half, 64>(const half*, int, cudaStream_t)"``;
    with or without the semicolon. Other files then only declare what they call: ``extern template …``, or a header
    that has the template's declaration alone.
  ``FILES``
    Number of files. Default: one for each instantiation, up to 16. It depends on the list and not on the cores of the
    machine, so that machines can share a compiler cache, and an instantiation that is added at the end changes one
    file.

For HIP, the template is translated as any header of the project is.

Example:

.. code-block:: cmake

  foreach(type IN ITEMS float __half __nv_bfloat16)
    foreach(size IN ITEMS 64 128 256)
      list(APPEND instantiations "template void attend<${type}, ${size}>(const ${type}*, int, cudaStream_t)")
    endforeach()
  endforeach()
  cudaops_shard_instantiations(shards TEMPLATE attend.cuh INSTANTIATIONS ${instantiations})
  cudaops_add_kernels(attention SOURCES attention.cu ${shards})
#]=======================================================================]

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)
# An empty value of a keyword is a value.
if(POLICY CMP0174)
  cmake_policy(SET CMP0174 NEW)
endif()

if(NOT COMMAND _cudaops_use)
  include("${CMAKE_CURRENT_LIST_DIR}/detail/base/use.cmake")
endif()
_cudaops_use(base/message base/state op/arguments)

function(cudaops_shard_instantiations)
  list(APPEND CMAKE_MESSAGE_CONTEXT "CudaOps.cudaops_shard_instantiations")
  set(singles TEMPLATE FILES)
  set(lists INSTANTIATIONS)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "${singles}" "${lists}")
  _cudaops_first_argument(out ${ARGC} "${ARGV0}")
  set(
    usage
    "cudaops_shard_instantiations(<out-var>"
    "  TEMPLATE <file.cuh> INSTANTIATIONS <instantiation>... [FILES <n>])"
  )
  _cudaops_check_variable(cudaops_shard_instantiations "${out}" KEYWORDS ${lists} ${singles} USAGE ${usage})
  set(command "cudaops_shard_instantiations(${out})")
  _cudaops_check_keywords("${command}" "${ARGV}" SINGLES ${singles} LISTS ${lists} REQUIRED TEMPLATE INSTANTIATIONS USAGE ${usage})
  set(template "${arg_TEMPLATE}")
  cmake_path(ABSOLUTE_PATH template BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  if(NOT EXISTS "${template}" OR IS_DIRECTORY "${template}" OR NOT template MATCHES "\\.(cuh|h|hh|hpp|hxx|inl|inc)$")
    _cudaops_stop(
      "${command}: TEMPLATE is no header that is there."
      FACTS "found   ${template}" "wanted  the file that defines the template: .cuh .h .hpp .inl"
      FIX "TEMPLATE <file.cuh>"
    )
  endif()
  if(DEFINED arg_FILES AND NOT arg_FILES MATCHES "^[1-9][0-9]?[0-9]?$")
    _cudaops_stop("${command}: FILES is no number of files." FACTS "found   ${arg_FILES}" "wanted  1 to 999" FIX "leave FILES out")
  endif()

  set(lines "")
  foreach(line IN LISTS arg_INSTANTIATIONS)
    string(REGEX REPLACE "^[ \t\r\n]+|[; \t\r\n]+$" "" line "${line}")
    if(line STREQUAL "")
      continue()
    endif()
    if(NOT line MATCHES "^template[ \t\r\n]+[^< \t\r\n]" OR line MATCHES "[{};]")
      _cudaops_stop(
        "${command}: INSTANTIATIONS contains something other than an explicit instantiation."
        FACTS "found   ${line}" "wanted  template <declaration with its arguments>, without a body"
        FIX "\"template void scale<float>(float*, int)\""
      )
    endif()
    if(line IN_LIST lines)
      _cudaops_stop(
        "${command}: an instantiation is given twice in INSTANTIATIONS."
        FACTS "found   ${line}"
        FIX "leave one of them out"
      )
    endif()
    list(APPEND lines "${line}")
  endforeach()
  list(LENGTH lines count)
  if(count EQUAL 0)
    _cudaops_stop("${command}: INSTANTIATIONS is empty." FIX ${usage})
  endif()
  set(files 16)
  if(DEFINED arg_FILES)
    set(files ${arg_FILES})
  endif()
  if(files GREATER count)
    set(files ${count})
  endif()

  # The header is named without its place, which is another one in each checkout.
  cmake_path(GET template FILENAME header)
  cmake_path(GET template STEM LAST_ONLY stem)
  cmake_path(GET template PARENT_PATH directory)
  string(MAKE_C_IDENTIFIER "${out}" place)
  # A variable may be used again, by a function or a loop: the files of each call are its own.
  _cudaops_state_get(SHARDS taken)
  set(number 1)
  set(name "${place}")
  while("${CMAKE_CURRENT_BINARY_DIR}/${place}" IN_LIST taken)
    math(EXPR number "${number} + 1")
    set(place "${name}_${number}")
  endwhile()
  _cudaops_state_append(SHARDS "${CMAKE_CURRENT_BINARY_DIR}/${place}")
  math(EXPR last "${files} - 1")
  foreach(i RANGE ${last})
    set(text_${i} "#include \"${header}\"\n\n")
  endforeach()
  set(i 0)
  foreach(line IN LISTS lines)
    string(APPEND text_${i} "${line};\n")
    math(EXPR i "(${i} + 1) % ${files}")
  endforeach()
  set(paths "")
  foreach(i RANGE ${last})
    # Where nothing is seen from outside but templates, nvcc calls what is internal after the time and its process.
    set(mark "cudaops_shard_${place}_${i}")
    string(
      APPEND text_${i}
      "\n// Gives what is internal to this file the same name in each compile.\n#pragma weak ${mark}\n"
    )
    string(APPEND text_${i} "extern \"C\" {\n__attribute__((visibility(\"hidden\"))) extern const char ${mark};\n")
    string(APPEND text_${i} "const char ${mark} = 0;\n}\n")
    set(path "${CMAKE_CURRENT_BINARY_DIR}/${place}.shards/${stem}_${i}.cu")
    file(CONFIGURE OUTPUT "${path}" CONTENT "@text_${i}@" @ONLY)
    set_property(SOURCE "${path}" APPEND PROPERTY INCLUDE_DIRECTORIES "${directory}")
    list(APPEND paths "${path}")
  endforeach()
  set(${out} "${paths}" PARENT_SCOPE)
endfunction()
