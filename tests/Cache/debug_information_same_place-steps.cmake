# Debug information belongs to its place, so such objects name torch by its own path, not by the links to it: a build tree
# that is made anew at the same place finds them all, though torch's headers ask __has_include() for files that torch has.
real_machine()
if(NOT real_TORCH)
  return()
endif()
use_cache(ccache)
set(args -DCMAKE_CUDA_ARCHITECTURES=90-real -DCMAKE_BUILD_TYPE=Release)
configure(
  "add_torch_op(real_op SOURCES op.cpp CUDA_SOURCES op_cuda.cpp op.cu)
target_compile_options(real_op PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-g> $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>)"
  ARGS ${args}
)
case_build()
expect_hits("the first time" 0 4)
file(REMOVE_RECURSE "${case_BUILD_DIR}")
case_configure(ARGS ${args})
case_build()
# ccache counts a hit that is compiled again all the same as a hit.
file(STRINGS "${case_BUILD_DIR}/CudaOps/cache/compiles" compiles ENCODING UTF-8)
list(TRANSFORM compiles REPLACE "\t.*" "")
case_equal("made anew" "${compiles}" "hit;hit;hit;hit")
