# In a real control group of 2 GiB, four compiles of 1.4 GiB each, 18 asked for: nothing is killed; without the limit on
# jobs something is.
machine(CUDA)
box(2048)
file(MAKE_DIRECTORY "${case_DIR}/bin")
file(CREATE_LINK "${case_PYTHON}" "${case_DIR}/bin/python3" SYMBOLIC)
case_path("${case_DIR}/bin")
file(WRITE "${case_DIR}/eat.sh" "python3 -S -c \"x = b'1' * (1400 << 20)\" || exit\nexec \"$@\"\n")
sources(cu 1 4 <ATen/ATen.h>)
sources(cpp 1 4)
project_says(
  "add_torch_op(my_op ABI FULL SOURCES h1.cpp h2.cpp h3.cpp h4.cpp
  CUDA_SOURCES k1.cu k2.cu k3.cu k4.cu)"
)
set(
  configure
  "${case_CMAKE}"
  -S
  "${case_PROJECT_DIR}"
  -B
  "${case_BUILD_DIR}"
  -G
  Ninja
  ${case_ARGS}
  ${jobs_LENT}
  "-DCMAKE_CUDA_COMPILER_LAUNCHER=sh\\;${case_DIR}/eat.sh"
)
case_step(configure COMMAND ${box_RUN} ${configure})
expect_stdout("CudaOps: 1 CUDA job(, [1-9] C\\+\\+ jobs?)? at a time: (1\\.9|2\\.0) GiB free \\(cgroup\\), 2\\.9 GiB a file")
case_step(build COMMAND ${box_RUN} "${case_CMAKE}" --build "${case_BUILD_DIR}" -j18)
case_step(configure COMMAND ${box_RUN} ${configure} -DCUDAOPS_CUDA_JOBS=4)
case_step(clean COMMAND "${case_CMAKE}" --build "${case_BUILD_DIR}" --target clean)
case_step(build RESULT 99 COMMAND ${box_RUN} "${case_CMAKE}" --build "${case_BUILD_DIR}" -j18)
set_property(GLOBAL PROPERTY case_STDERR "")
