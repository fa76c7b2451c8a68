# One HIP runtime in a process: the op needs the SONAME of the copy that torch's wheel brings (its file is called
# libamdhip64.so), and no path of the ROCm that built it stays in an installed library.
hip_machine()
hip_sources()
match(ARGS ${hip_ARGS} "-DCMAKE_INSTALL_PREFIX=${case_DIR}/prefix" AFTER "add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op_gpu.cpp op.cu INSTALL lib)
target_link_options(my_op PRIVATE -Wl,--no-as-needed)"
)
case_build()
case_step(needed COMMAND readelf -d "${case_BUILD_DIR}/libmy_op.so")
string(REGEX MATCHALL "\\[libamdhip64[^]]*\\]" needed "${case_STEP_STDOUT}")
list(REMOVE_DUPLICATES needed)
case_equal("the HIP runtime" "${needed}" "[libamdhip64.so.6]")
case_step(install COMMAND "${case_CMAKE}" --install "${case_BUILD_DIR}")
case_step(runpath COMMAND readelf -d "${case_DIR}/prefix/lib/libmy_op.so")
case_not_match("installed RUNPATH" "${case_STEP_STDOUT}" "${case_DIR}|RUNPATH|RPATH")
