# PYTHON_MODULE with real tools: an import registers the ops, in every torch, from one abi3 file; a source's own PyInit
# wins; ABI PYBIND; OUTPUT_NAME; no postfix of the configuration; INSTALL into site-packages finds torch relative to itself.
need_python_headers()
real_machine()
if(NOT real_TORCH)
  return()
endif()
case_use_compiler_cache()
set(site "lib/python3/site-packages")
configure(
  [==[
add_torch_op(stable SOURCES op.cpp PYTHON_MODULE _C INSTALL lib/python3/site-packages/my_ops)
add_torch_op(mine SOURCES op.cpp own_init.cpp PYTHON_MODULE _mine)
add_torch_op(bound ABI PYBIND SOURCES module.cpp PYTHON_MODULE bound_ops)
add_torch_op(named SOURCES op.cpp)
set_target_properties(named PROPERTIES OUTPUT_NAME another)
]==]
  ARGS -DCUDAOPS_BACKEND=CPU -DCMAKE_BUILD_TYPE=Release -DCMAKE_RELEASE_POSTFIX=_r "-DCMAKE_INSTALL_PREFIX=${case_DIR}/prefix"
)
expect_target(stable state BUILT library "${case_BUILD_DIR}/${site}/my_ops/_C.abi3.so")
expect_target(named state BUILT library "${case_BUILD_DIR}/libanother_r.so")
case_report(bound ops 2 library)
case_match("the file of the PYBIND op" "${bound}" "/bound_ops\\.cpython-[^/]+\\.so$")
case_build()
case_environment("PYTHONPATH=${case_BUILD_DIR}:${case_BUILD_DIR}/${site}/my_ops" PYTHONDONTWRITEBYTECODE=1)
foreach(torch IN LISTS real_TORCHES)
  case_step(
    "import in ${torch}"
    COMMAND
      "${torch}" -c "import torch, _C; t = torch.arange(5.); assert torch.ops.real_op.twice(t).equal(2 * t); print(_C)"
  )
  expect_stdout("_C\\.abi3\\.so")
endforeach()
case_step(
  "a PyInit of its own"
  COMMAND "${real_TORCH}" -c "import torch, _mine; assert _mine.__doc__ == 'mine'; torch.ops.real_op.twice(torch.ones(2))"
)
case_step(bound COMMAND "${real_TORCH}" -c "import torch, bound_ops; assert bound_ops.name() == 'bound_ops'")
case_step(
  named
  COMMAND
    "${real_TORCH}" -c
    "import torch; torch.ops.load_library('${case_BUILD_DIR}/libanother_r.so'); torch.ops.real_op.twice(torch.ones(2))"
)
case_step(install COMMAND "${case_CMAKE}" --install "${case_BUILD_DIR}")
case_step(dynamic COMMAND readelf -d "${case_DIR}/prefix/${site}/my_ops/_C.abi3.so")
expect_stdout("R(UN)?PATH.*\\[\\$ORIGIN/\\.\\./torch/lib\\]")
