// SPDX-License-Identifier: Apache-2.0
// Checks for launchers: an error names the op, the cause and the fix.
//
//   my_kernel<<<grid, block, 0, stream>>>(...);
//   CUDAOPS_CHECK_LAUNCH();
//   CUDAOPS_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
//
// Both throw std::runtime_error, which a torch op's caller sees as Python's RuntimeError:
//
//   op my_ops holds sm_80, sm_90; device 0 is sm_120: rebuild with -DCMAKE_CUDA_ARCHITECTURES=120
//   op my_ops holds gfx90a; device 0 is gfx942: rebuild with -DCMAKE_HIP_ARCHITECTURES=gfx942
//
// Uses the CUDA (or HIP) runtime only, no torch, and error.h in place of C++ headers that nvcc
// takes long to compile. The name of the op and the architectures in its binary come from
// definitions that cudaops_add_kernels() and add_torch_op() make:
//   CUDAOPS_OP_NAME               a string: "my_ops"
//   CUDAOPS_ARCHITECTURES         in device code, a string: "sm_80, sm_90a, PTX 90", or "gfx90a,
//                                 gfx942"
//   CUDAOPS_ARCHITECTURES_SYMBOL  in host files, the name of a linked constant with that string, so
//                                 that host files don't depend on the architectures
// Without them, the message has the file's __CUDA_ARCH_LIST__ (nvcc; without PTX) and the name of
// the function with the check. The texts are made by pure functions, which need no GPU and no CUDA
// headers. A check without an error costs the call and a comparison.
//
// With CUDAOPS_DEBUG=1, which the CMake option of that name defines, CUDAOPS_CHECK_LAUNCH() also
// waits for the kernel, so that a failure is reported where it was launched, with its name:
//
//   op my_ops: kernel scale(float*, long) <<<(4, 1, 1), (256, 1, 1)>>>, launched in launch_scale,
//   failed: cudaErrorIllegalAddress, an illegal memory access was encountered
#pragma once

#include <cstdlib>
#include <cstring>

#include "detail/gpu_runtime.h"
#include "error.h"
#if defined(CUDAOPS_DEBUG)
#include "detail/debug_launch.h"
#endif

