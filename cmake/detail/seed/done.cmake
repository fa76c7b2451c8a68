# SPDX-License-Identifier: Apache-2.0
# The detection of _cudaops_seed_language is over: its variables go.

foreach(_cudaops_seed_name _key _compiler _entries _state)
  unset(_cudaops_seed_${_cudaops_seed_language}${_cudaops_seed_name})
endforeach()
unset(_cudaops_seed_name)
unset(_cudaops_seed_${_cudaops_seed_language})
unset(_cudaops_seed_language)
