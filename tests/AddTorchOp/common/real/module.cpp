// A module of pybind11's, which torch's headers bring.
#include <pybind11/pybind11.h>

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("name", [] { return PYBIND11_TOSTRING(TORCH_EXTENSION_NAME); });
}
