// SPDX-License-Identifier: Apache-2.0
// Checks for launchers: an error names the op, the cause and the cure.
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
// Only the CUDA (or HIP) runtime is used, no torch. The op's name and what its binary holds come
// from two definitions that cudaops_add_kernels() and add_torch_op() make:
//   CUDAOPS_OP_NAME        a string: "my_ops"
//   CUDAOPS_ARCHITECTURES  a string: "sm_80, sm_90a, PTX 90", or "gfx90a, gfx942"
// Without them the file's own __CUDA_ARCH_LIST__ is named (nvcc; it doesn't say what has PTX) and
// the function that holds the check. The texts are composed by pure functions, which need no GPU
// and no CUDA headers.
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <stdexcept>
#include <string>

#include "detail/gpu_runtime.h"

namespace cudaops {

// What is known about the device: of NVIDIA's its compute capability, of AMD's a name. index is -1
// where it could not be asked.
struct Device {
  int index = -1;
  int major = -1;
  int minor = -1;
  std::string gfx = "";  // "gfx90a:sramecc+:xnack-"
  bool is_amd = CUDAOPS_HIP;
};

// The causes that have a cure of their own.
enum class LaunchError {
  kNoKernelImage,   // nothing in the binary runs on this device
  kPtxTooNew,       // the driver can't compile PTX of this toolkit (CUDA only)
  kDriverTooOld,    // the driver is older than the runtime
  kNoDevice,        // none, or hidden from this process
  kEarlierFailure,  // a kernel that ran before broke the context; this launch only reports it
  kOther,
};

namespace detail {

// "90" of compute capability 9.0; "" where it is not known.
inline std::string compute_capability(const Device& device) {
  if (device.major < 0) return "";
  return std::to_string(device.major) + std::to_string(device.minor);
}

// "gfx90a" of "gfx90a:sramecc+:xnack-".
inline std::string gfx_without_features(const std::string& gfx) {
  return gfx.substr(0, gfx.find(':'));
}

// "gfx90a:xnack-" runs where the name is the same and the device has every feature that it names.
inline bool gfx_serves(const std::string& entry, const std::string& gfx) {
  if (gfx_without_features(entry) != gfx_without_features(gfx)) return false;
  size_t begin = entry.find(':');
  while (begin != std::string::npos) {
    const size_t end = entry.find(':', begin + 1);
    const std::string feature = entry.substr(begin, end - begin);
    if ((gfx + ":").find(feature + ":") == std::string::npos) return false;
    begin = end;
  }
  return true;
}

// One entry of CUDAOPS_ARCHITECTURES ("sm_90a", "PTX 90") against a device: a plain sm_ runs on
// later minors of its major, `a` on exactly its own, `f` on its family (the same major, forward),
// plain PTX on everything later.
inline bool architecture_serves(const std::string& entry, const Device& device) {
  if (device.is_amd) return gfx_serves(entry, device.gfx);
  const bool is_ptx = entry.compare(0, 4, "PTX ") == 0;
  const bool is_sm = entry.compare(0, 3, "sm_") == 0;
  if (!is_ptx && !is_sm) return false;
  const char* digits = entry.c_str() + (is_ptx ? 4 : 3);
  char* suffix = nullptr;
  const long number = std::strtol(digits, &suffix, 10);
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
inline bool architectures_serve(const std::string& architectures, const Device& device) {
  size_t begin = 0;
  while (begin < architectures.size()) {
    size_t end = architectures.find(',', begin);
    if (end == std::string::npos) end = architectures.size();
    const size_t first = architectures.find_first_not_of(' ', begin);
    if (first < end &&
        detail::architecture_serves(architectures.substr(first, end - first), device))
      return true;
    begin = end + 1;
  }
  return false;
}

// The sentence that is thrown.
//   op             name of the op
//   architectures  what its binary holds, as in CUDAOPS_ARCHITECTURES; "" if that is not known
//   where          the function or call that failed
//   error_text     the runtime's own name and description
inline std::string launch_error_text(const std::string& op, const std::string& architectures,
                                     const std::string& where, LaunchError error,
                                     const std::string& error_text, const Device& device) {
  const std::string arch =
      device.is_amd ? detail::gfx_without_features(device.gfx) : detail::compute_capability(device);
  const std::string option =
      device.is_amd ? "-DCMAKE_HIP_ARCHITECTURES=" : "-DCMAKE_CUDA_ARCHITECTURES=";
  switch (error) {
    case LaunchError::kNoKernelImage: {
      const std::string holds =
          architectures.empty() ? "has no code for this device" : "holds " + architectures;
      if (arch.empty()) {
        return "op " + op + " " + holds + ", which this device can't run: rebuild with " + option +
               "native";
      }
      return "op " + op + " " + holds + "; device " + std::to_string(device.index) + " is " +
             (device.is_amd ? "" : "sm_") + arch + ": rebuild with " + option + arch;
    }
    case LaunchError::kPtxTooNew: {
      std::string text = "op " + op;
      if (!architectures.empty()) text += " holds " + architectures;
      text +=
          ", and the driver is too old for the PTX of the toolkit that built it: update the driver";
      if (!arch.empty()) text += ", or rebuild with " + option + arch + "-real";
      return text;
    }
    case LaunchError::kDriverTooOld:
      return "op " + op + ": the GPU driver is older than the " +
             (device.is_amd ? "HIP runtime that the op found" : "CUDA runtime in the op") + " (" +
             error_text + "): update the driver, or rebuild with an older " +
             (device.is_amd ? "ROCm" : "toolkit");
    case LaunchError::kNoDevice:
      return "op " + op + ": no GPU can be used here (" + error_text + "): check " +
             (device.is_amd ? "rocminfo and HIP_VISIBLE_DEVICES"
                            : "nvidia-smi and CUDA_VISIBLE_DEVICES");
    case LaunchError::kEarlierFailure:
      return "op " + op + ": " + where + " found the error of a kernel that ran before it (" +
             error_text + "): run again with " +
             (device.is_amd ? "AMD_SERIALIZE_KERNEL=3"
                            : "CUDA_LAUNCH_BLOCKING=1 or under compute-sanitizer") +
             " to see which";
    case LaunchError::kOther:
      break;
  }
  return "op " + op + ": " + where + " failed: " + error_text;
}

namespace detail {

// "sm_80, sm_90" from the numbers of nvcc's __CUDA_ARCH_LIST__ (800, 900).
inline std::string architectures_of_list(std::initializer_list<int> list) {
  std::string text;
  for (const int arch : list) {
    if (!text.empty()) text += ", ";
    text += "sm_" + std::to_string(arch / 10);
  }
  return text;
}

}  // namespace detail

#if defined(CUDAOPS_GPU)

namespace detail {

using RuntimeError = CUDAOPS_GPU(Error_t);

inline std::string describe(RuntimeError error) {
  return std::string(CUDAOPS_GPU(GetErrorName)(error)) + ", " + CUDAOPS_GPU(GetErrorString)(error);
}

#if CUDAOPS_HIP

inline LaunchError classify(RuntimeError error) {
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

inline Device current_device() {
  Device device;
  hipDeviceProp_t properties;
  if (hipGetDevice(&device.index) != hipSuccess ||
      hipGetDeviceProperties(&properties, device.index) != hipSuccess) {
    return {};
  }
  device.gfx = properties.gcnArchName;
  return device;
}

#else

inline LaunchError classify(RuntimeError error) {
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

inline Device current_device() {
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

}  // namespace detail

// Throws std::runtime_error unless error is success. Called through the macros below.
inline void check(detail::RuntimeError error, const std::string& op,
                  const std::string& architectures, const std::string& where) {
  if (error == CUDAOPS_GPU(Success)) return;
  const Device device = detail::current_device();
  LaunchError cause = detail::classify(error);
  // The runtime says "invalid device function" for a missing image and for a function that isn't a
  // kernel; the binary's own list tells which.
  if (cause == LaunchError::kNoKernelImage && device.index >= 0 &&
      architectures_serve(architectures, device)) {
    cause = LaunchError::kOther;
  }
  throw std::runtime_error(
      launch_error_text(op, architectures, where, cause, detail::describe(error), device));
}

inline void check_launch(const std::string& op, const std::string& architectures,
                         const std::string& where) {
  // Taking the error off keeps a failed launch from being reported once more by the next one.
  const detail::RuntimeError error = CUDAOPS_GPU(GetLastError)();
  if (error != CUDAOPS_GPU(Success)) check(error, op, architectures, "the launch in " + where);
}

#endif  // CUDAOPS_GPU

}  // namespace cudaops

// Macros, because the two definitions belong to the file that launches and __func__ to its
// function.
#if defined(CUDAOPS_OP_NAME)
#define CUDAOPS_CHECK_OP CUDAOPS_OP_NAME
#else
#define CUDAOPS_CHECK_OP __func__
#endif
#if defined(CUDAOPS_ARCHITECTURES)
#define CUDAOPS_CHECK_ARCHITECTURES CUDAOPS_ARCHITECTURES
#elif defined(__CUDA_ARCH_LIST__)
#define CUDAOPS_CHECK_ARCHITECTURES ::cudaops::detail::architectures_of_list({__CUDA_ARCH_LIST__})
#else
#define CUDAOPS_CHECK_ARCHITECTURES ""
#endif

#define CUDAOPS_CHECK_LAUNCH() \
  ::cudaops::check_launch(CUDAOPS_CHECK_OP, CUDAOPS_CHECK_ARCHITECTURES, __func__)
#define CUDAOPS_CHECK(call) \
  ::cudaops::check((call), CUDAOPS_CHECK_OP, CUDAOPS_CHECK_ARCHITECTURES, #call)
