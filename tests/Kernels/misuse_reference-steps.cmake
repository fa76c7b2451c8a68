# Names of reference kernels that don't exist, and none at all.
machine(CPU)

set(
  names
  "rms_norm layer_norm softmax cross_entropy swiglu geglu bias_gelu rope transpose quantize dequantize rms_norm_quantize swiglu_quantize attention attention_decode attention_float8 rope_append_kv adamw optimizers"
)
misuse(
  [[cudaops_add_reference_kernels(rms_norm rms_norn)]]
  "cudaops_add_reference_kernels: there is no op of this name. found rms_norn wanted one of ${names} Fix: cudaops_add_reference_kernels(rms_norm)"
)
misuse(
  [[cudaops_add_reference_kernels(gemm)]]
  "cudaops_add_reference_kernels: there is no op of this name. found gemm wanted one of ${names} Fix: cudaops_add_reference_kernels(<name>)"
)
misuse(
  [[cudaops_add_reference_kernels()]]
  "cudaops_add_reference_kernels: takes names of ops. wanted some of ${names} Fix: cudaops_add_reference_kernels(rms_norm)"
)
