include("${case_SUITE}/../Versions/common/generated.cmake")
