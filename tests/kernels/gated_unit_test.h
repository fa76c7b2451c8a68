// SPDX-License-Identifier: Apache-2.0
// What the tests of swiglu and geglu share: calls on the CPU and on a GPU, against double.
#pragma once

#include "common/gated_unit.h"
#include "row_test.h"

namespace op_test {

using namespace cudaops::testing;
using cudaops_kernels::GatedUnit;
using cudaops_kernels::GatedUnitBackward;

// An activation in double.
struct Activation {
  double (*value)(double);
  double (*slope)(double);
};

// How rows lie: `stride` elements apart, the first `offset` elements behind a multiple of 256
// bytes.
struct Layout {
  int64_t stride;
  int64_t offset;
};

template <typename T>
struct GatedUnitProblem {
  int64_t num_rows, width;
  std::vector<T> grad_output, gate, up;
  std::vector<double> output, grad_gate, grad_up;  // wanted

  GatedUnitProblem(int64_t rows, int64_t columns, const Activation& activation)
      : num_rows(rows),
        width(columns),
        grad_output(Random(1).normal<T>(rows * columns)),
        gate(Random(2).normal<T>(rows * columns)),
        up(Random(3).normal<T>(rows * columns)) {
    for (T& value : gate) value = rounded<T>(3 * exact(value));  // the tails too
    fill_wanted(activation);
  }

  // One row of these gates, times 1.
  GatedUnitProblem(const std::vector<T>& gates, const Activation& activation)
      : num_rows(1),
        width(static_cast<int64_t>(gates.size())),
        grad_output(gates.size(), rounded<T>(1)),
        gate(gates),
        up(grad_output) {
    fill_wanted(activation);
  }

  void fill_wanted(const Activation& activation) {
    for (size_t i = 0; i < gate.size(); ++i) {
      const double g = exact(grad_output[i]), x = exact(gate[i]), y = activation.value(x);
      output.push_back(y * exact(up[i]));
      grad_gate.push_back(g * exact(up[i]) * activation.slope(x));
      grad_up.push_back(g * y);
    }
  }

  // Forward(GatedUnit), Backward(GatedUnitBackward); Buffer is HostBuffer or DeviceBuffer. gate and
  // up have `in`, grad_output starts at offset 0, outputs at `offset_out`.
  template <template <typename> class Buffer, typename Forward, typename Backward>
  void run(const Layout& in, int64_t offset_out, const Forward& forward,
           const Backward& backward) const {
    SCOPED_TRACE(::testing::Message()
                 << num_rows << " rows of " << width << ", stride " << in.stride << ", offsets "
                 << in.offset << ", " << offset_out);
    const Buffer<T> gate_rows(spread(gate, width, in.stride), in.offset);
    const Buffer<T> up_rows(spread(up, width, in.stride), in.offset), grad_rows(grad_output);
    Buffer<T> out(num_rows * width, offset_out);
    forward(GatedUnit{num_rows,
                      width,
                      kDType<T>,
                      {gate_rows.data(), in.stride},
                      {up_rows.data(), in.stride},
                      {out.data(), width}});
    EXPECT_TRUE(close(out.to_host(), output, {{"gate", gate}, {"up", up}}));
    EXPECT_TRUE(out.guards_intact());
    Buffer<T> gate_out(num_rows * width, offset_out), up_out(num_rows * width, offset_out);
    backward(GatedUnitBackward{num_rows,
                               width,
                               kDType<T>,
                               {grad_rows.data(), width},
                               {gate_rows.data(), in.stride},
                               {up_rows.data(), in.stride},
                               {gate_out.data(), width},
                               {up_out.data(), width}});
    const std::vector<ShownInput> inputs{{"grad_output", grad_output}, {"gate", gate}, {"up", up}};
    // A derivative passes through zero where its terms cancel: their rounding errors stay.
    Tolerance tolerance = DtypeOf<T>::kTolerance;
    tolerance.atol = std::max(tolerance.atol, 4e-6);
    EXPECT_TRUE(close(gate_out.to_host(), grad_gate, inputs, tolerance));
    EXPECT_TRUE(close(up_out.to_host(), grad_up, inputs));
    EXPECT_TRUE(gate_out.guards_intact() && up_out.guards_intact());
  }
};

// All shapes of the op, strides and alignments that find mistakes in edges and in how rows are
// spread.
template <typename T, template <typename> class Buffer, typename Forward, typename Backward>
void check_gated_unit(const char* op, const Activation& activation, const Forward& forward,
                      const Backward& backward) {
  for (const auto [rows, width] : row_shapes(op)) {
    const GatedUnitProblem<T> problem(rows, width, activation);
    problem.template run<Buffer>({width, 0}, 0, forward, backward);
    problem.template run<Buffer>({2 * width, 0}, 0, forward, backward);
  }
  for (const int64_t width : {1, 5, 64, 1000, 4099}) {
    const GatedUnitProblem<T> problem(19, width, activation);
    for (const int64_t offset : {0, 1, 2, 4, 7, 8}) {
      problem.template run<Buffer>({width, offset}, offset, forward, backward);
      problem.template run<Buffer>({width + 3, offset}, 0, forward, backward);
      problem.template run<Buffer>({width + 8, 0}, offset, forward, backward);
    }
  }
}

// Every so many floats of those that matter: the formulas' own error, in float32, at all
// magnitudes.
template <template <typename> class Buffer, typename Forward, typename Backward>
void check_activation(const Activation& activation, const Forward& forward,
                      const Backward& backward) {
  std::vector<float> gate;
  for (uint32_t bits = 0x33000000u; bits < 0x42a00000u; bits += 2039) {  // 2^-25 to 80
    float value;
    std::memcpy(&value, &bits, sizeof value);
    gate.push_back(value);
    gate.push_back(-value);
  }
  const GatedUnitProblem<float> problem(gate, activation);
  problem.run<Buffer>({problem.width, 0}, 0, forward, backward);
}

}  // namespace op_test
