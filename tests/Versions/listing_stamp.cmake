# What is kept of a directory is told to be old by the names in it, whatever its own name holds.
include("${CMAKE_CURRENT_LIST_DIR}/common/check.cmake")
_cudaops_use(base/stamps)

foreach(
  name
  IN
  ITEMS plain "[x]" "a*" "b?" "c [1"
)
  set(dir "${case_DIR}/listing/${name}")
  foreach(file IN ITEMS one two)
    file(WRITE "${dir}/${file}" "")
    # Images and packages set all times to one.
    execute_process(COMMAND touch -d @1 "${dir}" COMMAND_ERROR_IS_FATAL ANY)
    _cudaops_listing_stamp("${dir}" stamp_${file})
  endforeach()
  if(stamp_one STREQUAL stamp_two)
    message(FATAL_ERROR "${name}: ${stamp_one}")
  endif()
endforeach()
