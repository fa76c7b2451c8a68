# The op of docs/explanation/stable_abi.md, with an argument of each kind, in every torch; sizes stay symbolic.
real_machine()
if(NOT real_TORCH)
  return()
endif()
case_use_compiler_cache()
file(READ "${case_REPO}/docs/explanation/stable_abi.md" page)
string(REGEX MATCH "```cpp\n(#include[^`]+)```" block "${page}")
file(WRITE "${case_DIR}/src/types.cpp" "${CMAKE_MATCH_1}")
configure("add_torch_op(types SOURCES types.cpp)" ARGS -DCUDAOPS_BACKEND=CPU -DCMAKE_BUILD_TYPE=Release)
case_build()
file(
  WRITE "${case_DIR}/call.py"
  [==[
import sys
import torch

torch.ops.load_library(sys.argv[1])
filled = torch.ops.argument_types.filled
x = torch.ones(3)
out, count = filled([x, x], None, "sum", 0.75, [2, 1])
assert out.equal(torch.full((2, 1), 1.5)) and count == 2, (out, count)
out, count = filled([x], x, "sum", 0.75, [1], True, torch.float16)
assert out.equal(torch.full((1,), -0.75, dtype=torch.float16)) and count == 1, (out, count)
out, _ = filled([x], x, "sum", 0.75, [1], dtype=torch.float64)
assert out.dtype == torch.float64
try:
    filled([x], x, "mean", 0.75, [1])
except RuntimeError as error:
    assert 'wanted mode "sum" and inputs, found mean' in str(error), error
else:
    raise AssertionError("not refused")
]==]
)
foreach(torch IN LISTS real_TORCHES)
  case_step("call in ${torch}" COMMAND "${torch}" "${case_DIR}/call.py" "${case_BUILD_DIR}/libtypes.so")
endforeach()
