# SPDX-License-Identifier: Apache-2.0
# The one place where the version stands: project() and the wheel read the next line.

set(PACKAGE_VERSION "0.1.0")

# Script-only package: the size of a pointer plays no part. Before 1.0 a minor version may break its users, so
# 0.1 is asked for as 0.1; from 1.0 on every version serves requests for an older one of its major.
if(PACKAGE_VERSION MATCHES "^0\\.([0-9]+)")
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" _cudaops_series "${PACKAGE_VERSION}")
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" _cudaops_wanted "${PACKAGE_FIND_VERSION}")
else()
  string(REGEX MATCH "^[0-9]+" _cudaops_series "${PACKAGE_VERSION}")
  string(REGEX MATCH "^[0-9]+" _cudaops_wanted "${PACKAGE_FIND_VERSION}")
endif()

set(PACKAGE_VERSION_COMPATIBLE FALSE)
set(PACKAGE_VERSION_EXACT FALSE)
if(PACKAGE_FIND_VERSION_RANGE)
  if(PACKAGE_VERSION VERSION_GREATER_EQUAL PACKAGE_FIND_VERSION_MIN)
    if(
      (
        PACKAGE_FIND_VERSION_RANGE_MAX STREQUAL "INCLUDE"
        AND PACKAGE_VERSION VERSION_LESS_EQUAL PACKAGE_FIND_VERSION_MAX
      )
      OR (PACKAGE_FIND_VERSION_RANGE_MAX STREQUAL "EXCLUDE" AND PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION_MAX)
    )
      set(PACKAGE_VERSION_COMPATIBLE TRUE)
    endif()
  endif()
elseif(PACKAGE_VERSION VERSION_GREATER_EQUAL PACKAGE_FIND_VERSION)
  # A request for the major alone ("0") names no series.
  if(_cudaops_wanted STREQUAL _cudaops_series OR PACKAGE_FIND_VERSION_COUNT LESS_EQUAL 1)
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
  endif()
  if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
unset(_cudaops_series)
unset(_cudaops_wanted)