namespace cudaops {

// Compute capability of an NVIDIA device, name of an AMD device. index is -1 if the runtime gave no
// answer.
struct Device {
  int index = -1;
  int major = -1;
  int minor = -1;
  char gfx[256] = "";  // "gfx90a:sramecc+:xnack-"
  bool is_amd = CUDAOPS_HIP;
};

// The causes for which the message has a specific fix.
enum class LaunchError {
  kNoKernelImage,   // nothing in the binary runs on this device
  kPtxTooNew,       // the driver can't compile PTX of this toolkit (CUDA only)
  kDriverTooOld,    // the driver is older than the runtime
  kNoDevice,        // none, or hidden from this process
  kEarlierFailure,  // a kernel that ran before broke the context; this launch only reports it
  kOther,
};

namespace detail {

// "90" for compute capability 9.0, "gfx90a" for "gfx90a:sramecc+:xnack-"; "" if unknown.
CUDAOPS_COLD inline ErrorText architecture_of(const Device& device) {
  ErrorText text;
  if (device.is_amd) {
    text.add(device.gfx, strcspn(device.gfx, ":"));
  } else if (device.major >= 0) {
    text << device.major << device.minor;
  }
  return text;
}

// "gfx90a:xnack-" runs on a device with that name and all the features that it names.
CUDAOPS_COLD inline bool gfx_serves(const char* entry, size_t size, const char* gfx) {
  size_t begin = 0;
  while (begin < size) {
    size_t end = begin;
    while (end < size && entry[end] != ':') ++end;
    bool found = false;
    // The name comes first in both; features in any order.
    for (const char* part = gfx; !found && *part != '\0'; part += *part == ':' ? 1 : 0) {
      const size_t part_size = strcspn(part, ":");
      found = part_size == end - begin && strncmp(part, entry + begin, part_size) == 0;
      if (begin == 0) break;
      part += part_size;
    }
    if (!found) return false;
    begin = end + 1;
  }
  return size > 0;
}

// One entry of CUDAOPS_ARCHITECTURES ("sm_90a", "PTX 90") against a device: a plain sm_ runs on
// later minors of its major, `a` on exactly its own, `f` on its family (the same major, forward),
// plain PTX on everything later.
CUDAOPS_COLD inline bool architecture_serves(const char* entry, size_t size, const Device& device) {
  if (device.is_amd) return gfx_serves(entry, size, device.gfx);
  const bool is_ptx = strncmp(entry, "PTX ", 4) == 0;
  const bool is_sm = strncmp(entry, "sm_", 3) == 0;
  if (!is_ptx && !is_sm) return false;
  const char* digits = entry + (is_ptx ? 4 : 3);
  char* suffix = nullptr;
  const long number = strtol(digits, &suffix, 10);
  const int major = static_cast<int>(number / 10);
  const int minor = static_cast<int>(number % 10);
  if (*suffix == 'a') return major == device.major && minor == device.minor;
  if (is_ptx && *suffix != 'f') {
    return device.major > major || (device.major == major && device.minor >= minor);
  }
  return device.major == major && device.minor >= minor;
}

}  // namespace detail

// Whether code for `architectures` ("sm_80, sm_90a, PTX 90" or "gfx90a, gfx942") runs on the
// device.
CUDAOPS_COLD inline bool architectures_serve(const char* architectures, const Device& device) {
  while (*architectures != '\0') {
    const size_t size = strcspn(architectures, ",");
    const size_t blanks = strspn(architectures, " ");
    if (blanks < size &&
        detail::architecture_serves(architectures + blanks, size - blanks, device)) {
      return true;
    }
    architectures += size;
    if (*architectures == ',') ++architectures;
  }
  return false;
}

// The sentence that is thrown.
//   op             name of the op
//   architectures  what its binary holds, as in CUDAOPS_ARCHITECTURES; "" if that is not known
//   where          the function or call that failed
//   error_text     the runtime's own name and description
CUDAOPS_COLD inline ErrorText launch_error_text(const char* op, const char* architectures,
                                                const char* where, LaunchError error,
                                                const char* error_text, const Device& device) {
  const bool is_amd = device.is_amd;
  const ErrorText architecture = detail::architecture_of(device);
  const char* const arch = architecture.c_str();
  const char* const option = is_amd ? "-DCMAKE_HIP_ARCHITECTURES=" : "-DCMAKE_CUDA_ARCHITECTURES=";
  ErrorText text;
  text << "op " << op;
  switch (error) {
    case LaunchError::kNoKernelImage:
      if (*architectures == '\0') {
        text << " has no code for this device";
      } else {
        text << " holds " << architectures;
      }
      if (*arch == '\0') {
        return text << ", which this device can't run: rebuild with " << option << "native";
      }
      return text << "; device " << device.index << " is " << (is_amd ? "" : "sm_") << arch
                  << ": rebuild with " << option << arch;
    case LaunchError::kPtxTooNew:
      if (*architectures != '\0') text << " holds " << architectures;
      text << ", and the driver is too old for the PTX of the toolkit that built it: update the "
              "driver";
      if (*arch != '\0') text << ", or rebuild with " << option << arch << "-real";
      return text;
    case LaunchError::kDriverTooOld:
      return text << ": the GPU driver is older than the "
                  << (is_amd ? "HIP runtime that the op found" : "CUDA runtime in the op") << " ("
                  << error_text << "): update the driver, or rebuild with an older "
                  << (is_amd ? "ROCm" : "toolkit");
    case LaunchError::kNoDevice:
      return text << ": no GPU can be used here (" << error_text << "): check "
                  << (is_amd ? "rocminfo and HIP_VISIBLE_DEVICES"
                             : "nvidia-smi and CUDA_VISIBLE_DEVICES");
    case LaunchError::kEarlierFailure:
      return text << ": " << where << " found the error of a kernel that ran before it ("
                  << error_text << "): run again with "
                  << (is_amd ? "AMD_SERIALIZE_KERNEL=3"
                             : "CUDA_LAUNCH_BLOCKING=1 or under compute-sanitizer")
                  << " to see which";
    case LaunchError::kOther:
      break;
  }
  return text << ": " << where << " failed: " << error_text;
}

namespace detail {

// "sm_80, sm_90" from the numbers of nvcc's __CUDA_ARCH_LIST__ ("800,900").
CUDAOPS_COLD inline ErrorText architectures_of_list(const char* list) {
  ErrorText text;
  while (*list != '\0') {
    char* end = nullptr;
    const long number = strtol(list, &end, 10);
    if (end == list) break;
    text << (*text.c_str() == '\0' ? "sm_" : ", sm_") << static_cast<int>(number / 10);
    list = end + strspn(end, ", ");
  }
  return text;
}

}  // namespace detail

#if defined(CUDAOPS_GPU)

namespace detail {

using RuntimeError = CUDAOPS_GPU(Error_t);

#if CUDAOPS_HIP

CUDAOPS_COLD inline LaunchError classify(RuntimeError error) {
  switch (error) {
    case hipErrorNoBinaryForGpu:
    case hipErrorInvalidDeviceFunction:
    case hipErrorSharedObjectInitFailed:
      return LaunchError::kNoKernelImage;
    case hipErrorInsufficientDriver:
      return LaunchError::kDriverTooOld;
    case hipErrorNoDevice:
      return LaunchError::kNoDevice;
    case hipErrorIllegalAddress:
    case hipErrorIllegalState:
    case hipErrorLaunchTimeOut:
    case hipErrorLaunchFailure:
    case hipErrorAssert:
      return LaunchError::kEarlierFailure;
    default:
      return LaunchError::kOther;
  }
}

CUDAOPS_COLD inline Device current_device() {
  Device device;
  hipDeviceProp_t properties;
  if (hipGetDevice(&device.index) != hipSuccess ||
      hipGetDeviceProperties(&properties, device.index) != hipSuccess) {
    return {};
  }
  strncpy(device.gfx, properties.gcnArchName, sizeof(device.gfx) - 1);
  return device;
}

#else

CUDAOPS_COLD inline LaunchError classify(RuntimeError error) {
  switch (error) {
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
      return LaunchError::kNoKernelImage;
    case cudaErrorUnsupportedPtxVersion:
      return LaunchError::kPtxTooNew;
    case cudaErrorInsufficientDriver:
      return LaunchError::kDriverTooOld;
    case cudaErrorNoDevice:
      return LaunchError::kNoDevice;
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchTimeout:
    case cudaErrorLaunchFailure:
    case cudaErrorAssert:
      return LaunchError::kEarlierFailure;
    default:
      return LaunchError::kOther;
  }
}

CUDAOPS_COLD inline Device current_device() {
  Device device;
  if (cudaGetDevice(&device.index) != cudaSuccess ||
      cudaDeviceGetAttribute(&device.major, cudaDevAttrComputeCapabilityMajor, device.index) !=
          cudaSuccess ||
      cudaDeviceGetAttribute(&device.minor, cudaDevAttrComputeCapabilityMinor, device.index) !=
          cudaSuccess) {
    return {};
  }
  return device;
}

#endif

// Throws std::runtime_error with the sentence; `where` is the call, or "the launch in " and a name.
// `architectures` are CUDAOPS_ARCHITECTURES, or the numbers of nvcc's __CUDA_ARCH_LIST__.
[[noreturn]] CUDAOPS_COLD inline void fail(RuntimeError error, const char* op,
                                           const char* architectures, const char* where_begin,
                                           const char* where_end) {
  const Device device = current_device();
  ErrorText held;
  if (*architectures >= '0' && *architectures <= '9') {
    held = architectures_of_list(architectures);
  } else {
    held << architectures;
  }
  LaunchError cause = classify(error);
  // The runtime reports "invalid device function" for a missing image and for a function that isn't
  // a kernel; the list of architectures tells them apart.
  if (cause == LaunchError::kNoKernelImage && device.index >= 0 &&
      architectures_serve(held.c_str(), device)) {
    cause = LaunchError::kOther;
  }
  ErrorText where;
  where << where_begin << where_end;
  ErrorText why;
  why << CUDAOPS_GPU(GetErrorName)(error) << ", " << CUDAOPS_GPU(GetErrorString)(error);
  throw_runtime_error(
      launch_error_text(op, held.c_str(), where.c_str(), cause, why.c_str(), device).c_str());
}

}  // namespace detail

// Throws std::runtime_error unless error is success. Called through the macros below.
inline void check(detail::RuntimeError error, const char* op, const char* architectures,
                  const char* where) {
  if (error != CUDAOPS_GPU(Success)) detail::fail(error, op, architectures, where, "");
}

inline void check_launch(const char* op, const char* architectures, const char* where) {
  // Clears the error, so that the next launch doesn't report it again.
  const detail::RuntimeError error = CUDAOPS_GPU(GetLastError)();
  if (error != CUDAOPS_GPU(Success)) {
    detail::fail(error, op, architectures, "the launch in ", where);
  }
}

#if defined(CUDAOPS_DEBUG)

// check_launch(), and waits for the kernel: its failure has its name.
CUDAOPS_HIDDEN inline void check_kernel(const char* op, const char* architectures,
                                        const char* where) {
  check_launch(op, architectures, where);
  ErrorText kernel;
  const detail::RuntimeError error = detail::wait_for_launch(kernel);
  if (error == CUDAOPS_GPU(Success)) return;
  kernel << ", launched in " << where << ",";
  ErrorText why;
  why << CUDAOPS_GPU(GetErrorName)(error) << ", " << CUDAOPS_GPU(GetErrorString)(error);
  throw_runtime_error(
      launch_error_text(op, "", kernel.c_str(), LaunchError::kOther, why.c_str(), Device())
          .c_str());
}

#endif

#endif  // CUDAOPS_GPU

}  // namespace cudaops

