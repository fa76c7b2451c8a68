# The kernels of attention for sm_90a keep their numbers in registers, and ptxas finds their matrix products independent of
# what runs beside them. One whose products are serialised, or whose registers are stored, computes the same at half the rate,
# which no comparison of results sees. One shape of tiles, the one with the fewest registers to spare; CUDAOPS_TEST_LONG=1
# has all.
real_machine()
if(NOT real_TORCH)
  return()
endif()
case_use_compiler_cache()
set(
  shapes
  AttentionSm90Shape128
  AttentionSm90Float8Shape64
  WithScoreOptions<AttentionSm90Float8Shape64>
  AttentionSm90Shape128Dropout
)
set(backward_shapes 128 192By128 256)
if(case_LONG)
  set(
    shapes
    AttentionSm90Shape64Short
    AttentionSm90Shape64
    AttentionSm90Shape96Short
    AttentionSm90Shape96
    AttentionSm90Shape128Short
    AttentionSm90Shape128
    AttentionSm90Shape192By128Short
    AttentionSm90Shape192By128
    AttentionSm90Shape192Short
    AttentionSm90Shape192
    AttentionSm90Shape256Short
    AttentionSm90Shape256
    AttentionSm90Shape128Dropout
    AttentionSm90Shape256Dropout
    AttentionSm90Shape64Bias
    AttentionSm90Shape128Bias
    AttentionSm90Shape256Bias
    AttentionSm90Float8Shape64
    AttentionSm90Float8Shape128
    AttentionSm90Float8Shape192By128
    AttentionSm90Float8Shape256
    WithScoreOptions<AttentionSm90Shape128Short>
    WithScoreOptions<AttentionSm90Shape128>
    WithScoreOptions<AttentionSm90Shape192>
    WithScoreOptions<AttentionSm90Shape256>
    WithScoreOptions<AttentionSm90Float8Shape64>
    WithScoreOptions<AttentionSm90Float8Shape256>
  )
  set(
    backward_shapes
    64
    96
    128
    192By128
    192
    256
  )
endif()
set(sources "")
set(number_of_one_tile 0)
if(case_LONG)
  # Six shapes, two types, sequences of one length or of different ones.
  file(
    WRITE "${case_DIR}/src/one_tile.cu"
    "#include \"attention/attention_sm90_one_tile.cu\"
"
  )
  list(APPEND sources one_tile.cu)
  set(number_of_one_tile 24)
endif()
set(number_varlen 0)
foreach(shape IN LISTS shapes)
  string(MAKE_C_IDENTIFIER "${shape}" file)
  set(element cudaops::bfloat16)
  if(shape MATCHES "Float8")
    set(element uint16_t)
  endif()
  set(lengths false)
  if(shape STREQUAL "AttentionSm90Float8Shape64")
    # Lengths of sequences leave it the fewest.
    list(APPEND lengths true)
    set(number_varlen 1)
  endif()
  set(instantiations "")
  foreach(is_varlen IN LISTS lengths)
    string(
      APPEND instantiations
      "template __global__ void cudaops_kernels::attention_sm90_kernel<${element}, ${shape}, ${is_varlen}>(
    const __grid_constant__ AttentionSm90Parameters);
"
    )
  endforeach()
  file(
    WRITE "${case_DIR}/src/${file}.cu"
    "#include \"attention_float8/attention_float8_sm90.cuh\"
using namespace cudaops_kernels;
${instantiations}"
  )
  list(APPEND sources ${file}.cu)
endforeach()
# With options too where they leave the fewest registers: there ptxas serialises products when expressions before them only
# come in another order.
set(number_with_options 0)
foreach(shape IN LISTS backward_shapes)
  set(kernels "false, false")
  if(shape STREQUAL "192By128")
    list(APPEND kernels "false, true")
    set(number_with_options 1)
  endif()
  set(instantiations "")
  foreach(kernel IN LISTS kernels)
    string(
      APPEND instantiations
      "template void cudaops_kernels::launch_attention_backward_sm90_type<
  cudaops::bfloat16, cudaops_kernels::AttentionBackwardSm90Shape${shape}, ${kernel}>(
    const cudaops_kernels::AttentionBackwardSm90Parameters&, cudaStream_t);
"
    )
  endforeach()
  file(
    WRITE "${case_DIR}/src/backward_shape_${shape}.cu"
    "#include \"attention/attention_backward_sm90.cuh\"
${instantiations}"
  )
  list(APPEND sources backward_shape_${shape}.cu)
endforeach()
list(JOIN sources " " sources)
configure(
  "cudaops_add_kernels(shapes SOURCES ${sources} ARCHITECTURES 90a)
target_include_directories(shapes PRIVATE \"${case_REPO}/kernels\")
target_compile_options(shapes PRIVATE \$<\$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-v>)"
  ARGS
    -DCMAKE_CUDA_ARCHITECTURES=90a-real
    -DCMAKE_BUILD_TYPE=Release
)
case_build(ARGS --verbose)
string(
  REGEX MATCHALL "Compiling entry function '[^']*attention_(backward_)?sm90_(one_tile_)?kernel"
  kernels
  "${case_STEP_STDOUT}"
)
list(LENGTH kernels number)
list(LENGTH shapes expected)
list(LENGTH backward_shapes expected_backward)
math(
  EXPR
  expected
  "${expected} + ${expected_backward} + ${number_with_options} + ${number_varlen} + ${number_of_one_tile}"
)
case_equal("kernels that were compiled" "${number}" "${expected}")
case_not_match("serialised products" "${case_STEP_STDOUT}" "serialized")
case_not_match("waits that ptxas added" "${case_STEP_STDOUT}" "wait is injected[^\n]*[0-9]attention_sm90_(one_tile_)?kernel")
string(REGEX MATCHALL "[0-9]+ bytes spill stores" spills "${case_STEP_STDOUT}")
list(REMOVE_DUPLICATES spills)
case_equal("spills" "${spills}" "0 bytes spill stores")
