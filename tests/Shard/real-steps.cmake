# Kernels of two instantiations in two files, compiled together and apart: they link, each symbol once; what compiles
# again holds the same device code; the template's header compiles them again; another header of its name in the
# target's include path isn't taken for it; a program may have the same files of two libraries.
set(case_GENERATOR Ninja)
real_machine()
if(NOT real_TORCH)
  return()
endif()
file(
  WRITE "${case_DIR}/src/scale.cuh"
  "static __device__ __noinline__ int lane(int n) { return n % 32; }\ntemplate <class T, int N>\n__global__ void scale_kernel(T* x) { x[lane(threadIdx.x)] *= N; }\ntemplate <class T, int N>\nvoid scale(T* x) { scale_kernel<T, N><<<1, 32>>>(x); }\n"
)
file(WRITE "${case_DIR}/src/other/scale.cuh" "#error another header\n")
file(
  WRITE "${case_DIR}/src/scale.cu"
  "template <class T, int N>\nvoid scale(T* x);\nextern \"C\" void all(float* f, double* d) { scale<float, 2>(f); scale<double, 2>(d); }\n"
)
project_says(
  [==[
foreach(type IN ITEMS float double)
  list(APPEND lines "template void scale<${type}, 2>(${type}*);")
endforeach()
cudaops_shard_instantiations(shards TEMPLATE scale.cuh INSTANTIATIONS ${lines})
foreach(kind IN ITEMS together apart)
  set(cubins "")
  if(kind STREQUAL "apart")
    set(cubins CUDA_CUBINS)
  endif()
  cudaops_add_kernels(${kind} SHARED ${cubins} SOURCES scale.cu ${shards})
  target_include_directories(${kind} PRIVATE other)
endforeach()
add_library(half STATIC ${shards})
set_target_properties(half PROPERTIES POSITION_INDEPENDENT_CODE ON)
add_library(both SHARED scale.cu ${shards})
target_link_libraries(both PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,half>")
]==]
)
case_configure(ARGS "-DTORCH_CUDA_ARCH_LIST=8.0 9.0" -DCUDAOPS_CACHE=OFF -DCMAKE_BUILD_TYPE=Release)
case_build(ARGS --parallel 2)
refuse_stdout("once more")
foreach(kind IN ITEMS together apart)
  case_step(symbols COMMAND nm -C --defined-only "${case_BUILD_DIR}/lib${kind}.so")
  foreach(name IN ITEMS "float, 2" "double, 2")
    string(REGEX MATCHALL " [TW] void scale<${name}>" found "${case_STEP_STDOUT}")
    list(LENGTH found count)
    case_equal("scale<${name}> in lib${kind}.so" "${count}" 1)
  endforeach()
endforeach()
set(object "${case_BUILD_DIR}/CMakeFiles/together.dir/shards.shards/scale_0.cu.o")
foreach(time IN ITEMS first second)
  case_step("the device code" COMMAND objcopy -O binary --only-section=.nv_fatbin "${object}" "${case_DIR}/${time}")
  file(SIZE "${case_DIR}/${time}" size)
  if(size EQUAL 0)
    message(FATAL_ERROR "${object} has no device code")
  endif()
  file(SHA256 "${case_DIR}/${time}" code_${time})
  file(TOUCH "${case_BUILD_DIR}/shards.shards/scale_0.cu")
  case_build(ARGS --target together)
endforeach()
case_equal("the device code, compiled again" "${code_second}" "${code_first}")

file(APPEND "${case_DIR}/src/scale.cuh" "// more\n")
case_build(ARGS --parallel 2 --target together)
expect_stdout("scale_0\\.cu\\.o" "scale_1\\.cu\\.o")
refuse_stdout("/scale\\.cu\\.o")
