// SPDX-License-Identifier: Apache-2.0
#include "bias_gelu/bias_gelu.h"

#include "gelu_reference.h"
#include "row_test.h"

namespace {

using namespace cudaops::testing;
using namespace cudaops_kernels;
using namespace op_test;

constexpr GeluKind kKinds[] = {GeluKind::kErf, GeluKind::kTanh};

double value(GeluKind kind, double x) {
  return kind == GeluKind::kErf ? gelu_erf(x) : gelu_tanh(x);
}
double slope(GeluKind kind, double x) {
  return kind == GeluKind::kErf ? gelu_erf_slope(x) : gelu_tanh_slope(x);
}

// B: the bias' type.
template <typename T, typename B>
struct Problem {
  int64_t num_rows, width;
  GeluKind kind;
  bool has_bias;
  std::vector<T> input, grad_output;
  std::vector<B> bias;
  std::vector<double> output, grad_input, grad_bias;  // wanted

  Problem(int64_t rows, int64_t columns, GeluKind of_kind, bool with_bias)
      : num_rows(rows),
        width(columns),
        kind(of_kind),
        has_bias(with_bias),
        input(Random(1).normal<T>(rows * columns)),
        grad_output(Random(2).normal<T>(rows * columns)),
        bias(Random(3).normal<B>(columns)) {
    for (T& value : input) value = rounded<T>(2 * exact(value));
    fill_wanted();
  }

  // One row of these inputs, without a bias, for gradients of 1.
  Problem(const std::vector<T>& inputs, GeluKind of_kind)
      : num_rows(1),
        width(static_cast<int64_t>(inputs.size())),
        kind(of_kind),
        has_bias(false),
        input(inputs),
        grad_output(inputs.size(), rounded<T>(1)),
        bias(inputs.size()) {
    fill_wanted();
  }

  void fill_wanted() {
    grad_bias.resize(static_cast<size_t>(width));
    for (size_t i = 0; i < input.size(); ++i) {
      const size_t column = i % static_cast<size_t>(width);
      const double x = exact(input[i]) + (has_bias ? exact(bias[column]) : 0);
      output.push_back(value(kind, x));
      grad_input.push_back(exact(grad_output[i]) * slope(kind, x));
      grad_bias[column] += grad_input.back();
    }
  }

  // The float sum input + bias is rounded; what that changes where gelu is steep is its share.
  Tolerance tolerance(double atol) const {
    Tolerance result = DtypeOf<T>::kTolerance;
    result.atol = std::max(result.atol, atol);
    return result;
  }

