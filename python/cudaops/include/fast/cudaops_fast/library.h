// SPDX-License-Identifier: Apache-2.0
// TORCH_LIBRARY and its like: ops of one's own, known to the dispatcher by their schemas.
#pragma once

#include "binder.h"

namespace c10 {
inline namespace cudaops_fast_1 {
enum class DispatchKey : uint16_t {
  CPU,
  CUDA,
  Meta,
  CompositeImplicitAutograd,
  CompositeExplicitAutograd,
  Autograd,
  AutogradCPU,
  AutogradCUDA
};
}  // namespace cudaops_fast_1
}  // namespace c10

namespace torch {
inline namespace cudaops_fast_1 {

class Library {
 public:
  enum Kind { DEF, FRAGMENT, IMPL };
  Library(Kind kind, const char* name, const char* key, const char* file, uint32_t line)
      : library_(cudaops_fast::bridge()->open_library(kind, name, key, file, line)) {}
  Library(const Library&) = delete;
  ~Library() { cudaops_fast::bridge()->close_library(library_); }

  Library& def(const char* schema) {
    cudaops_fast::bridge()->define(library_, schema);
    return *this;
  }
  // With a whole schema only: one that torch derives from the function's type is torch's own work.
  template <class F>
  Library& def(const char* schema, F&& function) {
    cudaops_fast::Closure closure =
        cudaops_fast::make_kernel<std::decay_t<F>>(std::forward<F>(function));
    cudaops_fast::bridge()->define_with(library_, schema, closure.signature.c_str(), closure.invoke,
                                        closure.closure, closure.free);
    return *this;
  }
  template <class F>
  Library& impl(const char* name, F&& function) {
    cudaops_fast::Closure closure =
        cudaops_fast::make_kernel<std::decay_t<F>>(std::forward<F>(function));
    cudaops_fast::bridge()->implement(library_, name, closure.signature.c_str(), closure.invoke,
                                      closure.closure, closure.free);
    return *this;
  }

 private:
  void* library_;
};

namespace detail {
class TorchLibraryInit {
 public:
  TorchLibraryInit(Library::Kind kind, void (*fill)(Library&), const char* name, const char* key,
                   const char* file, uint32_t line)
      : library_(kind, name, key, file, line) {
    fill(library_);
  }

 private:
  Library library_;
};
}  // namespace detail

}  // namespace cudaops_fast_1
}  // namespace torch

#define CUDAOPS_FAST_LIBRARY(kind, ns, key, variable, id)                                         \
  static void CUDAOPS_FAST_CONCAT(cudaops_fast_library_##ns##_, id)(::torch::Library&);           \
  static const ::torch::detail::TorchLibraryInit CUDAOPS_FAST_CONCAT(                             \
      cudaops_fast_init_##ns##_, id)(::torch::Library::kind,                                      \
                                     &CUDAOPS_FAST_CONCAT(cudaops_fast_library_##ns##_, id), #ns, \
                                     key, __FILE__, __LINE__);                                    \
  void CUDAOPS_FAST_CONCAT(cudaops_fast_library_##ns##_, id)(::torch::Library & variable)
#define TORCH_LIBRARY(ns, m) CUDAOPS_FAST_LIBRARY(DEF, ns, nullptr, m, def)
#define TORCH_LIBRARY_FRAGMENT(ns, m) CUDAOPS_FAST_LIBRARY(FRAGMENT, ns, nullptr, m, __COUNTER__)
#define TORCH_LIBRARY_IMPL(ns, k, m) CUDAOPS_FAST_LIBRARY(IMPL, ns, #k, m, __COUNTER__)
