# The tiers of one package, one after the other; in the end without any compiler on PATH.
example_begin(10_prebuilt_jit_fallback)
cmake_path(GET case_CMAKE PARENT_PATH bin)
case_path("${bin}")
set(site "${case_DIR}/site packages")
set(build "${example_DIR}/build")
set(settings "-DPython_EXECUTABLE=${example_PYTHON}" -DCMAKE_CUDA_ARCHITECTURES=89-real)
if(example_TOOLKIT)
  list(APPEND settings "-DCUDAToolkit_ROOT=${example_TOOLKIT}")
  case_environment("CUDAToolkit_ROOT=${example_TOOLKIT}")
endif()
case_step(
  configure
  COMMAND "${case_CMAKE}" -G Ninja -S "${example_DIR}" -B "${build}" -DCMAKE_BUILD_TYPE=Release ${settings}
)
if(example_OTHER_CMAKE)
  return()
endif()
case_step(build COMMAND "${case_CMAKE}" --build "${build}")
case_step(install COMMAND "${case_CMAKE}" --install "${build}" --prefix "${site}")
case_environment(
  "PYTHONPATH=${site}:${example_PACKAGE}/python"
  "CUDAOPS_STORE=${case_DIR}/store"
  PYTHONDONTWRITEBYTECODE=1
  TORCH_CUDA_ARCH_LIST=8.9
)
function(tier state)
  case_step(${state} WORKING_DIRECTORY "${example_DIR}" COMMAND "${example_PYTHON}" -W ignore test_tiers.py ${state})
  case_match("the tier" "${case_STEP_STDOUT}" "^${state}: ")
endfunction()
tier(PREBUILT)
file(REMOVE "${site}/scaled_ops/libscaled_ops.so")
case_environment(CUDAOPS_JIT=off)
tier(FALLBACK)
case_environment(CUDAOPS_JIT=on)
tier(COMPILED)
case_step(bundle COMMAND "${example_PYTHON}" -m cudaops build --bundle "${case_DIR}/bundle" scaled_ops)
case_environment("CUDAOPS_STORE=${case_DIR}/empty" "CUDAOPS_JIT_PATH=${case_DIR}/bundle" PATH=/nowhere)
tier(CACHED)
