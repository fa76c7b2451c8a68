# CMake's spelling, and what the fatbin must hold.
include("${CMAKE_CURRENT_LIST_DIR}/common/check.cmake")
_cudaops_use(arch/select)

_cudaops_arch_spell(spelled 90a-real 120-real 120-virtual)
check_equal("real and virtual become one" "${spelled}" "90a-real;120")
_cudaops_arch_spell(spelled 120-virtual 80-real 120-real)
check_equal("the order stays" "${spelled}" "120;80-real")
_cudaops_arch_spell(spelled 100f-real 100-virtual)
check_equal("a suffix is another arch" "${spelled}" "100f-real;100-virtual")
_cudaops_arch_spell(spelled)
check_equal("nothing" "${spelled}" "")

# CMake's spelling read again is the same list.
set(entries "90a-real;100f-real;100f-virtual;120-virtual")
_cudaops_arch_spell(spelled ${entries})
_cudaops_arch_parse("${spelled}" again error)
check_equal("and back" "${again}" "${entries}")

_cudaops_arch_fatbin(names 90a-real 120-real 120-virtual 120-real)
check_equal("fatbin" "${names}" "sm_90a;sm_120;compute_120")
_cudaops_arch_dotted(dotted 90a-real 121-virtual 100f 121)
check_equal("dotted" "${dotted}" "9.0a;12.1;10.0f")
