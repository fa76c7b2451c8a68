# A library that holds the C++ standard library itself, because its author or the compiler links the archive: its
# refusals are exceptions with their whole text in torch's process, which has a C++ standard library already. Exported,
# the second one lost the first number of each text, or ended the process.
torch_facts()
if(torch_VERSION VERSION_LESS 2.10)
  case_skip("torch ${torch_VERSION} has no stable ABI")
endif()
can_run(runs)
if(NOT runs)
  case_skip("this torch can't be imported")
endif()
if(NOT runs OR torch_VERSION VERSION_LESS 2.10)
  return()
endif()
case_project(
  BODY
    "find_package(CudaTorchMatch REQUIRED)
add_torch_op(refusing SOURCES [==[${case_SUITE}/static_cxx_runtime.cpp]==])
cudaops_add_kernels(plain SHARED SOURCES [==[${case_DIR}/plain.cpp]==])
foreach(target IN ITEMS refusing plain)
  target_link_options(\${target} PRIVATE -static-libstdc++)
endforeach()"
)
file(
  WRITE "${case_DIR}/plain.cpp"
  "#include <iostream>\nextern \"C\" void plain(long number) { std::cout << number << std::endl; }\n"
)
case_configure(ARGS "-DPython_EXECUTABLE=${case_TORCH}" -DCUDAOPS_BACKEND=CPU -DCUDAOPS_PRECOMPILE=OFF)
case_build()
foreach(library IN ITEMS refusing plain)
  set(file "${case_BUILD_DIR}/lib${library}.so")
  case_step(${library}_needs COMMAND readelf -dW "${file}")
  case_not_match("lib${library}.so holds it" "${case_STEP_STDOUT}" "NEEDED[^\n]*libstdc")
  case_step(${library}_exports COMMAND nm -DC --defined-only "${file}")
  case_not_match("what lib${library}.so exports" "${case_STEP_STDOUT}" "std::locale::|std::num_put<")
endforeach()
case_step(
  call
  COMMAND
    "${case_TORCH}" -c
    "import ctypes, torch
torch.ops.load_library('${case_BUILD_DIR}/librefusing.so')
ctypes.CDLL('${case_BUILD_DIR}/libplain.so').plain(ctypes.c_long(7))
for op in (torch.ops.refusing.checked, torch.ops.refusing.thrown):
    for _ in range(2):
        try:
            op(torch.zeros(2, 5))
        except RuntimeError as error:
            assert 'wanted 3 dimensions, found 2 of 1.5' in str(error), error
        else:
            raise AssertionError('not refused')
"
)
case_match("a number on a stream" "${case_STEP_STDOUT}" "7")