  // Buffer: HostBuffer or DeviceBuffer. Inputs lie `stride` apart from `offset` on, outputs start
  // at `offset_out`, the bias `offset_bias` behind. backward(call) makes its own workspace.
  template <template <typename> class Buffer, typename Forward, typename Backward>
  void run(int64_t stride, int64_t offset, int64_t offset_out, const Forward& forward,
           const Backward& backward, int64_t offset_bias = 0) const {
    SCOPED_TRACE(::testing::Message()
                 << num_rows << " rows of " << width << ", stride " << stride << ", offsets "
                 << offset << ", " << offset_out << ", bias " << has_bias << ", "
                 << (kind == GeluKind::kErf ? "erf" : "tanh"));
    const Buffer<T> input_rows(spread(input, width, stride), offset);
    const Buffer<T> grad_rows(spread(grad_output, width, stride), offset);
    const Buffer<B> bias_data(bias, offset_out + offset_bias);
    const void* const bias_or_null = has_bias ? bias_data.data() : nullptr;
    Buffer<T> out(num_rows * width, offset_out), input_out(num_rows * width, offset_out);
    Buffer<B> bias_out(width, offset_out);
    forward(BiasGelu{num_rows,
                     width,
                     kDType<T>,
                     kDType<B>,
                     kind,
                     {input_rows.data(), stride},
                     bias_or_null,
                     {out.data(), width}});
    EXPECT_TRUE(close(out.to_host(), output, {{"input", input}}, tolerance(2e-6)));
    BiasGeluBackward call{num_rows,
                          width,
                          kDType<T>,
                          kDType<B>,
                          kind,
                          {grad_rows.data(), stride},
                          {input_rows.data(), stride},
                          bias_or_null,
                          {input_out.data(), width},
                          has_bias ? bias_out.data() : nullptr};
    backward(call);
    const std::vector<T> grads = input_out.to_host();
    EXPECT_TRUE(close(grads, grad_input, {{"input", input}, {"grad_output", grad_output}},
                      tolerance(4e-6)));
    EXPECT_TRUE(out.guards_intact() && input_out.guards_intact() && bias_out.guards_intact());
    if (!has_bias) return;
    Tolerance of_sum = DtypeOf<B>::kTolerance;
    of_sum.atol = std::max(of_sum.atol, 4e-6 * std::sqrt(static_cast<double>(num_rows)));
    EXPECT_TRUE(close(bias_out.to_host(), grad_bias, {}, of_sum));
    // The same gradient where only that is wanted.
    call.grad_bias = nullptr;
    backward(call);
    EXPECT_TRUE(same_bits(input_out.to_host(), grads));
  }
};

template <typename T, template <typename> class Buffer, typename Forward, typename Backward>
void check(const Forward& forward, const Backward& backward) {
  for (const GeluKind kind : kKinds) {
    for (const auto [rows, width] : row_shapes("bias_gelu")) {
      Problem<T, T>(rows, width, kind, true).template run<Buffer>(width, 0, 0, forward, backward);
      Problem<T, float>(rows, width, kind, width % 2 == 0)
          .template run<Buffer>(2 * width, 0, 0, forward, backward);
    }
  }
  for (const int64_t width : {1, 5, 64, 1000, 4099}) {
    const Problem<T, T> problem(19, width, GeluKind::kErf, true);
    const Problem<T, float> of_float(19, width, GeluKind::kTanh, true);
    for (const int64_t offset : {0, 1, 2, 4, 7, 8}) {
      problem.template run<Buffer>(width, offset, offset, forward, backward);
      problem.template run<Buffer>(width, offset, 0, forward, backward);
      problem.template run<Buffer>(width, 0, 0, forward, backward, offset);
      of_float.template run<Buffer>(width, offset, offset, forward, backward, 1);
      problem.template run<Buffer>(width + 3, offset, 0, forward, backward);
      of_float.template run<Buffer>(width + 8, 0, offset, forward, backward);
    }
  }
}

// Every so many floats of those that matter: the formulas' own error, at all magnitudes.
template <template <typename> class Buffer, typename Forward, typename Backward>
void check_floats(const Forward& forward, const Backward& backward) {
  for (const GeluKind kind : kKinds) {
    std::vector<float> input;
    for (uint32_t bits = 0x33000000u; bits < 0x42a00000u; bits += 2039) {  // 2^-25 to 80
      float value;
      std::memcpy(&value, &bits, sizeof value);
      input.push_back(value);
      input.push_back(-value);
    }
    const Problem<float, float> problem(input, kind);
    problem.template run<Buffer>(problem.width, 0, 0, forward, backward);
  }
}

const auto forward_on_cpu = [](const BiasGelu& call) { bias_gelu_cpu(call, scattered_for); };
const auto backward_on_cpu = [](const BiasGeluBackward& call) {
  bias_gelu_backward_cpu(call, scattered_for);
};

template <typename T>
class BiasGeluCpu : public ::testing::Test {};
TYPED_TEST_SUITE(BiasGeluCpu, Types, TypeNames);

TYPED_TEST(BiasGeluCpu, IsRight) { check<TypeParam, HostBuffer>(forward_on_cpu, backward_on_cpu); }

TEST(BiasGeluCpuFloats, AreRightAtAllMagnitudes) {
  check_floats<HostBuffer>(forward_on_cpu, backward_on_cpu);
}

// The table of tolerances allows much more than the approximation of erf needs.
TEST(BiasGeluCpuFloats, AreCloseToErf) {
  std::vector<float> input;
  for (uint32_t bits = 0x33000000u; bits < 0x40c00000u; bits += 251) {  // 2^-25 to 6
    float value;
    std::memcpy(&value, &bits, sizeof value);
    input.push_back(value);
    input.push_back(-value);
  }
  const int64_t n = static_cast<int64_t>(input.size());
  std::vector<float> output(input.size());
  bias_gelu_cpu(BiasGelu{1,
                         n,
                         DType::kFloat32,
                         DType::kFloat32,
                         GeluKind::kErf,
                         {input.data(), n},
                         nullptr,
                         {output.data(), n}});
  for (size_t i = 0; i < input.size(); ++i) {
    const double x = input[i], wanted = gelu_erf(x), error = std::fabs(output[i] - wanted);
    ASSERT_LE(error, 1.5e-7 * std::max(1.0, x)) << x;
    ASSERT_LE(error, (x > -1 ? 5e-7 : 5e-5) * std::fabs(wanted)) << x;
  }
}

#if defined(CUDAOPS_KERNELS_WITH_CUDA)

const auto forward_on_gpu = [](const BiasGelu& call) { launch_bias_gelu(call, nullptr); };
const auto backward_on_gpu = [](const BiasGeluBackward& call) {
  DeviceBuffer<char> workspace(bias_gelu_backward_workspace_bytes(call));
  launch_bias_gelu_backward(call, workspace.data(), nullptr);
  EXPECT_TRUE(workspace.guards_intact());
};

template <typename T>
class BiasGeluGpu : public ::testing::Test {};
TYPED_TEST_SUITE(BiasGeluGpu, Types, TypeNames);

TYPED_TEST(BiasGeluGpu, IsRight) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  check<TypeParam, DeviceBuffer>(forward_on_gpu, backward_on_gpu);
}

