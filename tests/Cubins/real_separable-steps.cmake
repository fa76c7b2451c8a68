# CUDA_SEPARABLE_COMPILATION: device code that is linked later is compiled apart, too, and the objects are those of
# architectures compiled together.
real_machine()
if(NOT real_TORCH)
  return()
endif()
set(
  code
  [==[
cudaops_add_kernels(linked SHARED SOURCES rdc_a.cu rdc_b.cu ${CUBINS})
set_target_properties(linked PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
]==]
)
set(case_GENERATOR Ninja)
two_projects("${code}" ARGS "-DTORCH_CUDA_ARCH_LIST=8.0 9.0+PTX" -DCUDAOPS_CACHE=OFF)
refuse_stdout("compiled together")
set(object CMakeFiles/linked.dir/rdc_a.cu.o)
case_build(BUILD_DIR "${case_DIR}/together" ARGS --target ${object})
case_build(BUILD_DIR "${case_DIR}/apart" ARGS --parallel 2)
expect_stdout("rdc_a_[0-9a-f]+\\.compute_90\\.cu\\.o")
# No architecture is compiled a second time, with the object.
refuse_stdout("once more")
file(GLOB objects "${case_DIR}/apart/CMakeFiles/linked.dir/CudaOps/cubins/linked/rdc_a_??????.cu.o")
set(codes "")
foreach(file IN LISTS objects ITEMS "${case_DIR}/together/${object}")
  set(section "${case_DIR}/section")
  case_step(
    "code of ${file}"
    COMMAND objcopy -O binary -j __nv_relfatbin --set-section-flags __nv_relfatbin=alloc "${file}" "${section}"
  )
  if(EXISTS "${section}")
    file(READ "${section}" text HEX)
    file(REMOVE "${section}")
    string(LENGTH "${text}" length)
    if(length GREATER 1000)
      list(APPEND codes "${text}")
    endif()
  endif()
endforeach()
list(LENGTH codes number)
case_equal("objects with code that is to be linked" "${number}" 2)
list(REMOVE_DUPLICATES codes)
list(LENGTH codes number)
case_equal("different code in them" "${number}" 1)
case_step(
  load
  COMMAND "${real_TORCH}" -I -S -c "import ctypes; ctypes.CDLL('${case_DIR}/apart/liblinked.so', mode=2).launch_scale"
)
