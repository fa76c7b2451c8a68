# Pools of the user's own stay: of a target, of all targets, by the variable, by name; so does what launches compiles.
machine(CUDA)
lent(small LIMIT 4096 USED 400)
slow()
sources(cu 1 4 <torch/extension.h>)
# Read, for CMake warns of variables that nobody reads.
set(
  op
  "set(ignored \"\${_CUDAOPS_JOBS_MACHINE}\")
add_torch_op(my_op ABI FULL CUDA_SOURCES k1.cu k2.cu k3.cu k4.cu)"
)

configure("set_property(GLOBAL PROPERTY JOB_POOLS mine=2)
${op}
set_property(TARGET my_op PROPERTY JOB_POOL_COMPILE mine)" ARGS ${jobs_LENT} ${jobs_SLOW}
)
refuse_stdout("at a time")
expect_jobs(cuda "")
case_build(ARGS -j18)
at_once(cuda "\\.cu\\.o$")
case_equal("CUDA jobs at once, in the target's own pool" "${cuda}" 2)

configure("${op}" ARGS ${jobs_LENT} -DCMAKE_JOB_POOLS=mine=3 -DCMAKE_JOB_POOL_COMPILE=mine)
refuse_stdout("at a time")
case_build(ARGS --target clean)
case_build(ARGS -j18)
at_once(cuda "\\.cu\\.o$")
case_equal("CUDA jobs at once, in everyone's pool" "${cuda}" 3)

# Pools that nothing of ours goes into.
configure("${op}" ARGS ${jobs_LENT} -DCMAKE_JOB_POOLS=mine=3 -UCMAKE_JOB_POOL_COMPILE)
expect_stdout("CudaOps: 1 CUDA job")
file(READ "${case_BUILD_DIR}/CMakeFiles/rules.ninja" rules)
case_match("rules.ninja" "${rules}" "pool mine depth = 3")
case_build(ARGS --target clean)
case_build(ARGS -j18)
at_once(cuda "\\.cu\\.o$")
case_equal("CUDA jobs at once, beside a pool of the user's" "${cuda}" 1)

# A pool of our name, and a launcher of rules.
file(WRITE "${case_DIR}/rule.sh" "echo \"$1\" >> '${case_DIR}/launched'\nshift\nexec \"$@\"\n")
configure("set_property(GLOBAL PROPERTY RULE_LAUNCH_COMPILE \"sh '${case_DIR}/rule.sh' <LANGUAGE>\")
set_property(GLOBAL PROPERTY JOB_POOLS cudaops_cuda=2)
${op}" ARGS ${jobs_LENT} -UCMAKE_JOB_POOLS
)
expect_stdout("CudaOps: 1 CUDA job")
case_build(ARGS -j18)
at_once(cuda "\\.cu\\.o$")
case_equal("CUDA jobs at once, in a pool of that name" "${cuda}" 2)
file(STRINGS "${case_DIR}/launched" launched REGEX "^CUDA$")
list(LENGTH launched count)
case_equal("compiles through the user's rule" "${count}" 4)