TYPED_TEST(BiasGeluGpu, IsRightForLongRowsAndManyRows) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  using T = TypeParam;
  for (const auto& shape : {std::pair<int64_t, int64_t>{2, 16384},
                            {2, 40000},
                            {3, 100001},
                            {2, 262144},
                            {1031, 1},
                            {1031, 100},
                            {1031, 1024},
                            {531, 2053},
                            {40001, 24},
                            {1031, 127},
                            {2050, 12},
                            {3001, 9},
                            {517, 4097},
                            {1030, 514}}) {
    const Problem<T, T> problem(shape.first, shape.second, GeluKind::kErf, true);
    problem.template run<DeviceBuffer>(shape.second, 0, 0, forward_on_gpu, backward_on_gpu);
    problem.template run<DeviceBuffer>(shape.second, 3, 3, forward_on_gpu, backward_on_gpu, 2);
  }
}

TEST(BiasGeluGpuLarge, IsRightBeyond32Bits) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  if (!large_arrays_wanted()) GTEST_SKIP() << "CUDAOPS_TEST_LARGE is not set";
  const int64_t width = 4097, num_rows = kLargeSize / width + 3, first = (num_rows - 1) * width;
  const Problem<BFloat16, BFloat16> last(1, width, GeluKind::kTanh, true);
  DeviceBuffer<BFloat16> input(num_rows * width), output(num_rows * width);
  const DeviceBuffer<BFloat16> bias(last.bias);
  CUDAOPS_GPU_CALL(Memcpy, input.data() + first, last.input.data(),
                   last.input.size() * sizeof(BFloat16), CUDAOPS_GPU(MemcpyHostToDevice));
  launch_bias_gelu({num_rows,
                    width,
                    DType::kBFloat16,
                    DType::kBFloat16,
                    GeluKind::kTanh,
                    {input.data(), width},
                    bias.data(),
                    {output.data(), width}},
                   nullptr);
  EXPECT_TRUE(close(output.to_host(first, width), last.output, {{"input", last.input}},
                    last.tolerance(2e-6)));
  EXPECT_TRUE(output.guards_intact());
}

TEST(BiasGeluGpuFloats, AreRightAtAllMagnitudes) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  check_floats<DeviceBuffer>(forward_on_gpu, backward_on_gpu);
}

#endif

}  // namespace
