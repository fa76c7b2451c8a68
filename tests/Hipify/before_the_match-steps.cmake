# hipify_sources() looks for torch as the match does, and leaves nothing behind: the match that follows finds and says
# what it would have found.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
source(k.cpp "cudaError_t k();")
set(
  show
  "foreach(name IN ITEMS VERDICT TORCH_VERSION TORCH_DIR PYTHON_EXECUTABLE)\n  message(STATUS \"\${name}: \${CudaTorchMatch_\${name}}\")\nendforeach()"
)
set(call "hipify_sources(t SOURCES k.cpp)\nadd_custom_target(all_t ALL DEPENDS \${t})")
configure("find_package(CudaTorchMatch 2.20 QUIET)\n${show}" NO_MATCH)
string(REGEX MATCHALL "-- (VERDICT|TORCH|PYTHON)[^\n]*" alone "${case_STEP_STDOUT}")
file(REMOVE_RECURSE "${case_BUILD_DIR}")
configure("${call}\nfind_package(CudaTorchMatch 2.20 QUIET)\n${show}" NO_MATCH)
string(REGEX MATCHALL "-- (VERDICT|TORCH|PYTHON)[^\n]*" after "${case_STEP_STDOUT}")
case_equal("a match that finds nothing" "${after}" "${alone}")
case_match("the verdict" "${alone}" "VERDICT: NO_TORCH")
case_build()
expect_file("${case_BUILD_DIR}/t.hipified/k.cpp" "hipError_t k();\n")
