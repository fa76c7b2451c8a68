use_real_pip()
include("${case_SUITE}/common/offline.cmake")
