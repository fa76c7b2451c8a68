# ARCHITECTURES that no toolkit ever had.
machine(CPU)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES 3.10)]]
  [[
add_torch_op(my_op): "3.10" is not an architecture: a compute capability is <major>.<minor> with one digit of minor.
  found ARCHITECTURES 3.10
  accepted 9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major, >=80
 Fix: ARCHITECTURES 80 90a, or the like
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES sm_80)]]
  [[
add_torch_op(my_op): "sm_80" is nvcc's spelling; here it is 80-real.
  found ARCHITECTURES sm_80
  accepted 9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major, >=80
 Fix: ARCHITECTURES 80-real
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES hopper2)]]
  [[
add_torch_op(my_op): "hopper2" is not an architecture.
  found ARCHITECTURES hopper2
  accepted 9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major, >=80
 Fix: ARCHITECTURES 80 90a, or the like
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES 80b)]]
  [[
add_torch_op(my_op): "80b" is not an architecture: the only suffixes are a and f.
  found ARCHITECTURES 80b
  accepted 9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major, >=80
 Fix: ARCHITECTURES 80 90a, or the like
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES >80)]]
  [[
add_torch_op(my_op): ">80" is not an architecture; only what code supports can be given with a sign, and only as >=80.
  found ARCHITECTURES >80
  accepted 9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major, >=80
 Fix: ARCHITECTURES 80 90a, or the like
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES '80')]]
  [[
add_torch_op(my_op): "'80'" is not an architecture.
  found ARCHITECTURES '80'
  accepted 9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major, >=80
 Fix: ARCHITECTURES 80
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES 80;bogus)]]
  [[
add_torch_op(my_op): "bogus" is not an architecture.
  found ARCHITECTURES 80 bogus
  accepted 9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major, >=80
 Fix: ARCHITECTURES 80 90a, or the like
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES 8.0.0)]]
  [[
add_torch_op(my_op): "8.0.0" is not an architecture.
  found ARCHITECTURES 8.0.0
  accepted 9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major, >=80
 Fix: ARCHITECTURES 80 90a, or the like
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES $<1:80>)]]
  [[
add_torch_op(my_op): "$<1:80>" is not an architecture.
  found ARCHITECTURES $<1:80>
  accepted 9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major, >=80
 Fix: ARCHITECTURES 80 90a, or the like
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES OFF)]]
  [[
add_torch_op(my_op): "OFF" is not an architecture: CUDA code is always built for one; without a list it is the default.
  found ARCHITECTURES OFF
  accepted 9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major, >=80
 Fix: ARCHITECTURES 80 90a, or the like
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES -gencode)]]
  [[
add_torch_op(my_op): "-gencode" is an nvcc option, which is derived from the architectures.
  found ARCHITECTURES -gencode
  accepted 9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major, >=80
 Fix: ARCHITECTURES 80 90a, or the like
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES 80+)]]
  [[
add_torch_op(my_op): "80+" is not an architecture; from there on is >=80, with PTX for later GPUs 80+PTX.
  found ARCHITECTURES 80+
  accepted 9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major, >=80
 Fix: ARCHITECTURES >=80
]]
)

# A lone bracket joins what follows it in CMake's lists.
misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES 90 [80)]]
  [[
add_torch_op(my_op): "[80" is not an architecture: a list of them has no brackets.
  found ARCHITECTURES 90 [80
  accepted 9.0 9.0a 10.0f 12.0+PTX, 90 90a-real 120-virtual, Hopper, Ampere+PTX, native, common, all, all-major, >=80
 Fix: ARCHITECTURES 90 80
]]
)

# A property that is set past the commands; one that says the same is none.
file(REMOVE_RECURSE "${case_DIR}/venv" "${case_BUILD_DIR}")
machine(CUDA)
foreach(command IN ITEMS "add_torch_op(op SOURCES op.cpp CUDA_SOURCES" "cudaops_add_kernels(op SOURCES")
  string(REGEX REPLACE "[(].*" "" name "${command}")
  misuse(
    "${command} op.cu)\nset_target_properties(op PROPERTIES CUDA_ARCHITECTURES \"80-real;90a\")"
    "
${name}(op): the property CUDA_ARCHITECTURES was changed after the call, whose own are named in the code and in the report.
  found 80-real 90a
  built 80-real 80-virtual
 Fix: ${name}(op ... ARCHITECTURES 80-real 90a) (where its code is for no other)
 or set(CMAKE_CUDA_ARCHITECTURES 80-real 90a) (before find_package(CudaTorchMatch), for the whole build)
"
  )
endforeach()
configure("add_torch_op(op SOURCES op.cpp CUDA_SOURCES op.cu)\nset_target_properties(op PROPERTIES CUDA_ARCHITECTURES 80)")
