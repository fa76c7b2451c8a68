// SPDX-License-Identifier: Apache-2.0
#include "swiglu/swiglu.h"

#include "gated_unit_test.h"

namespace {

using namespace cudaops_kernels;
using namespace op_test;

const Activation kSilu{[](double x) { return x / (1 + std::exp(-x)); },
                       [](double x) {
                         const double s = 1 / (1 + std::exp(-x));
                         return s + x * s * (1 - s);
                       }};

const auto forward_on_cpu = [](const GatedUnit& call) { swiglu_cpu(call, scattered_for); };
const auto backward_on_cpu = [](const GatedUnitBackward& call) {
  swiglu_backward_cpu(call, scattered_for);
};

template <typename T>
class SwigluCpu : public ::testing::Test {};
TYPED_TEST_SUITE(SwigluCpu, Types, TypeNames);

TYPED_TEST(SwigluCpu, IsRight) {
  check_gated_unit<TypeParam, HostBuffer>("swiglu", kSilu, forward_on_cpu, backward_on_cpu);
}

TEST(SwigluCpuFloats, AreRightAtAllMagnitudes) {
  check_activation<HostBuffer>(kSilu, forward_on_cpu, backward_on_cpu);
}

#if defined(CUDAOPS_KERNELS_WITH_CUDA)

const auto forward_on_gpu = [](const GatedUnit& call) { launch_swiglu(call, nullptr); };
const auto backward_on_gpu = [](const GatedUnitBackward& call) {
  launch_swiglu_backward(call, nullptr);
};

template <typename T>
class SwigluGpu : public ::testing::Test {};
TYPED_TEST_SUITE(SwigluGpu, Types, TypeNames);

TYPED_TEST(SwigluGpu, IsRight) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  check_gated_unit<TypeParam, DeviceBuffer>("swiglu", kSilu, forward_on_gpu, backward_on_gpu);
}

TYPED_TEST(SwigluGpu, IsRightForLongRows) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const int64_t width : {16384, 100001, 262144}) {
    const GatedUnitProblem<TypeParam> problem(3, width, kSilu);
    problem.template run<DeviceBuffer>({width, 0}, 0, forward_on_gpu, backward_on_gpu);
    problem.template run<DeviceBuffer>({2 * width, 0}, 0, forward_on_gpu, backward_on_gpu);
  }
}

TEST(SwigluGpuFloats, AreRightAtAllMagnitudes) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  check_activation<DeviceBuffer>(kSilu, forward_on_gpu, backward_on_gpu);
}

#endif

}  // namespace
