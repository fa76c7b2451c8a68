# The second configure finds the same and detects nothing anew; nothing of ours stands in the cache for the user to see.
hip_machine()
# What changed in the last two seconds may have changed after it was read: nothing is kept of it.
execute_process(
  COMMAND find "${case_DIR}/venv" -exec touch -h -d 2024-01-01 {} +
  COMMAND_ERROR_IS_FATAL ANY
)
hip_library(library)
match(ARGS ${hip_ARGS} AFTER "${library}")
expect_match(VERDICT EXACT CMAKE_HIP_ARCHITECTURES gfx90a)
case_build()
match(AFTER "${library}\nif(COMMAND _cudaops_rocm_describe)\n  message(STATUS \"looked\")\nendif()")
expect_match(VERDICT EXACT CMAKE_HIP_ARCHITECTURES gfx90a ARCHITECTURES gfx90a HIP_ENABLED TRUE CMAKE_HIP_FLAGS "")
refuse_stdout("-- looked" "HIP compiler identification" "not used" "used instead")
case_build()
case_match("second build" "${case_STEP_STDOUT}" "no work to do")
file(STRINGS "${case_BUILD_DIR}/CMakeCache.txt" lines REGEX "^CMAKE_HIP_COMPILER:" ENCODING UTF-8)
case_equal("CMAKE_HIP_COMPILER in the cache" "${lines}" "")
