# Where the request comes from: each source alone, then what outweighs what.
set(
  common
  "75-real;80-real;86-real;87-real;88-real;89-real;90-real;100-real;103-real;110-real;120-real;121-real;121-virtual"
)
arch_configure()
arch_expect("nothing is set" "${common}" default common)
arch_configure(ARGS "-DCMAKE_CUDA_ARCHITECTURES=8.6 Hopper")
arch_expect("torch's spelling in CMake's variable" "86-real;90-real" "CMAKE_CUDA_ARCHITECTURES" "8.6 Hopper")
arch_configure(ARGS -DCMAKE_CUDA_ARCHITECTURES=all-major)
arch_expect(
  "a word"
  "75-real;80-real;90-real;100-real;110-real;120-real;120-virtual"
  "CMAKE_CUDA_ARCHITECTURES"
  "all-major"
)
arch_configure(ARGS -DTORCH_CUDA_ARCH_LIST=8.6)
arch_expect("torch's variable" "86-real" TORCH_CUDA_ARCH_LIST 8.6)

# Empty and OFF say nothing; OFF, as find_package(Torch) leaves it, doesn't hide the user's value.
arch_configure(ARGS -DCMAKE_CUDA_ARCHITECTURES= -DTORCH_CUDA_ARCH_LIST=8.6)
arch_expect("an empty variable" "86-real" TORCH_CUDA_ARCH_LIST 8.6)
arch_configure(BEFORE "set(CMAKE_CUDA_ARCHITECTURES OFF)" ARGS -DTORCH_CUDA_ARCH_LIST=8.6)
arch_expect("OFF" "86-real" TORCH_CUDA_ARCH_LIST 8.6)
arch_configure(BEFORE "set(CMAKE_CUDA_ARCHITECTURES OFF)" ARGS -DCMAKE_CUDA_ARCHITECTURES=90)
arch_expect("OFF in front of the user's" "90-real;90-virtual" "CMAKE_CUDA_ARCHITECTURES" 90)
arch_configure(BEFORE "set(CMAKE_CUDA_ARCHITECTURES 80)" ARGS -DCMAKE_CUDA_ARCHITECTURES=90)
arch_expect("set() in front of the cache" "80-real;80-virtual" "CMAKE_CUDA_ARCHITECTURES" 80)

# A GPU: its own arch, unless something is asked for or a wheel is built.
file(WRITE "${case_DIR}/bin/nvidia-smi" "#!/bin/sh\necho '0, GPU-0-1, 12.1'\n")
file(CHMOD "${case_DIR}/bin/nvidia-smi" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
case_path("${case_DIR}/bin")
arch_configure()
arch_expect("a visible GPU" "121-real" "visible GPUs" "12.1")
arch_configure(BEFORE "set(SKBUILD 2)")
arch_expect("a wheel" "${common}" default common)
arch_configure(BEFORE "set(SKBUILD 2)" ARGS -DCMAKE_CUDA_ARCHITECTURES=native)
arch_expect("native is asked for" "121-real" "CMAKE_CUDA_ARCHITECTURES" native)
foreach(hidden IN ITEMS "" -1)
  case_environment("CUDA_VISIBLE_DEVICES=${hidden}")
  arch_configure()
  arch_expect("a GPU hidden by '${hidden}'" "${common}" default common)
endforeach()
case_environment(UNSET CUDA_VISIBLE_DEVICES)

case_environment(TORCH_CUDA_ARCH_LIST=8.0)
arch_configure()
arch_expect("environment before GPU" "80-real" "environment TORCH_CUDA_ARCH_LIST" 8.0)
case_environment("TORCH_CUDA_ARCH_LIST= ;")
arch_configure()
arch_expect("an empty environment" "121-real" "visible GPUs" "12.1")
case_environment(TORCH_CUDA_ARCH_LIST=8.0 CUDAARCHS=89)
arch_configure()
arch_expect("CUDAARCHS before torch's" "89-real;89-virtual" "environment CUDAARCHS" 89)
arch_configure(ARGS -DCMAKE_CUDA_ARCHITECTURES=90a)
arch_expect("CMake's before all" "90a-real;90a-virtual" "CMAKE_CUDA_ARCHITECTURES" 90a)

# A second match in a subdirectory sees our own value in the variable, and takes it for no request.
case_environment(UNSET CUDAARCHS)
arch_configure(
  AFTER
    "_cudaops_state_get(ARCHITECTURES_VARIABLE CMAKE_CUDA_ARCHITECTURES)\n_cudaops_arch_request(CUDA second)\nfile(WRITE [==[${case_DIR}/second.txt]==] \"\${second_SOURCE}\")"
)
file(READ "${case_DIR}/second.txt" second)
case_equal("the second request" "${second}" "environment TORCH_CUDA_ARCH_LIST")
