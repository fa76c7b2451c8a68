# The fake answers what the real one does.
fake_toolkit("${case_DIR}/cuda" VERSION 12.4 REAL_BOUNDS)
set(nvcc "${case_DIR}/cuda/bin/nvcc")
case_step(version COMMAND "${nvcc}" --version)
case_match("--version" "${case_STEP_STDOUT}" "Cuda compilation tools, release 12.4, V12.4.131 Build")
case_step(list COMMAND "${nvcc}" --list-gpu-arch)
case_equal(
  "--list-gpu-arch" "${case_STEP_STDOUT}"
  "compute_50\ncompute_52\ncompute_53\ncompute_60\ncompute_61\ncompute_62\ncompute_70\ncompute_72\ncompute_75\ncompute_80\ncompute_86\ncompute_87\ncompute_89\ncompute_90\n"
)
case_step(help COMMAND "${nvcc}" --help)
case_match("--help" "${case_STEP_STDOUT}" "'compute_90a'.*'sm_90a'")
case_step(dryrun COMMAND "${nvcc}" --dryrun __cudaops__.cu)
case_match("--dryrun" "${case_STEP_STDERR}" "#. TOP=.*/cuda/bin/\\.\\. .*#. INCLUDES=\"-I.*/include\""
)
file(WRITE "${case_DIR}/a.cu" "int x;\n")
case_step(arch RESULT 1 COMMAND "${nvcc}" -c a.cu -o a.o -arch=sm_100)
case_equal("unknown arch" "${case_STEP_STDERR}" "nvcc fatal   : Unsupported gpu architecture 'sm_100'\n")
case_step(ptx COMMAND "${nvcc}" -cubin -arch=sm_90a a.cu -o a.cubin)
fake_gnu("${case_DIR}/g++-14" VERSION 14.1.0)
case_step(host RESULT 1 COMMAND "${nvcc}" "-ccbin=${case_DIR}/g++-14" -c a.cu -o a.o)
case_match("gcc too new" "${case_STEP_STDERR}" "unsupported GNU version! gcc versions later than 13 are not supported!")
set_property(GLOBAL PROPERTY case_STDERR "")

fake_toolkit("${case_DIR}/mixed" VERSION 13.2 LAYOUT PIP CICC_VERSION 13.5 CRT_VERSION 13.5)
case_step(mixed RESULT 255 COMMAND "${case_DIR}/mixed/nvidia/cu13/bin/nvcc" -c a.cu -o a.o)
case_match("cicc newer than ptxas" "${case_STEP_STDERR}" "Unsupported .version 9.5; current version is 9.2")
fake_toolkit("${case_DIR}/old" VERSION 10.1)
case_step(old RESULT 1 COMMAND "${case_DIR}/old/bin/nvcc" --list-gpu-arch)
case_match("10.1" "${case_STEP_STDERR}" "Unknown option '--list-gpu-arch'")
set_property(GLOBAL PROPERTY case_STDERR "")
