# Without a cache: what the build tree has made before is taken where an edit leaves an architecture's text as it was.
# What compilers say comes on stdout there.
set(case_GENERATOR Ninja)
real_machine()
if(NOT real_TORCH)
  return()
endif()
file(COPY "${case_SUITE}/common/" DESTINATION "${case_DIR}/src")
two_projects("${kinds_CODE}" ARGS "-DTORCH_CUDA_ARCH_LIST=8.0 9.0" -DCUDAOPS_CACHE=OFF)
case_build(BUILD_DIR "${case_DIR}/apart" ARGS --parallel 2)
expect_stdout("for .sm_80" "for .sm_90")
file(READ "${case_DIR}/src/kinds.cu" text)
string(REPLACE "NEW_VALUE + tile" "NEW_VALUE\n      + 2 * tile" text "${text}")
file(WRITE "${case_DIR}/src/kinds.cu" "${text}")
case_build(BUILD_DIR "${case_DIR}/apart" ARGS --parallel 2)
expect_stdout("for .sm_90")
refuse_stdout("for .sm_80")
case_build(BUILD_DIR "${case_DIR}/together")
expect_equal_code("an edit under a guard" libkinds.so)

# A part that is damaged, or gone, is made again where the object is.
file(GLOB part "${case_DIR}/apart/CMakeFiles/kinds.dir/CudaOps/cubins/kinds/*.compute_80.cu.o.part")
file(WRITE "${part}" "no archive")
file(GLOB object "${case_DIR}/apart/CMakeFiles/kinds.dir/CudaOps/cubins/kinds/*.compute_90.cu.o.part")
file(REMOVE "${object}")
file(REMOVE "${case_DIR}/apart/libkinds.so")
file(GLOB object "${case_DIR}/apart/CMakeFiles/kinds.dir/CudaOps/cubins/kinds/*.cu.o")
list(FILTER object EXCLUDE REGEX "\\.compute_[0-9a-z]+\\.cu\\.o$")
file(REMOVE "${object}")
case_build(BUILD_DIR "${case_DIR}/apart")
expect_stdout(
  "CudaOps: .*kinds\\.cu is compiled for compute_80 once more: there is no result of its own step"
  "CudaOps: .*kinds\\.cu is compiled for compute_90 once more: there is no result of its own step"
)
expect_equal_code("parts that are gone" libkinds.so)

# A unit is named by the first thing that it defines; where that depends on the pass, its names differ. The name is looked
# for in PTX that fills a pipe more than once, by a build whose SIGPIPE is ignored, as those of services are.
string(REPEAT "asm volatile(\"add.s32 %0, %0, 1;\" : \"+r\"(v)); " 5000 steps)
file(
  WRITE "${case_DIR}/src/kinds.cu"
  "#ifndef __CUDA_ARCH__\nint first() { return 1; }\n#endif\nint second() { return 2; }\nnamespace {\n__global__ void anonymous(int* p) { int v = *p; ${steps}*p = v; }\n}\nvoid use(int* p) { anonymous<<<1, 1>>>(p); }\n"
)
case_step("SIGPIPE ignored" COMMAND sh -c "trap '' PIPE && exec ninja -C \"$0\" -j 2" "${case_DIR}/apart")
refuse_stdout("[Bb]roken pipe|write error")
expect_stdout("CudaOps: .*kinds\\.cu is compiled for compute_80 once more: its first definition depends on __CUDA_ARCH__")
case_build(BUILD_DIR "${case_DIR}/together")
expect_equal_code("another name in the host pass" libkinds.so)

# The compiler's own errors are said as ever.
file(APPEND "${case_DIR}/src/kinds.cu" "#if __CUDA_ARCH__ >= 900\nint wrong = nothing;\n#endif\n")
case_build(RESULT 1 BUILD_DIR "${case_DIR}/apart" ARGS --parallel 2)
expect_stdout("kinds\\.cu\\(10\\): error: identifier .nothing. is undefined")
