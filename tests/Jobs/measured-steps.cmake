# A build notes what each source took; the next configure goes by that. The launcher that does it stays, whatever the memory
# is then, so that nothing is compiled again; a compile that a cache answered says nothing.
file(MAKE_DIRECTORY "${case_DIR}/bin")
file(CREATE_LINK "${case_PYTHON}" "${case_DIR}/bin/python3" SYMBOLIC)
case_path("${case_DIR}/bin")
machine(CUDA)
lent(small LIMIT 4096 USED 100)
sources(cu 1 4 <torch/extension.h>)
sources(cpp 1 1)
set(op "add_torch_op(my_op ABI FULL SOURCES h1.cpp CUDA_SOURCES k1.cu k2.cu k3.cu k4.cu)")
# Compilers that take 300 MiB, but for k2.cu (700) and k3.cu (nothing to speak of: a cache had it).
file(
  WRITE "${case_DIR}/eat.sh"
  "case \" $* \" in *k2.cu*) size=700 ;; *k3.cu*) size=1 ;; *) size=300 ;; esac
python3 -S -c \"x = b'1' * ($size << 20)\"
exec \"$@\"\n"
)
set(eat "-DCMAKE_CUDA_COMPILER_LAUNCHER=sh\\;${case_DIR}/eat.sh")
configure("${op}" ARGS ${jobs_LENT} ${eat})
expect_stdout("CudaOps: 1 CUDA job at a time: .*, 2\\.9 GiB a file \\(k1\\.cu with torch's C\\+\\+ API\\)")
case_report(launchers cache problem)
case_match("cache.problem" "${launchers}" "CUDA: sh ${case_DIR}/eat.sh \\(yours\\)$")
case_build()
file(STRINGS "${case_BUILD_DIR}/CudaOps/jobs/memory" lines ENCODING UTF-8)
foreach(i IN ITEMS 1 2 3 4)
  if(NOT lines MATCHES "(^|;)[0-9]+ [^;]*/k${i}\\.cu(;|$)")
    case_fail("no line of k${i}.cu in CudaOps/jobs/memory" "${lines}")
  endif()
endforeach()

if(NOT lines MATCHES "(^|;)[0-9]+ [^;]*/h1\\.cpp(;|$)")
  case_fail("no line of h1.cpp in CudaOps/jobs/memory" "${lines}")
endif()

# k3.cu is as heavy as any of such a target, the others as they were.
configure("${op}" ARGS ${jobs_LENT} ${eat})
expect_stdout("2\\.9 GiB a (heavy )?file \\(k3\\.cu with torch's C\\+\\+ API\\)")
set(op2 "add_torch_op(my_op ABI FULL CUDA_SOURCES k1.cu k2.cu k4.cu)")
lent(smaller LIMIT 1400 USED 100)
configure("${op2}" ARGS ${jobs_LENT} ${eat})
expect_stdout("CudaOps: 2 CUDA jobs at a time: 1\\.3 GiB free \\(cgroup\\), 0\\.7 GiB a file \\(k2\\.cu was measured\\)")
lent(large)
configure("${op}" ARGS ${jobs_LENT} ${eat})
refuse_stdout("at a time")
case_build(ARGS -- -n)
case_not_match("what is compiled again" "${case_STEP_STDOUT}" "Building")

# The notes can't be written, the build goes on.
file(RENAME "${case_BUILD_DIR}/CudaOps/jobs/memory" "${case_DIR}/memory")
file(MAKE_DIRECTORY "${case_BUILD_DIR}/CudaOps/jobs/memory")
file(APPEND "${case_DIR}/src/k1.cu" "int more() { return 1; }\n")
case_build()
expect_stdout("k1\\.cu\\.o")
file(REMOVE "${case_BUILD_DIR}/CudaOps/launch/my_op.cuda.settings")
file(APPEND "${case_DIR}/src/k1.cu" "int yet_more() { return 1; }\n")
case_build()
expect_stdout("k1\\.cu\\.o")
# A compile that fails is a failed build.
file(APPEND "${case_DIR}/src/k1.cu" "#error broken\n")
case_build(RESULT 1)
expect_stdout("error: #error broken"
)
set_property(GLOBAL PROPERTY case_STDERR "")
