# CUDAOPS_DEBUG, CUDAOPS_PROFILE and CUDAOPS_FAST_MATH: what they add to the compiles of ops, kernels and their programs,
# and to nothing else.
# The fake toolkit has no runtime to compile against: Ninja prints the commands and runs none.
machine(CUDA)
set(
  ops
  [==[
add_torch_op(op SOURCES op.cpp CUDA_SOURCES op.cu)
cudaops_add_kernels(kernels SHARED SOURCES more.cu)
file(WRITE plain.cpp "")
add_library(plain OBJECT plain.cpp)
]==]
)

configure("${ops}" ARGS -DCUDAOPS_PROFILE=ON -DCMAKE_BUILD_TYPE=Release)
case_build(ARGS --verbose -- -n)
foreach(file IN ITEMS op.cu more.cu)
  flags_of(${file} flags)
  case_match("${file}" "${flags}" " -lineinfo --no-compress( |$)")
  case_match("${file}: the flags that ship" "${flags}" "-O3 -DNDEBUG")
endforeach()
flags_of(src/op.cpp flags)
case_not_match("the host compiler" "${flags}" "lineinfo|compress| -g| -O0")

foreach(type IN ITEMS Debug Release)
  configure("${ops}" ARGS -DCUDAOPS_DEBUG=ON -DCUDAOPS_PROFILE=OFF "-DCMAKE_BUILD_TYPE=${type}")
  case_build(ARGS --verbose -- -n)
  foreach(file IN ITEMS op.cu more.cu)
    flags_of(${file} flags)
    case_match("${type} ${file}" "${flags}" "-DCUDAOPS_DEBUG=1.* -G -g -UNDEBUG( |$)")
    case_not_match("${type} ${file}: -G, once" "${flags}" " -G .* -G |lineinfo")
  endforeach()
  flags_of(src/op.cpp flags)
  case_match("${type} op.cpp: the last word" "${flags}" "-DCUDAOPS_DEBUG=1.* -O0 -g -UNDEBUG( |$)")
  case_not_match("${type} op.cpp" "${flags}" " -G( |$)| -O0.* -O")
  foreach(file IN ITEMS op_launches.cpp kernels_launches.cpp)
    flags_of(CudaOps/${file} flags)
  endforeach()
  expect_stdout("--wrap=cudaLaunchKernel[ ,].*-o libop\\.so" "--wrap=__cudaLaunchKernel_ptsz[ ,].*-o libkernels\\.so")
  flags_of(plain.cpp flags)
  case_not_match("the project's own target" "${flags}" "CUDAOPS_DEBUG|-O0")
endforeach()

# Several build types in one directory: the profile is of those that ship, and Debug is for a debugger.
configure("${ops}" ARGS -G "Ninja Multi-Config" -B "${case_DIR}/multi" -DCUDAOPS_DEBUG=OFF -DCUDAOPS_PROFILE=ON)
foreach(type IN ITEMS Debug Release)
  case_step(commands COMMAND "${CMAKE_COMMAND}" --build "${case_DIR}/multi" --config ${type} --verbose -- -n)
  flags_of(op.cu flags)
  if(type STREQUAL "Debug")
    case_match("${type}" "${flags}" " -G( |$)")
    case_not_match("${type}" "${flags}" "lineinfo|no-compress")
  else()
    case_match("${type}" "${flags}" "-O3 -DNDEBUG.* -lineinfo --no-compress( |$)")
    case_not_match("${type}" "${flags}" " -G( |$)")
  endif()
endforeach()

# The variable sets the property, and a property that is set stays.
configure(
  "${ops}
set_target_properties(op PROPERTIES CUDAOPS_FAST_MATH OFF)"
  ARGS -DCUDAOPS_DEBUG=OFF -DCUDAOPS_FAST_MATH=ON -DCMAKE_BUILD_TYPE=Release
)
case_build(ARGS --verbose -- -n)
flags_of(op.cu flags)
case_not_match("CUDAOPS_FAST_MATH OFF" "${flags}" "fast_math|lineinfo| -G( |$)|CUDAOPS_DEBUG")
flags_of(more.cu flags)
case_match("CUDAOPS_FAST_MATH" "${flags}" " --use_fast_math( |$)")
refuse_stdout("wrap=cudaLaunch")
configure("${ops}\nset_target_properties(op PROPERTIES CUDAOPS_FAST_MATH ON)" ARGS -DCUDAOPS_FAST_MATH=OFF)
case_build(ARGS --verbose -- -n)
flags_of(op.cu flags)
case_match("the property alone" "${flags}" " --use_fast_math( |$)")
flags_of(src/op.cpp flags)
case_not_match("the host compiler" "${flags}" "fast")
