// A module that has an entry point of its own.
#include <Python.h>

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_mine", "mine", -1, nullptr};

extern "C" __attribute__((visibility("default"))) PyObject* PyInit__mine() {
  return PyModule_Create(&definition);
}
