// SPDX-License-Identifier: Apache-2.0
// A Python module with a class and a function: what pybind11 can and an operator's schema can't.
#include "histogram.h"

#include <torch/extension.h>

#include <string>

// USE_CUDA is defined where the op has its CUDA part.
#ifdef USE_CUDA
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#endif

namespace pybind_ops {
namespace {

constexpr int kMostBins = 256;

// Counts over as many tensors as come along.
class Histogram {
 public:
  Histogram(int num_bins, const torch::Device& device)
      : counts_(torch::zeros({num_bins}, torch::dtype(torch::kInt).device(device))) {
    TORCH_CHECK_VALUE(num_bins > 0 && num_bins <= kMostBins, "Histogram: wanted 1 to ", kMostBins,
                      " bins, found ", num_bins);
  }

  void add(const torch::Tensor& values) {
    TORCH_CHECK_TYPE(values.scalar_type() == torch::kByte, "Histogram: wanted uint8, found ",
                     values.scalar_type());
    TORCH_CHECK_VALUE(values.device() == counts_.device(), "Histogram: wanted a tensor on ",
                      counts_.device(), ", found ", values.device());
    const torch::Tensor contiguous_values = values.contiguous();
    const uint8_t* data = contiguous_values.const_data_ptr<uint8_t>();
    int32_t* counts = counts_.mutable_data_ptr<int32_t>();
    const int num_bins = static_cast<int>(counts_.numel());
    // Other Python threads may run meanwhile.
    const pybind11::gil_scoped_release no_gil;
#ifdef USE_CUDA
    if (counts_.is_cuda()) {
      const c10::cuda::CUDAGuard guard(counts_.device());
      launch_histogram(data, values.numel(), counts, num_bins, at::cuda::getCurrentCUDAStream());
      return;
    }
#endif
    TORCH_CHECK(counts_.is_cpu(), "Histogram: built without CUDA, found a tensor on ",
                counts_.device());
    for (int64_t i = 0; i < values.numel(); ++i) {
      if (data[i] < num_bins) ++counts[data[i]];
    }
  }

  torch::Tensor counts() const { return counts_.clone(); }

 private:
  torch::Tensor counts_;
};

torch::Tensor histogram(const torch::Tensor& values, int num_bins) {
  Histogram result(num_bins, values.device());
  result.add(values);
  return result.counts();
}

}  // namespace
}  // namespace pybind_ops

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  namespace py = pybind11;
  using pybind_ops::Histogram;
  py::class_<Histogram>(module, "Histogram", "Counts of uint8 values.")
      .def(py::init<int, torch::Device>(), py::arg("num_bins"), py::kw_only(),
           py::arg("device") = torch::Device(torch::kCPU))
      .def("add", &Histogram::add, py::arg("values"))
      .def_property_readonly("counts", &Histogram::counts);
  module.def("histogram", &pybind_ops::histogram, py::arg("values"), py::arg("num_bins") = 256,
             "Counts of one tensor of uint8 values.");
}
