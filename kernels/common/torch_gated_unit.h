// SPDX-License-Identifier: Apache-2.0
// What the bindings of gated units share: checks, outputs, the call.
#pragma once

#include <tuple>

#include "gated_unit.h"
#include "torch_rows.h"

namespace cudaops_kernels {

template <typename Run>
Tensor gated_unit_on(const char* op, const Tensor& gate, const Tensor& up, const Run& run) {
  const DType dtype = checked_dtype(op, "gate", gate);
  check_same(op, "gate", gate, "up", up);
  const TensorRows gate_rows = rows_of(op, "gate", gate), up_rows = rows_of(op, "up", up);
  const Tensor output = empty_of_shape(gate);
  run(GatedUnit{gate_rows.num_rows,
                gate_rows.width,
                dtype,
                gate_rows.read(),
                up_rows.read(),
                {output.mutable_data_ptr(), gate_rows.width}});
  return output;
}

template <typename Run>
std::tuple<Tensor, Tensor> gated_unit_backward_on(const char* op, const Tensor& grad_output,
                                                  const Tensor& gate, const Tensor& up,
                                                  const Run& run) {
  const DType dtype = checked_dtype(op, "grad_output", grad_output);
  check_same(op, "grad_output", grad_output, "gate", gate);
  check_same(op, "gate", gate, "up", up);
  const TensorRows grad_rows = rows_of(op, "grad_output", grad_output);
  const TensorRows gate_rows = rows_of(op, "gate", gate), up_rows = rows_of(op, "up", up);
  const Tensor grad_gate = empty_of_shape(gate), grad_up = empty_of_shape(up);
  run(GatedUnitBackward{gate_rows.num_rows,
                        gate_rows.width,
                        dtype,
                        grad_rows.read(),
                        gate_rows.read(),
                        up_rows.read(),
                        {grad_gate.mutable_data_ptr(), gate_rows.width},
                        {grad_up.mutable_data_ptr(), gate_rows.width}});
  return {grad_gate, grad_up};
}

}  // namespace cudaops_kernels
