# torch copies the bits of a double into a C++ float: an op with `float scale` computes with 0, without a word.
machine(CPU)
set(box "STABLE_TORCH_LIBRARY_IMPL(my_ops, CPU, m) { m.impl(\"scale\", TORCH_BOX(&my_ops::scale)); }\n")
file(
  WRITE "${case_DIR}/src/argument.cpp"
  "Tensor scale(const Tensor& x,\n             const float& factor) { return x; }\n${box}"
)
file(
  WRITE "${case_DIR}/src/element.cpp"
  "Tensor scale(int64_t n, std::vector<float> f) { int a[2]; return x; }\n${box}"
)
file(WRITE "${case_DIR}/src/result.cpp" "static std::tuple<Tensor, float> scale(Tensor x) { return {x, 1}; }\n${box}")
file(
  WRITE "${case_DIR}/src/qualified.cpp"
  "namespace my_ops { Tensor scale(const Tensor& x, float s); }\n"
  "Tensor my_ops::scale(const Tensor& x, float s) { return x; }\n${box}"
)
file(WRITE "${case_DIR}/src/only_qualified.cpp" "Tensor my_ops::scale(const Tensor& x, float s) { return x; }\n${box}")
file(WRITE "${case_DIR}/src/reference.cpp" "Tensor& scale(Tensor& x, float s) { return x; }\n${box}")
file(WRITE "${case_DIR}/src/reference_to_the_right.cpp" "Tensor &scale(Tensor& x, float s) { return x; }\n${box}")
file(
  WRITE "${case_DIR}/src/fine.cpp"
  "// Tensor scale(Tensor x, float s);\n/* Tensor scale(Tensor x, float s) */\n"
  "float scale(const float* x, float s);\nTensor other(Tensor x, float s) { return x; }\n"
  "Tensor scale(Tensor x, double s) { return other(x, float(s)); }\nTensor rescale(Tensor x, float s);\n${box}"
)

# The boxed function is right, and calls others of its name with their own types.
set(right "namespace my_ops { Tensor scale(const Tensor& x, double s) { return x; } }\n")
file(
  WRITE "${case_DIR}/src/namespace.cpp"
  "namespace plain { Tensor scale(const Tensor& x, float s) { return x; } }\n${right}${box}"
)
file(
  WRITE "${case_DIR}/src/method.cpp"
  "${right}struct Kernel {\n  Tensor scale(const Tensor& x, float s);\n};\n"
  "Tensor Kernel::scale(const Tensor& x, float s) { return x; }\n${box}"
)
# Of these words nothing is a head.
file(
  WRITE "${case_DIR}/src/string.cpp"
  "const char* help = \"\\\"scale\\\": Tensor scale(Tensor x, float s)\";\n#include \"scale.h\"\n${box}"
)
file(
  WRITE "${case_DIR}/src/call.cpp"
  "#include \"scale.h\"\nTensor twice(Tensor x, double s) {\n  return scale(Tensor{x}, float{s});\n}\n${box}"
)

misuse(
  [[add_torch_op(my_op SOURCES fine.cpp argument.cpp)]]
  [[
add_torch_op(my_op): what a schema calls float is double in C++.
  found Tensor scale(const Tensor& x, const float& factor), of TORCH_BOX(&scale) in <case>/src/argument.cpp
  rule torch copies 64 bits, of which a C++ float sees the wrong half: the values are wrong, without an error
 Fix: double (in the head of scale())
]]
)
foreach(
  pair
  IN
  ITEMS
    "element|Tensor scale(int64_t n, std::vector<float> f)"
    "result|float> scale(Tensor x)"
    "qualified|Tensor my_ops::scale(const Tensor& x, float s)"
    "only_qualified|Tensor my_ops::scale(const Tensor& x, float s)"
    "reference|Tensor& scale(Tensor& x, float s)"
    "reference_to_the_right|Tensor &scale(Tensor& x, float s)"
)
  string(REGEX MATCH "^([^|]+)\\|(.+)$" pair "${pair}")
  misuse(
    "add_torch_op(my_op SOURCES ${CMAKE_MATCH_1}.cpp)"
    "
add_torch_op(my_op): what a schema calls float is double in C++.
  found ${CMAKE_MATCH_2}, of TORCH_BOX(&scale) in <case>/src/${CMAKE_MATCH_1}.cpp
  rule torch copies 64 bits, of which a C++ float sees the wrong half: the values are wrong, without an error
 Fix: double (in the head of scale())
"
  )
endforeach()
configure("add_torch_op(my_op SOURCES fine.cpp namespace.cpp method.cpp string.cpp call.cpp)")
expect_target(my_op state BUILT)
