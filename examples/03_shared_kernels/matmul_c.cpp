// SPDX-License-Identifier: Apache-2.0
// The kernels for everybody who has no torch: C functions for ctypes, cffi, Julia, Rust.
#include <exception>
#include <string>

#include "matmul.h"

extern "C" {

void matmul_bf16_on_cpu(const uint16_t* a, const uint16_t* b, float* out, int64_t num_m,
                        int64_t num_n, int64_t num_k) {
  matmul::run_on_cpu({a, b, out, num_m, num_n, num_k});
}

// Device pointers and a cudaStream_t (null: the default stream). Returns null, or what went wrong;
// the text stays valid until this thread's next call.
const char* matmul_bf16_on_cuda([[maybe_unused]] const uint16_t* a,
                                [[maybe_unused]] const uint16_t* b, [[maybe_unused]] float* out,
                                [[maybe_unused]] int64_t num_m, [[maybe_unused]] int64_t num_n,
                                [[maybe_unused]] int64_t num_k, [[maybe_unused]] void* stream) {
#ifdef HAVE_CUDA
  static thread_local std::string error_text;
  try {
    matmul::launch_on_cuda({a, b, out, num_m, num_n, num_k}, stream);
    return nullptr;
  } catch (const std::exception& error) {
    error_text = error.what();
    return error_text.c_str();
  }
#else
  return "built without CUDA";
#endif
}

}  // extern "C"
