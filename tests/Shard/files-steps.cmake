# Which files there are, and which of them change: one an instantiation up to 16, whatever this machine is; one more at
# the end changes one file; nothing changed writes nothing. Without CUDA the files are there, and not compiled.
machine(CPU)
file(WRITE "${case_DIR}/src/scale.cuh" "template <class T, int N> void scale(T*) {}\n")
set(
  code
  [==[
set(lines "")
foreach(n RANGE 1 ${COUNT})
  list(APPEND lines "template void scale<float, ${n}>(float*);")
endforeach()
cudaops_shard_instantiations(shards TEMPLATE scale.cuh INSTANTIATIONS ${lines} ${FILES})
list(LENGTH shards length)
message(STATUS "files: ${length}")
cudaops_add_kernels(scale SHARED SOURCES op.cpp ${shards})
]==]
)
set(dir "${case_BUILD_DIR}/shards.shards")
foreach(
  pair
  IN
  ITEMS 1=1 3=3 16=16 17=16 40=16
)
  string(REPLACE "=" ";" pair "${pair}")
  list(GET pair 0 count)
  list(GET pair 1 files)
  configure("${code}" ARGS -DCOUNT=${count} -DFILES=)
  expect_stdout("files: ${files} --")
endforeach()
file(READ "${dir}/scale_0.cu" text)
case_equal(
  "the first of 16 files for 40"
  "${text}"
  "#include \"scale.cuh\"\n\ntemplate void scale<float, 1>(float*);\ntemplate void scale<float, 17>(float*);\ntemplate void scale<float, 33>(float*);\n\n// Gives what is internal to this file the same name in each compile.\n#pragma weak cudaops_shard_shards_0\nextern \"C\" {\n__attribute__((visibility(\"hidden\"))) extern const char cudaops_shard_shards_0;\nconst char cudaops_shard_shards_0 = 0;\n}\n"
)
configure("${code}" ARGS -DCOUNT=40 "-DFILES=FILES;3")
expect_stdout("files: 3 --")
case_build()

foreach(i RANGE 0 15)
  file(REMOVE "${dir}/scale_${i}.cu")
endforeach()
configure("${code}" ARGS -DCOUNT=20 -DFILES=)
foreach(i RANGE 0 15)
  file(TOUCH "${dir}/scale_${i}.cu")
  file(TIMESTAMP "${dir}/scale_${i}.cu" before_${i} "%s")
  file(SHA256 "${dir}/scale_${i}.cu" text_${i})
endforeach()
execute_process(COMMAND "${CMAKE_COMMAND}" -E sleep 1.1)
configure("${code}" ARGS -DCOUNT=21 -DFILES=)
set(written "")
foreach(i RANGE 0 15)
  file(TIMESTAMP "${dir}/scale_${i}.cu" after "%s")
  if(NOT after STREQUAL before_${i})
    list(APPEND written ${i})
  endif()
endforeach()
case_equal("files that one more instantiation writes" "${written}" "4")

# One variable used twice, and two that make the same name: each call has files of its own.
file(WRITE "${case_DIR}/src/other/scale.cuh" "template <class T, int N> void scale(T*) {}\n")
configure(
  [==[
foreach(header IN ITEMS scale.cuh other/scale.cuh)
  cudaops_shard_instantiations(shards TEMPLATE ${header} INSTANTIATIONS "template void scale<float, 1>(float*)")
  message(STATUS "here: ${shards}")
  get_source_file_property(includes "${shards}" INCLUDE_DIRECTORIES)
  message(STATUS "includes: ${includes}")
endforeach()
cudaops_shard_instantiations(a.b TEMPLATE scale.cuh INSTANTIATIONS "template void scale<float, 1>(float*)")
message(STATUS "here: ${a.b}")
cudaops_shard_instantiations(a_b TEMPLATE scale.cuh INSTANTIATIONS "template void scale<float, 1>(float*)")
message(STATUS "here: ${a_b}")
]==]
)
expect_stdout(
  "here: [^;]*/shards\\.shards/scale_0\\.cu -- includes: [^;]*/src -- here: [^;]*/shards_2\\.shards/scale_0\\.cu -- includes: [^;]*/src/other -- here: [^;]*/a_b\\.shards/scale_0\\.cu -- here: [^;]*/a_b_2\\.shards/scale_0\\.cu"
)
