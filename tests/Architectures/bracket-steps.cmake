# A lone bracket joins all that follows it in CMake's lists, the lines of a message too.
arch_configure(BEFORE "set(CMAKE_CUDA_ARCHITECTURES [==[90;[80]==])")
