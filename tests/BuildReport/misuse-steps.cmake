machine(CPU)
misuse(
  [[cudaops_target_build_trace()]]
  [[
cudaops_target_build_trace(): takes a target, and PHASES or nothing.
  found ''
 Fix: <usage>
]]
)
misuse(
  [[cudaops_add_kernels(k SOURCES op.cpp)
cudaops_target_build_trace(k phases)]]
  [[
cudaops_target_build_trace(): takes a target, and PHASES or nothing.
  found 'k phases'
 Fix: <usage>
]]
)
misuse(
  [[cudaops_target_build_trace(no_such PHASES)]]
  [[
cudaops_target_build_trace(no_such): the first argument is a target.
  found 'no_such'
 Fix: <usage>
]]
)
misuse(
  [[cudaops_add_kernels(k SOURCES op.cpp)]]
  [[
CUDAOPS_BUILD_TRACE: unknown value 'on', did you mean ON?
  found on (variable CUDAOPS_BUILD_TRACE)
  wanted OFF ON PHASES
 Fix: -DCUDAOPS_BUILD_TRACE=ON
]]
  ARGS -DCUDAOPS_BUILD_TRACE=on
)
misuse(
  [[cudaops_add_kernels(k SOURCES op.cpp)]]
  [[
CUDAOPS_BUILD_TRACE: unknown value 'yes', did you mean ON?
  found yes (variable CUDAOPS_BUILD_TRACE)
  wanted OFF ON PHASES
 Fix: -DCUDAOPS_BUILD_TRACE=ON
]]
  ARGS -DCUDAOPS_BUILD_TRACE=yes
)
