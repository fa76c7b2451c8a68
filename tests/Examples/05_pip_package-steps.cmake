# From a checkout to `import rowwise_ops` in an environment that has never seen a compiler.
set(tools "${example_TOP}/tests/tools/pip_package")
if(NOT EXISTS "${tools}/.complete")
  case_skip("pip, scikit-build-core and hatchling are not in ${tools} (no network when they were fetched?)")
  return()
endif()
example_begin(05_pip_package)
# scikit-build-core takes the compiler that this Python was built with, unless it is told another one.
case_environment("CXX=${case_CXX}" PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PYTHONDONTWRITEBYTECODE=1)
# Python reads .pth files in the encoding of the locale: the checkout may lie in a directory like "übung".
case_environment(LC_ALL=C.UTF-8)
cmake_path(GET example_TORCH PARENT_PATH site)

# make_venv(<dir> <what its site-packages sees besides>...)
function(make_venv dir)
  case_step(venv COMMAND "${example_PYTHON}" -m venv --without-pip "${dir}")
  file(GLOB packages LIST_DIRECTORIES TRUE "${dir}/lib/python3*/site-packages")
  list(JOIN ARGN "\n" lines)
  file(WRITE "${packages}/others.pth" "${lines}\n")
endfunction()

# Where wheels are made: torch, the tools, CMake. The package is found through its wheel.
case_environment(UNSET CudaOps_ROOT)
set(builder "${case_DIR}/builder")
make_venv("${builder}" "${site}" "${tools}")
file(CREATE_LINK "${case_CMAKE}" "${builder}/bin/cmake" SYMBOLIC)
case_path("${builder}/bin")
set(wheels "${case_DIR}/wheels")
set(pip "${builder}/bin/python" -m pip)
set(
  pip_wheel
  ${pip}
  wheel
  -q
  --no-index
  --no-deps
  --no-build-isolation
  -w
  "${wheels}"
)
case_step(wheel_of_cudaops COMMAND ${pip_wheel} "${case_REPO}")
file(GLOB wheel "${wheels}/cudaops-*-py3-none-any.whl")
case_step(install_cudaops COMMAND ${pip} install -q --no-index "${wheel}")
set(define "-Ccmake.define.")
set(settings "${define}CMAKE_CUDA_ARCHITECTURES=89-real")
if(example_TOOLKIT)
  list(APPEND settings "${define}CUDAToolkit_ROOT=${example_TOOLKIT}")
endif()
case_step(wheel COMMAND ${pip_wheel} ${settings} "${example_DIR}")
file(GLOB wheel RELATIVE "${wheels}" "${wheels}/rowwise_ops-*")
case_match("one wheel for every Python" "${wheel}" "^rowwise_ops-1\\.0-cp310-abi3-linux_[a-z0-9_]+\\.whl$")

# Where it is used: nothing but torch, which pip accepts as what the wheel requires.
set(user "${case_DIR}/user")
make_venv("${user}" "${site}")
case_step(install COMMAND ${pip} --python "${user}/bin/python" install -q --no-index "${wheels}/${wheel}")
file(GLOB library "${user}/lib/python3*/site-packages/rowwise_ops/_C.abi3.so")
case_step(runpath COMMAND readelf -d "${library}")
case_match("RUNPATH" "${case_STEP_STDOUT}" "Library runpath: .\\$ORIGIN/\\.\\./torch/lib\\]")
file(STRINGS "${library}" text)
string(REPLACE "${site}" "<site>" text "${text}")
case_not_match("paths of the build machine in the library" "${text}" "<case>|<tree>|<repo>|<site>")
case_step(inspect COMMAND "${builder}/bin/python" -m cudaops inspect "${library}")
if(example_CUDA)
  case_match("device code" "${case_STEP_STDOUT}" "device code +sm_89 ")
endif()
if(example_OTHER_CMAKE)
  return()
endif()
case_step(use COMMAND "${user}/bin/python" "${example_DIR}/tests/test_rowwise_ops.py" cpu)
case_match("the installed package" "${case_STEP_STDOUT}" "cpu: [^\n]*/user/lib/[^\n]*/rowwise_ops/__init__\\.py as torch says")

# In the build tree, for its developers.
case_environment("CudaOps_ROOT=${example_PACKAGE}")
example_run(cpu)
example_expect(rowwise_ops.cpu Passed)
example_expect_member(CPU_ONLY ops rowwise_ops state)
