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
//
// Only the CUDA (or HIP) runtime is used, no torch. The op's name and what its binary holds come
// from two definitions that cudaops_add_kernels() and add_torch_op() make:
//   CUDAOPS_OP_NAME        a string: "my_ops"
//   CUDAOPS_ARCHITECTURES  a string: "sm_80, sm_90a, PTX 90"
// Without them the file's own __CUDA_ARCH_LIST__ is named (nvcc; it doesn't say what has PTX) and
// the function that holds the check. The texts are composed by pure functions, which need no GPU
// and no CUDA headers.
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <stdexcept>
#include <string>

#if defined(__HIP_PLATFORM_AMD__)
#include <hip/hip_runtime_api.h>
#define CUDAOPS_CHECK_HAS_RUNTIME 1
#elif defined(__CUDACC__)
#include <cuda_runtime_api.h>
#define CUDAOPS_CHECK_HAS_RUNTIME 1
#elif defined(__has_include)
#if __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>
#define CUDAOPS_CHECK_HAS_RUNTIME 1
#endif
#endif

namespace cudaops {

// What is known about the device; major is -1 where it could not be asked.
struct Device {
  int index = -1;
  int major = -1;
  int minor = -1;
};

// The causes that have a cure of their own.
enum class LaunchError {
  kNoKernelImage,   // nothing in the binary runs on this device
  kPtxTooNew,       // the driver can't compile PTX of this toolkit
  kDriverTooOld,    // the driver is older than the runtime
  kNoDevice,        // none, or hidden from this process
  kEarlierFailure,  // a kernel that ran before broke the context; this launch only reports it
  kOther,
};

namespace detail {

inline std::string compute_capability(const Device& device, const char* separator) {
  return std::to_string(device.major) + separator + std::to_string(device.minor);
}

// One entry of CUDAOPS_ARCHITECTURES ("sm_90a", "PTX 90") against a device: a plain sm_ runs on
// later minors of its major, `a` on exactly its own, `f` on its family (the same major, forward),
// plain PTX on everything later.
inline bool architecture_serves(const std::string& entry, const Device& device) {
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

// Whether code for `architectures` ("sm_80, sm_90a, PTX 90") runs on the device.
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
  switch (error) {
    case LaunchError::kNoKernelImage: {
      const std::string holds =
          architectures.empty() ? "has no code for this device" : "holds " + architectures;
      if (device.major < 0) {
        return "op " + op + " " + holds +
               ", which this device can't run: rebuild with -DCMAKE_CUDA_ARCHITECTURES=native";
      }
      return "op " + op + " " + holds + "; device " + std::to_string(device.index) + " is sm_" +
             detail::compute_capability(device, "") +
             ": rebuild with -DCMAKE_CUDA_ARCHITECTURES=" + detail::compute_capability(device, "");
    }
    case LaunchError::kPtxTooNew: {
      std::string text = "op " + op;
      if (!architectures.empty()) text += " holds " + architectures;
      text +=
          ", and the driver is too old for the PTX of the toolkit that built it: update the driver";
      if (device.major >= 0) {
        text += ", or rebuild with -DCMAKE_CUDA_ARCHITECTURES=" +
                detail::compute_capability(device, "") + "-real";
      }
      return text;
    }
    case LaunchError::kDriverTooOld:
      return "op " + op + ": the GPU driver is older than the CUDA runtime in the op (" +
             error_text + "): update the driver, or rebuild with an older toolkit";
    case LaunchError::kNoDevice:
      return "op " + op + ": no GPU can be used here (" + error_text +
             "): check nvidia-smi and CUDA_VISIBLE_DEVICES";
    case LaunchError::kEarlierFailure:
      return "op " + op + ": " + where + " found the error of a kernel that ran before it (" +
             error_text +
             "): run again with CUDA_LAUNCH_BLOCKING=1 or under compute-sanitizer to see which";
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

#if defined(CUDAOPS_CHECK_HAS_RUNTIME)

namespace detail {

#if defined(__HIP_PLATFORM_AMD__)
using RuntimeError = hipError_t;
constexpr RuntimeError kSuccess = hipSuccess;
inline RuntimeError last_error() { return hipGetLastError(); }
inline std::string describe(RuntimeError error) {
  return std::string(hipGetErrorName(error)) + ", " + hipGetErrorString(error);
}
inline LaunchError classify(RuntimeError error) {
  switch (error) {
    case hipErrorNoBinaryForGpu:
      return LaunchError::kNoKernelImage;
    case hipErrorInsufficientDriver:
      return LaunchError::kDriverTooOld;
    case hipErrorNoDevice:
      return LaunchError::kNoDevice;
    default:
      return LaunchError::kOther;
  }
}
// A gfx name has no compute capability; the text does without.
inline Device current_device() { return {}; }
#else
using RuntimeError = cudaError_t;
constexpr RuntimeError kSuccess = cudaSuccess;
inline RuntimeError last_error() { return cudaGetLastError(); }
inline std::string describe(RuntimeError error) {
  return std::string(cudaGetErrorName(error)) + ", " + cudaGetErrorString(error);
}
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
  if (error == detail::kSuccess) return;
  const Device device = detail::current_device();
  LaunchError cause = detail::classify(error);
  // The runtime says "invalid device function" for a missing image and for a function that isn't a
  // kernel; the binary's own list tells which.
  if (cause == LaunchError::kNoKernelImage && device.major >= 0 &&
      architectures_serve(architectures, device)) {
    cause = LaunchError::kOther;
  }
  throw std::runtime_error(
      launch_error_text(op, architectures, where, cause, detail::describe(error), device));
}

inline void check_launch(const std::string& op, const std::string& architectures,
                         const std::string& where) {
  // Taking the error off keeps a failed launch from being reported once more by the next one.
  const detail::RuntimeError error = detail::last_error();
  if (error != detail::kSuccess) check(error, op, architectures, "the launch in " + where);
}

#endif  // CUDAOPS_CHECK_HAS_RUNTIME

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
