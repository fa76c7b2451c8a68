# SPDX-License-Identifier: Apache-2.0
# What the reference kernels are built of. Included by cudaops_add_reference_kernels(), which reads this, in the scope of
# a function:
#   ops            names, each with <op>/<op>.cu, <op>/<op>_cpu.cpp and <op>/<op>_torch.cpp
#   <op>_sources   the op's other files
#   <op>_calls     what its kernels call: ops, or parts that are for some architectures only
#   <op>_shards    <template header> <number of files> <instantiation>...: together they would compile for half a minute or
#                  longer, and a file for each would read the headers again and again, 1.3 s of CPU time a file; the op's
#                  other files only declare the template
#   <part>_architectures, <part>_define   of a part; its sources are named whole

set(
  ops
  rms_norm
  layer_norm
  softmax
  cross_entropy
  swiglu
  geglu
  bias_gelu
  rope
  transpose
  quantize
  dequantize
  rms_norm_quantize
  swiglu_quantize
  attention
  attention_decode
  attention_float8
  rope_append_kv
  adamw
  optimizers
)

set(rms_norm_sources rms_norm/rms_norm_backward.cu)
set(layer_norm_sources layer_norm/layer_norm_backward.cu)
set(softmax_sources softmax/softmax_backward.cu)
set(cross_entropy_sources cross_entropy/cross_entropy_backward.cu)
set(attention_sources attention/attention_backward.cu attention/attention_sm80.cu attention/attention_backward_cpu.cpp)
set(attention_decode_sources attention_decode/attention_decode_plain.cu)

set(rms_norm_quantize_calls rms_norm quantize)
set(swiglu_quantize_calls swiglu quantize)
set(attention_calls attention_decode attention_sm90 attention_backward_sm90)
set(attention_backward_sm90_calls attention_sm90)
set(attention_float8_calls attention attention_float8_sm90)
set(attention_float8_sm90_calls attention_sm90)

set(rms_norm_quantize_shards rms_norm_quantize/rms_norm_quantize_of.cuh 3)
foreach(type IN ITEMS float __half cudaops::bfloat16)
  list(
    APPEND rms_norm_quantize_shards
    "template void cudaops_kernels::launch_rms_norm_quantize_of<${type}>(const cudaops_kernels::RmsNormQuantize&, cudaStream_t)"
  )
endforeach()

# The backward pass on tensor cores: for each element type and width of heads.
set(attention_shards attention/attention_backward_sm80.cuh 2)
foreach(type IN ITEMS __half cudaops::bfloat16)
  foreach(width IN ITEMS 64 128 256)
    list(
      APPEND attention_shards
      "template void cudaops_kernels::launch_attention_backward_sm80_of<${type}, ${width}>(const cudaops_kernels::AttentionBackward&, cudaStream_t)"
    )
  endforeach()
endforeach()

# For each shape of its tiles; without that architecture there is nothing in them.
set(attention_sm90_architectures 90a)
set(attention_sm90_define CUDAOPS_ATTENTION_WITH_SM90)
set(attention_sm90_sources attention/attention_sm90.cu attention/attention_sm90_one_tile.cu)
set(attention_sm90_shards attention/attention_sm90.cuh 5)
foreach(
  shape
  IN
  ITEMS
    64Short
    64
    96Short
    96
    128Short
    128
    192By128Short
    192By128
    192Short
    192
    256Short
    256
    128Dropout
    256Dropout
    64Bias
    128Bias
    256Bias
)
  list(
    APPEND attention_sm90_shards
    "template void cudaops_kernels::launch_attention_sm90_of<cudaops_kernels::AttentionSm90Shape${shape}>(const cudaops_kernels::Attention&, cudaStream_t)"
  )
endforeach()
set(attention_backward_sm90_architectures 90a)
set(attention_backward_sm90_define CUDAOPS_ATTENTION_BACKWARD_WITH_SM90)
set(attention_backward_sm90_sources attention/attention_backward_sm90.cu)
set(attention_backward_sm90_shards attention/attention_backward_sm90.cuh 3)
foreach(
  shape
  IN
  ITEMS 64 96 128 192By128 192 256 64Bias 128Bias 256Bias
)
  list(
    APPEND attention_backward_sm90_shards
    "template void cudaops_kernels::launch_attention_backward_sm90_of<cudaops_kernels::AttentionBackwardSm90Shape${shape}>(cudaops_kernels::DType, const cudaops_kernels::AttentionBackwardSm90Parameters&, cudaStream_t)"
  )
endforeach()
set(attention_float8_sm90_architectures 90a)
set(attention_float8_sm90_define CUDAOPS_ATTENTION_FLOAT8_WITH_SM90)
set(attention_float8_sm90_sources attention_float8/attention_float8_sm90.cu)
set(attention_float8_sm90_shards attention_float8/attention_float8_sm90.cuh 1)
foreach(shape IN ITEMS 64 128 192By128 256)
  list(
    APPEND attention_float8_sm90_shards
    "template void cudaops_kernels::launch_attention_float8_sm90_of<cudaops_kernels::AttentionSm90Float8Shape${shape}>(const cudaops_kernels::AttentionFloat8&, const void*, cudaStream_t)"
  )
endforeach()
