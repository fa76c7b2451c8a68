# docs/nvcc.md: its cmake blocks build, and come to what the nvcc line says: --default-stream per-thread, -dc and -dlink, PTX
# files, options of the target's own.
real_machine()
if(NOT real_TORCH)
  return()
endif()
case_use_compiler_cache()
file(READ "${case_REPO}/docs/nvcc.md" page)
string(REPLACE ";" "\\;" page "${page}")
# Of CMake 3.27: the case real_cubin.
string(REGEX REPLACE "```cmake\n[^`]*CUBIN[^`]*```" "" page "${page}")
string(REGEX MATCHALL "```cmake\n[^`]*```" blocks "${page}")
list(LENGTH blocks count)
case_equal("blocks of docs/nvcc.md" "${count}" 5)
list(JOIN blocks "\n" code)
string(REPLACE "\\;" ";" code "${code}")
string(REGEX REPLACE "```(cmake)?" "" code "${code}")
foreach(file IN ITEMS a.cu scale.cu)
  file(
    WRITE "${case_DIR}/src/${file}"
    "#include <cuda_runtime.h>\nextern \"C\" __global__ void kernel(float* p) { p[threadIdx.x] *= 2; }\n"
    "extern \"C\" int launch(float* p) { kernel<<<1, 32>>>(p); return cudaMemset(p, 0, 4); }\n"
  )
endforeach()
configure("${code}" ARGS -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_ARCHITECTURES=90-real)
case_build(ARGS --verbose)
expect_stdout(
  "-maxrregcount=64 --extended-lambda -Xptxas -v [^\n]*limited\\.dir/a\\.cu\\.o"
  "-rdc=true"
  "-dlink"
)
case_ctest()
foreach(name IN ITEMS per_thread limited)
  case_step(symbols COMMAND nm -u "${case_BUILD_DIR}/CMakeFiles/${name}.dir/a.cu.o")
  if(name STREQUAL "per_thread")
    expect_stdout("cudaLaunchKernel_ptsz" "cudaMemset_ptds")
  else()
    refuse_stdout("_pt[sd][zs]")
  endif()
endforeach()
file(READ "${case_BUILD_DIR}/CMakeFiles/module.dir/a.ptx" ptx)
case_match("module" "${ptx}" "[.]target sm_90.*[.]visible [.]entry kernel")
case_step(separate COMMAND "${real_TORCH}" -c "import torch, ctypes; ctypes.CDLL('${case_BUILD_DIR}/libseparate.so', mode=2).launch_scale")
case_step(scale COMMAND "${real_TORCH}" -I -S -c "import ctypes; ctypes.CDLL('${case_BUILD_DIR}/libscale.so', mode=2).launch")
