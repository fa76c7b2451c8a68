# A STABLE op that includes the full ABI: file, line, and what to do.
machine(CPU)
foreach(
  pair
  IN
  ITEMS
    "extension|<torch/extension.h>"
    "all|<torch/all.h>"
    "aten|<ATen/ATen.h>"
    "library|<torch/library.h>"
    "core|\"c10/core/Device.h\""
    "pybind|<pybind11/pybind11.h>"
    "fine|<torch/csrc/stable/library.h>"
)
  string(REGEX MATCH "^([^|]+)\\|(.+)$" pair "${pair}")
  file(
    WRITE "${case_DIR}/src/${CMAKE_MATCH_1}.cpp"
    "// one; [two]\n\n#  include ${CMAKE_MATCH_2}  // why; not\n#include <vector>\n"
  )
endforeach()
file(WRITE "${case_DIR}/src/guarded.cpp" "#ifdef FULL\n#if 1\n#endif\n#include <ATen/ATen.h>\n#endif\n")
file(
  WRITE "${case_DIR}/src/after.cpp"
  "#ifdef FULL\n#endif\n/* one */ int a; /* two */\n/*\n#include <torch/all.h>\n*/\n#include <ATen/ATen.h>\n"
)
file(WRITE "${case_DIR}/src/comment.cpp" "// #include <ATen/ATen.h>\n/*\n#include <torch/extension.h>\n*/\n")

misuse(
  [[add_torch_op(my_op SOURCES fine.cpp extension.cpp)]]
  [[
add_torch_op(my_op): a STABLE op doesn't include torch/extension.h.
  found <case>/src/extension.cpp:3: # include <torch/extension.h> // why; not
  wanted torch/csrc/stable/*, torch/headeronly/*
 Fix: ABI PYBIND (with PYTHON_MODULE) or the stable ABI: torch/csrc/stable/library.h and tensor.h
]]
)

misuse(
  [[add_torch_op(my_op SOURCES all.cpp)]]
  [[
add_torch_op(my_op): a STABLE op doesn't include torch/all.h.
  found <case>/src/all.cpp:3: # include <torch/all.h> // why; not
  wanted torch/csrc/stable/*, torch/headeronly/*
 Fix: ABI FULL or the stable ABI: torch/csrc/stable/library.h and tensor.h
]]
)

misuse(
  [[add_torch_op(my_op SOURCES aten.cpp)]]
  [[
add_torch_op(my_op): a STABLE op doesn't include ATen/ATen.h.
  found <case>/src/aten.cpp:3: # include <ATen/ATen.h> // why; not
  wanted torch/csrc/stable/*, torch/headeronly/*
 Fix: ABI FULL or the stable ABI: torch/csrc/stable/library.h and tensor.h
]]
)

misuse(
  [[add_torch_op(my_op SOURCES library.cpp)]]
  [[
add_torch_op(my_op): a STABLE op doesn't include torch/library.h.
  found <case>/src/library.cpp:3: # include <torch/library.h> // why; not
  wanted torch/csrc/stable/*, torch/headeronly/*
 Fix: ABI FULL or the stable ABI: torch/csrc/stable/library.h and tensor.h
]]
)

misuse(
  [[add_torch_op(my_op SOURCES core.cpp)]]
  [[
add_torch_op(my_op): a STABLE op doesn't include c10/core/Device.h.
  found <case>/src/core.cpp:3: # include "c10/core/Device.h" // why; not
  wanted torch/csrc/stable/*, torch/headeronly/*
 Fix: ABI FULL or the stable ABI: torch/csrc/stable/library.h and tensor.h
]]
)

misuse(
  [[add_torch_op(my_op SOURCES pybind.cpp)]]
  [[
add_torch_op(my_op): a STABLE op doesn't include pybind11/pybind11.h.
  found <case>/src/pybind.cpp:3: # include <pybind11/pybind11.h> // why; not
  wanted torch/csrc/stable/*, torch/headeronly/*
 Fix: ABI PYBIND (with PYTHON_MODULE) or the stable ABI: torch/csrc/stable/library.h and tensor.h
]]
)

misuse(
  [[add_torch_op(my_op SOURCES fine.cpp CUDA_SOURCES aten.cpp)]]
  [[
add_torch_op(my_op): a STABLE op doesn't include ATen/ATen.h.
  found <case>/src/aten.cpp:3: # include <ATen/ATen.h> // why; not
  wanted torch/csrc/stable/*, torch/headeronly/*
 Fix: ABI FULL or the stable ABI: torch/csrc/stable/library.h and tensor.h
]]
)

misuse(
  [[add_torch_op(my_op SOURCES after.cpp)]]
  [[
add_torch_op(my_op): a STABLE op doesn't include ATen/ATen.h.
  found <case>/src/after.cpp:7: #include <ATen/ATen.h>
  wanted torch/csrc/stable/*, torch/headeronly/*
 Fix: ABI FULL or the stable ABI: torch/csrc/stable/library.h and tensor.h
]]
)

configure("add_torch_op(my_op SOURCES comment.cpp guarded.cpp fine.cpp)")