// Macros, because the two definitions are those of the file that launches, and __func__ is that of
// its function.
#if defined(CUDAOPS_OP_NAME)
#define CUDAOPS_CHECK_OP CUDAOPS_OP_NAME
#else
#define CUDAOPS_CHECK_OP __func__
#endif
#if defined(CUDAOPS_ARCHITECTURES)
#define CUDAOPS_CHECK_ARCHITECTURES CUDAOPS_ARCHITECTURES
#elif defined(CUDAOPS_ARCHITECTURES_SYMBOL)
// Hidden: another library may have a target of the same name.
#if defined(__GNUC__)
extern "C" __attribute__((visibility("hidden"))) const char CUDAOPS_ARCHITECTURES_SYMBOL[];
#else
extern "C" const char CUDAOPS_ARCHITECTURES_SYMBOL[];
#endif
#define CUDAOPS_CHECK_ARCHITECTURES CUDAOPS_ARCHITECTURES_SYMBOL
#elif defined(__CUDA_ARCH_LIST__)
#define CUDAOPS_CHECK_STRING(...) CUDAOPS_CHECK_STRING_OF(__VA_ARGS__)
#define CUDAOPS_CHECK_STRING_OF(...) #__VA_ARGS__
#define CUDAOPS_CHECK_ARCHITECTURES CUDAOPS_CHECK_STRING(__CUDA_ARCH_LIST__)
#else
#define CUDAOPS_CHECK_ARCHITECTURES ""
#endif

#if defined(CUDAOPS_DEBUG)
#define CUDAOPS_CHECK_LAUNCH() \
  ::cudaops::check_kernel(CUDAOPS_CHECK_OP, CUDAOPS_CHECK_ARCHITECTURES, __func__)
#else
#define CUDAOPS_CHECK_LAUNCH() \
  ::cudaops::check_launch(CUDAOPS_CHECK_OP, CUDAOPS_CHECK_ARCHITECTURES, __func__)
#endif
#define CUDAOPS_CHECK(call) \
  ::cudaops::check((call), CUDAOPS_CHECK_OP, CUDAOPS_CHECK_ARCHITECTURES, #call)
