# A STABLE op is linked against stubs of torch's libraries, and is the library that it would be without: it needs, looks
# in, imports and exports the same. What torch lacks is said by the linker with its name, and a torch that was changed
# after the configure step is linked itself.
real_machine()
if(NOT real_TORCH)
  return()
endif()

# what_it_is(<out>): of libstubbed.so.
function(what_it_is out)
  set(library "${case_BUILD_DIR}/libstubbed.so")
  case_step(dynamic COMMAND readelf -d "${library}")
  string(REGEX MATCHALL "(NEEDED|RUNPATH|SONAME)[^\n]*" result "${case_STEP_STDOUT}")
  case_step(symbols COMMAND sh -c "nm -D \"$1\" | sed 's/^[0-9a-f]* *//' | LC_ALL=C sort" sh "${library}")
  set(${out} "${result}\n${case_STEP_STDOUT}" PARENT_SCOPE)
endfunction()

set(args -DCMAKE_CUDA_ARCHITECTURES=90-real -DCMAKE_BUILD_TYPE=Release)
# One linker throughout: their lists of symbols differ in what has no bearing on torch.
configure(
  "add_torch_op(stubbed SOURCES op.cpp CUDA_SOURCES op_cuda.cpp op.cu)\ntarget_link_options(stubbed PRIVATE -fuse-ld=bfd)"
  ARGS ${args}
)
case_build(ARGS --verbose)
expect_stdout("/CudaOps/launch/stubbed\\.link\\.settings\"? [^\n]* -shared ")
what_it_is(with)
file(GLOB stubs "${case_DIR}/store/link/*")

# Torch is another one by now: its size isn't the one that the stubs were made of.
file(READ "${stubs}/stamp" stamp)
string(REGEX REPLACE "(^|\n)([0-9])" "\\1" other "${stamp}")
file(WRITE "${stubs}/stamp" "${other}")
file(WRITE "${stubs}/libtorch_cpu.so" "not to be read")
file(REMOVE "${case_BUILD_DIR}/libstubbed.so")
case_build()
what_it_is(without)
case_equal("the library" "${with}" "${without}")

# Stubs that can't be read are no failure of the op.
file(WRITE "${stubs}/stamp" "${stamp}")
file(REMOVE "${case_BUILD_DIR}/libstubbed.so")
case_build()
what_it_is(damaged)
case_equal("the library" "${damaged}" "${without}")
file(REMOVE_RECURSE "${stubs}")

file(
  APPEND "${case_DIR}/src/op.cpp"
  "extern \"C\" void aoti_torch_there_is_none();\nvoid more() { aoti_torch_there_is_none(); }\n"
)
configure("add_torch_op(stubbed SOURCES op.cpp CUDA_SOURCES op_cuda.cpp op.cu)" ARGS ${args})
case_build(RESULT 1)
expect_stdout("undefined (reference to|symbol).*aoti_torch_there_is_none")

# A launcher of the project's own gets torch itself.
configure(
  "set_property(GLOBAL PROPERTY RULE_LAUNCH_LINK env)\nadd_torch_op(stubbed SOURCES op.cpp CUDA_SOURCES op_cuda.cpp op.cu)"
  ARGS ${args}
)
case_build(RESULT 1 ARGS --verbose)
expect_stdout("env \"?[^\" ]*/cudaops-launch\"? \"?[^\" ]*/stubbed\\.link\\.settings\"? ")
file(STRINGS "${case_BUILD_DIR}/CudaOps/launch/stubbed.link.settings" lines REGEX "^(stubs|open)\t")
case_equal("stubs, behind a launcher of the project's" "${lines}" "")
