// SPDX-License-Identifier: Apache-2.0
// cudaops/check.h: the sentences, whole, and which device a binary serves.
#include <cudaops/check.h>
#include <cudaops/testing.h>

#include <cstring>
#include <string>

#if defined(CUDAOPS_TESTS_WITH_OTHER_ARCH)
namespace cudaops_tests {
void launch_for_other_arch();
}  // namespace cudaops_tests
#endif

namespace {

using cudaops::architectures_serve;
using cudaops::Device;
using cudaops::LaunchError;

Device nvidia(int index, int major, int minor) { return {index, major, minor, "", false}; }
Device amd(int index, const char* gfx) {
  Device device = {index, -1, -1, "", true};
  std::strcpy(device.gfx, gfx);
  return device;
}

template <typename... Arguments>
std::string sentence(const Arguments&... arguments) {
  return cudaops::launch_error_text(arguments...).c_str();
}

const Device kBlackwell = nvidia(0, 12, 0);
const Device kUnknownNvidia = nvidia(-1, -1, -1);
const Device kUnknownAmd = amd(-1, "");

TEST(LaunchErrorText, NamesOpCauseAndCureForADeviceNewerThanTheBinary) {
  EXPECT_EQ(
      sentence("my_ops", "sm_80, sm_90", "launch", LaunchError::kNoKernelImage, "", kBlackwell),
      "op my_ops holds sm_80, sm_90; device 0 is sm_120: rebuild with "
      "-DCMAKE_CUDA_ARCHITECTURES=120");
  EXPECT_EQ(sentence("my_ops", "sm_90a, PTX 90a", "launch", LaunchError::kNoKernelImage, "",
                     nvidia(3, 8, 9)),
            "op my_ops holds sm_90a, PTX 90a; device 3 is sm_89: rebuild with "
            "-DCMAKE_CUDA_ARCHITECTURES=89");
}

TEST(LaunchErrorText, DoesWithoutWhatIsNotKnown) {
  EXPECT_EQ(sentence("my_ops", "", "launch", LaunchError::kNoKernelImage, "", kBlackwell),
            "op my_ops has no code for this device; device 0 is sm_120: rebuild with "
            "-DCMAKE_CUDA_ARCHITECTURES=120");
  EXPECT_EQ(sentence("my_ops", "sm_80", "launch", LaunchError::kNoKernelImage, "", kUnknownNvidia),
            "op my_ops holds sm_80, which this device can't run: rebuild with "
            "-DCMAKE_CUDA_ARCHITECTURES=native");
}

TEST(LaunchErrorText, OtherCausesHaveOtherCures) {
  EXPECT_EQ(
      sentence("my_ops", "PTX 80", "launch", LaunchError::kPtxTooNew, "", kBlackwell),
      "op my_ops holds PTX 80, and the driver is too old for the PTX of the toolkit that built "
      "it: update the driver, or rebuild with -DCMAKE_CUDA_ARCHITECTURES=120-real");
  EXPECT_EQ(
      sentence("my_ops", "sm_80", "launch", LaunchError::kDriverTooOld, "E, why", kUnknownNvidia),
      "op my_ops: the GPU driver is older than the CUDA runtime in the op (E, why): update the "
      "driver, or rebuild with an older toolkit");
  EXPECT_EQ(
      sentence("my_ops", "sm_80", "launch", LaunchError::kNoDevice, "E, why", kUnknownNvidia),
      "op my_ops: no GPU can be used here (E, why): check nvidia-smi and CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(
      sentence("my_ops", "sm_80", "the launch in f", LaunchError::kEarlierFailure, "E, why",
               kBlackwell),
      "op my_ops: the launch in f found the error of a kernel that ran before it (E, why): run "
      "again with CUDA_LAUNCH_BLOCKING=1 or under compute-sanitizer to see which");
  EXPECT_EQ(
      sentence("my_ops", "sm_80", "the launch in f", LaunchError::kOther, "E, why", kBlackwell),
      "op my_ops: the launch in f failed: E, why");
}

TEST(LaunchErrorText, SpeaksOfHipWhereTheDeviceIsAmds) {
  EXPECT_EQ(sentence("my_ops", "gfx90a, gfx1100", "launch", LaunchError::kNoKernelImage, "",
                     amd(1, "gfx942:sramecc+:xnack-")),
            "op my_ops holds gfx90a, gfx1100; device 1 is gfx942: rebuild with "
            "-DCMAKE_HIP_ARCHITECTURES=gfx942");
  EXPECT_EQ(sentence("my_ops", "gfx90a", "launch", LaunchError::kNoKernelImage, "", kUnknownAmd),
            "op my_ops holds gfx90a, which this device can't run: rebuild with "
            "-DCMAKE_HIP_ARCHITECTURES=native");
  EXPECT_EQ(
      sentence("my_ops", "gfx90a", "launch", LaunchError::kDriverTooOld, "E, why", kUnknownAmd),
      "op my_ops: the GPU driver is older than the HIP runtime that the op found (E, why): "
      "update the driver, or rebuild with an older ROCm");
  EXPECT_EQ(sentence("my_ops", "gfx90a", "launch", LaunchError::kNoDevice, "E, why", kUnknownAmd),
            "op my_ops: no GPU can be used here (E, why): check rocminfo and HIP_VISIBLE_DEVICES");
  EXPECT_EQ(sentence("my_ops", "gfx90a", "the launch in f", LaunchError::kEarlierFailure, "E, why",
                     kUnknownAmd),
            "op my_ops: the launch in f found the error of a kernel that ran before it (E, why): "
            "run again with AMD_SERIALIZE_KERNEL=3 to see which");
}

TEST(LaunchErrorText, SaysThatSomethingIsLeftOut) {
  const std::string text = sentence("my_ops", "sm_80", std::string(5000, 'x').c_str(),
                                    LaunchError::kOther, "E, why", kBlackwell);
  EXPECT_EQ(text, "op my_ops: " + std::string(2047 - 11 - 3, 'x') + "...");
}

TEST(ArchitecturesServe, FollowsNvidiasRules) {
  const struct {
    const char* architectures;
    int major, minor;
    bool serves;
  } table[] = {
      {"sm_80", 8, 0, true},          {"sm_80", 8, 6, true},
      {"sm_86", 8, 0, false},         {"sm_80", 9, 0, false},
      {"sm_80, sm_90", 9, 0, true},   {"sm_80,sm_90", 9, 0, true},
      {"sm_90a", 9, 0, true},         {"sm_100a", 10, 3, false},
      {"sm_100f", 10, 3, true},       {"sm_103f", 10, 0, false},
      {"sm_100f", 12, 0, false},      {"PTX 80", 12, 0, true},
      {"PTX 80", 7, 5, false},        {"PTX 86", 8, 0, false},
      {"PTX 90a", 10, 0, false},      {"PTX 100f", 10, 3, true},
      {"PTX 100f", 12, 0, false},     {"sm_120", 12, 1, true},
      {"sm_80, PTX 80", 12, 0, true}, {"", 9, 0, false},
      {"nonsense", 9, 0, false},
  };
  for (const auto& row : table) {
    EXPECT_EQ(architectures_serve(row.architectures, nvidia(0, row.major, row.minor)), row.serves)
        << row.architectures << " on " << row.major << "." << row.minor;
  }
}

TEST(ArchitecturesServe, FollowsAmdsRules) {
  const struct {
    const char* architectures;
    const char* gfx;
    bool serves;
  } table[] = {
      {"gfx90a", "gfx90a:sramecc+:xnack-", true},
      {"gfx942, gfx90a", "gfx90a:sramecc+:xnack-", true},
      {"gfx90a:xnack-", "gfx90a:sramecc+:xnack-", true},
      {"gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack-", true},
      {"gfx90a:xnack+", "gfx90a:sramecc+:xnack-", false},
      {"gfx90a:sramecc-:xnack-", "gfx90a:sramecc+:xnack-", false},
      {"gfx90a", "gfx90c", false},
      {"gfx1100", "gfx1101", false},
      {"sm_90", "gfx90a", false},
      {"", "gfx90a", false},
  };
  for (const auto& row : table) {
    EXPECT_EQ(architectures_serve(row.architectures, amd(0, row.gfx)), row.serves)
        << row.architectures << " on " << row.gfx;
  }
}

TEST(ArchitecturesOfList, ReadsNvccsList) {
  EXPECT_STREQ(cudaops::detail::architectures_of_list("800,900, 1200").c_str(),
               "sm_80, sm_90, sm_120");
}

#if defined(CUDAOPS_WITH_CUDA) || CUDAOPS_HIP

// The macros, through a call that fails with and without a GPU.
TEST(Check, ThrowsOneSentence) {
  (void)cudaGetLastError();
  EXPECT_NO_THROW(CUDAOPS_CHECK(cudaSuccess));
  try {
    CUDAOPS_CHECK(cudaErrorInvalidValue);
    FAIL() << "did not throw";
  } catch (const std::runtime_error& error) {
    // The runtime's own words, because HIP's differ between versions.
    const std::string name = cudaGetErrorName(cudaErrorInvalidValue);
    const std::string wanted =
        ": " + name + " failed: " + name + ", " + cudaGetErrorString(cudaErrorInvalidValue);
    EXPECT_NE(std::string(error.what()).find(wanted), std::string::npos) << error.what();
  }
}

#endif

#if defined(CUDAOPS_TESTS_WITH_OTHER_ARCH)

TEST(CheckGpu, NamesWhatTheBinaryHoldsAndTheDevice) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  const Device device = cudaops::detail::current_device();
  if (device.major == 7) GTEST_SKIP() << "this device runs sm_75";
  const std::string cc = std::to_string(device.major) + std::to_string(device.minor);
  for (int launch = 0; launch < 2; ++launch) {  // the error does not stick
    try {
      cudaops_tests::launch_for_other_arch();
      FAIL() << "did not throw";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::string(error.what()), "op my_ops holds sm_75; device 0 is sm_" + cc +
                                               ": rebuild with -DCMAKE_CUDA_ARCHITECTURES=" + cc);
    }
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }
}

#endif

}  // namespace
