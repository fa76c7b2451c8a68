// SPDX-License-Identifier: Apache-2.0
// Devices, streams, and results of CUDA's functions.
#pragma once

#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <string>

#include "values.h"

namespace {

struct Guard {
  c10::impl::VirtualGuardImpl impl;
  c10::Device before;

  Guard(c10::DeviceType type, int64_t index) : impl(type), before(impl.getDevice()) {
    if (index >= 0) impl.setDevice(c10::Device(type, static_cast<c10::DeviceIndex>(index)));
  }
  ~Guard() { impl.uncheckedSetDevice(before); }
};

// A function of torch's for CUDA, by its symbol. It isn't linked: the bridge is the same for a
// torch without CUDA.
template <class F>
F cuda_function(const char* symbol, const char* library = "libtorch_cuda.so") {
  void* opened = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  return opened ? reinterpret_cast<F>(dlsym(opened, symbol)) : nullptr;
}

// What its header declares, for the error where a torch hasn't it.
template <class F>
F required(F found, const char* name) {
  TORCH_CHECK(found, "fast headers: this torch has no ", name);
  return found;
}

void current_stream(int32_t type, int64_t index, int64_t* id, int64_t* found_index, void** native) {
  const c10::impl::VirtualGuardImpl impl(static_cast<c10::DeviceType>(type));
  const c10::Device wanted = index < 0 ? impl.getDevice()
                                       : c10::Device(static_cast<c10::DeviceType>(type),
                                                     static_cast<c10::DeviceIndex>(index));
  const c10::Stream stream = impl.getStream(wanted);
  *id = stream.id();
  *found_index = stream.device_index();
  static const auto ask =
      cuda_function<int32_t (*)(int32_t, void**)>("aoti_torch_get_current_cuda_stream");
  TORCH_CHECK(ask, "fast headers: this torch has no CUDA");
  TORCH_CHECK(ask(static_cast<int32_t>(*found_index), native) == 0,
              "fast headers: no current stream of device ", *found_index);
}

void check_cuda(int32_t error, const char* file, const char* function, uint32_t line) {
  using Check = int32_t (*)(int32_t, const char*, const char*, uint32_t, bool, char**);
  static const auto check = cuda_function<Check>("torch_c10_cuda_check_msg");
  static const auto free_text = cuda_function<void (*)(char*)>("torch_c10_cuda_free_error_msg");
  if (!check) {
    TORCH_CHECK(error == 0, "fast headers: CUDA error ", error, " in a torch that has no CUDA");
    return;
  }
  char* text = nullptr;
  check(error, file, function, line, true, &text);
  if (!text) return;
  const std::string message(text);
  free_text(text);
  throw c10::AcceleratorError(c10::SourceLocation{function, file, line}, error, message);
}

const void* device_properties(int64_t index) {
  static const auto of =
      cuda_function<const void* (*)(c10::DeviceIndex)>("_ZN2at4cuda19getDevicePropertiesEa");
  static const auto of_current =
      cuda_function<const void* (*)()>("_ZN2at4cuda26getCurrentDevicePropertiesEv");
  if (index < 0) return required(of_current, "at::cuda::getCurrentDeviceProperties()")();
  return required(of, "at::cuda::getDeviceProperties()")(static_cast<c10::DeviceIndex>(index));
}

int32_t maybe_set_device(int64_t index) {
  static const auto set = cuda_function<int32_t (*)(c10::DeviceIndex)>(
      "_ZN3c104cuda14MaybeSetDeviceEa", "libc10_cuda.so");
  return required(set, "c10::cuda::MaybeSetDevice()")(static_cast<c10::DeviceIndex>(index));
}

}  // namespace
