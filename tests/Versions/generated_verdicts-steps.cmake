include("${case_SUITE}/common/generated.cmake")
