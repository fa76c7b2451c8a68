# Calls that are refused.
machine(CPU)
file(WRITE "${case_DIR}/src/scale.cuh" "template <class T> void scale(T*) {}\n")

misuse_name(cudaops_shard_instantiations "the variable for the result" [[TEMPLATE scale.cuh]])

misuse(
  [[cudaops_shard_instantiations(shards INSTANTIATIONS "template void scale<int>(int*)")]]
  [[
cudaops_shard_instantiations(shards): TEMPLATE is missing.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_shard_instantiations(shards TEMPLATE scale.cuh)]]
  [[
cudaops_shard_instantiations(shards): INSTANTIATIONS is missing.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_shard_instantiations(shards TEMPLATE scales.cuh INSTANTIATIONS "template void scale<int>(int*)")]]
  [[
cudaops_shard_instantiations(shards): TEMPLATE is no header that is there.
  found <case>/src/scales.cuh
  wanted the file that defines the template: .cuh .h .hpp .inl
 Fix: TEMPLATE <file.cuh>
]]
)

misuse(
  [[cudaops_shard_instantiations(shards TEMPLATE scale.cuh INSTANTIATIONS "template void scale<int>(int*)" FILES 0)]]
  [[
cudaops_shard_instantiations(shards): FILES is no number of files.
  found 0
  wanted 1 to 999
 Fix: leave FILES out
]]
)

misuse(
  [[cudaops_shard_instantiations(shards TEMPLATE scale.cuh INSTANTIATIONS "extern template void scale<int>(int*)")]]
  [[
cudaops_shard_instantiations(shards): INSTANTIATIONS contains something other than an explicit instantiation.
  found extern template void scale<int>(int*)
  wanted template <declaration with its arguments>, without a body
 Fix: "template void scale<float>(float*, int)"
]]
)

misuse(
  [[cudaops_shard_instantiations(shards TEMPLATE scale.cuh INSTANTIATIONS "template <> void scale<int>(int*)")]]
  [[
cudaops_shard_instantiations(shards): INSTANTIATIONS contains something other than an explicit instantiation.
  found template <> void scale<int>(int*)
  wanted template <declaration with its arguments>, without a body
 Fix: "template void scale<float>(float*, int)"
]]
)

misuse(
  [[
cudaops_shard_instantiations(
  shards
  TEMPLATE scale.cuh
  INSTANTIATIONS "template void scale<int>(int*)" "template void scale<int>(int*);"
)
]]
  [[
cudaops_shard_instantiations(shards): an instantiation is given twice in INSTANTIATIONS.
  found template void scale<int>(int*)
 Fix: leave one of them out
]]
)

misuse(
  [[cudaops_shard_instantiations(shards TEMPLATE scale.cuh INSTANTIATIONS " " ";")]]
  [[
cudaops_shard_instantiations(shards): INSTANTIATIONS is empty.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_shard_instantiations("a;b" TEMPLATE scale.cuh INSTANTIATIONS "template void scale<int>(int*)")]]
  [[
cudaops_shard_instantiations(): the first argument is the variable for the result.
  found 'a;b'
 Fix: <usage>
]]
)
