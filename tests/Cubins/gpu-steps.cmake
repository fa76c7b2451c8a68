# On a GPU: what was compiled apart runs as what was compiled together, kernels of every kind and variables that the
# host reads.
if(NOT EXISTS /dev/nvidiactl)
  case_skip("no GPU on this machine")
  return()
endif()
set(case_GENERATOR Ninja)
real_machine()
if(NOT real_TORCH)
  return()
endif()
file(COPY "${case_SUITE}/common/" DESTINATION "${case_DIR}/src")
two_projects("${kinds_CODE}" ARGS "-DTORCH_CUDA_ARCH_LIST=8.0 9.0 10.0 12.0+PTX" -DCUDAOPS_CACHE=OFF)
foreach(kind IN ITEMS apart together)
  case_build(BUILD_DIR "${case_DIR}/${kind}" ARGS --parallel 2)
  case_step(
    "run ${kind}"
    COMMAND
      "${case_PYTHON}" -I -S -c
      "import ctypes; l = ctypes.CDLL('${case_DIR}/${kind}/libkinds.so'); v = (ctypes.c_double * 8)(); assert l.run_kinds(v) == 0, l.run_kinds(v); print('values', list(v))"
  )
  string(REGEX MATCH "values [^\n]+" values_${kind} "${case_STEP_STDOUT}")
endforeach()
# counter and hidden as they began, what each kernel wrote; typed<float> ran once before typed<double>.
case_match("values" "${values_apart}" "values \\[25\\.0, 4\\.0, 4\\.0, ")
case_equal("values" "${values_apart}" "${values_together}")
