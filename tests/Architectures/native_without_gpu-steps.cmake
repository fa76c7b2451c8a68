# native on a machine without a GPU: a warning, and the common list. (llama.cpp#18413)
arch_configure(ARGS -DCMAKE_CUDA_ARCHITECTURES=native)
arch_expect(
  "common"
  "75-real;80-real;86-real;87-real;88-real;89-real;90-real;100-real;103-real;110-real;120-real;121-real;121-virtual"
  "CMAKE_CUDA_ARCHITECTURES"
  native
)
