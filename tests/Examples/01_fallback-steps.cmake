example_begin(01_fallback)

# No toolkit: the preset asks for sm_89 all the same, and the op runs. Wheels beside torch may hold a compiler; then CUDA
# is switched off instead.
file(GLOB nvcc "${example_TORCH}/../nvidia/cu*/bin/nvcc")
set(code NO_TOOLKIT)
set(hide -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF)
if(nvcc)
  set(code REQUESTED_OFF)
  list(APPEND hide -DCUDAOPS_BACKEND=CPU)
endif()
if(NOT example_CUDA AND NOT example_code STREQUAL "")
  # A torch without CUDA, and the like: nothing is hidden by hiding the toolkit.
  set(code ${example_code})
endif()
set(toolkit "${example_TOOLKIT}")
set(example_TOOLKIT "")
example_configure(sm89 ARGS ${hide})
if(NOT example_OTHER_CMAKE)
  example_build(sm89)
  example_test(sm89)
endif()
example_expect_member(CPU_ONLY ops fallback_ops state)
example_expect_member(${code} ops fallback_ops reason_code)
example_member(reason ops fallback_ops reason)
case_match("reason" "${reason}" "CUDA")
example_expect(center.cpu Passed)
# With a GPU it runs there: the composite kernel serves it.
example_expect(center.cuda "Passed|Skipped")

example_configure(cpu)
case_match(
  "table"
  "${case_STEP_STDOUT}"
  "CPU_ONLY +STABLE 2\\.10 +REQUESTED_OFF: CUDA was switched off .CUDAOPS_BACKEND=CPU."
)
example_expect_member(REQUESTED_OFF ops fallback_ops reason_code)

# With a toolkit, the CUDA kernel takes over. The build directory is the one that had none.
if(example_CUDA AND code STREQUAL "NO_TOOLKIT")
  set(example_TOOLKIT "${toolkit}")
  example_run(sm89 -UCMAKE_FIND_USE_CMAKE_SYSTEM_PATH)
  example_expect_member(BUILT ops fallback_ops state)
  example_expect(center.cpu Passed)
endif()
