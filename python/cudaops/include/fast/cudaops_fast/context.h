// SPDX-License-Identifier: Apache-2.0
// Modes of the thread, torch's threads, and what at::globalContext() is asked.
#pragma once

#include <string_view>

#include "base.h"

namespace at {
inline namespace cudaops_fast_1 {

class AutoDispatchBelowADInplaceOrView {
 public:
  AutoDispatchBelowADInplaceOrView() { cudaops_fast::bridge()->enter_below(place_); }
  ~AutoDispatchBelowADInplaceOrView() { cudaops_fast::bridge()->leave_below(place_); }
  AutoDispatchBelowADInplaceOrView(const AutoDispatchBelowADInplaceOrView&) = delete;

 private:
  alignas(void*) unsigned char place_[cudaops_fast::size_of_below];
};

class AutoGradMode {
 public:
  explicit AutoGradMode(bool enabled) : before_(cudaops_fast::bridge()->grad_mode(enabled)) {}
  ~AutoGradMode() { cudaops_fast::bridge()->grad_mode(before_); }
  AutoGradMode(const AutoGradMode&) = delete;

 private:
  bool before_;
};
class NoGradGuard : public AutoGradMode {
 public:
  NoGradGuard() : AutoGradMode(false) {}
};

template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain_size, const F& body) {
  cudaops_fast::bridge()->parallel_for(
      begin, end, grain_size,
      [](void* closure, int64_t from, int64_t to) { (*static_cast<const F*>(closure))(from, to); },
      const_cast<void*>(static_cast<const void*>(&body)));
}
inline int get_num_threads() { return static_cast<int>(cudaops_fast::bridge()->threads(0)); }
inline int get_thread_num() { return static_cast<int>(cudaops_fast::bridge()->threads(1)); }

// What at::globalContext() is asked.
class Context {
 public:
  static void alertNotDeterministic(std::string_view caller) {
    cudaops_fast::bridge()->alert_not_deterministic(caller.data(), caller.size());
  }
  bool deterministicAlgorithms() const {
    return cudaops_fast::bridge()->deterministic_algorithms();
  }
  Context() = default;
  Context(const Context&) = delete;
};
inline Context& globalContext() {
  static Context context;
  return context;
}

}  // namespace cudaops_fast_1
}  // namespace at

namespace c10 {
using at::AutoGradMode;
}
