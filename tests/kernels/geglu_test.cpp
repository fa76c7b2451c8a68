// SPDX-License-Identifier: Apache-2.0
#include "geglu/geglu.h"

#include "gated_unit_test.h"
#include "gelu_reference.h"

namespace {

using namespace cudaops_kernels;
using namespace op_test;

constexpr GeluKind kKinds[] = {GeluKind::kErf, GeluKind::kTanh};

Activation gelu(GeluKind kind) {
  if (kind == GeluKind::kErf) return {gelu_erf, gelu_erf_slope};
  return {gelu_tanh, gelu_tanh_slope};
}

auto forward_on_cpu(GeluKind kind) {
  return [kind](const GatedUnit& call) { geglu_cpu(call, kind, scattered_for); };
}
auto backward_on_cpu(GeluKind kind) {
  return [kind](const GatedUnitBackward& call) { geglu_backward_cpu(call, kind, scattered_for); };
}

template <typename T>
class GegluCpu : public ::testing::Test {};
TYPED_TEST_SUITE(GegluCpu, Types, TypeNames);

TYPED_TEST(GegluCpu, IsRight) {
  for (const GeluKind kind : kKinds) {
    check_gated_unit<TypeParam, HostBuffer>("geglu", gelu(kind), forward_on_cpu(kind),
                                            backward_on_cpu(kind));
  }
}

TEST(GegluCpuFloats, AreRightAtAllMagnitudes) {
  for (const GeluKind kind : kKinds) {
    check_activation<HostBuffer>(gelu(kind), forward_on_cpu(kind), backward_on_cpu(kind));
  }
}

#if defined(CUDAOPS_KERNELS_WITH_CUDA)

auto forward_on_gpu(GeluKind kind) {
  return [kind](const GatedUnit& call) { launch_geglu(call, kind, nullptr); };
}
auto backward_on_gpu(GeluKind kind) {
  return [kind](const GatedUnitBackward& call) { launch_geglu_backward(call, kind, nullptr); };
}

template <typename T>
class GegluGpu : public ::testing::Test {};
TYPED_TEST_SUITE(GegluGpu, Types, TypeNames);

TYPED_TEST(GegluGpu, IsRight) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const GeluKind kind : kKinds) {
    check_gated_unit<TypeParam, DeviceBuffer>("geglu", gelu(kind), forward_on_gpu(kind),
                                              backward_on_gpu(kind));
  }
}

TEST(GegluGpuFloats, AreRightAtAllMagnitudes) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  for (const GeluKind kind : kKinds) {
    check_activation<DeviceBuffer>(gelu(kind), forward_on_gpu(kind), backward_on_gpu(kind));
  }
}

#endif

}  // namespace
