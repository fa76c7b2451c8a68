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
  WRITE "${case_DIR}/src/fine.cpp"
  "// Tensor scale(Tensor x, float s);\n/* Tensor scale(Tensor x, float s) */\n"
  "float scale(const float* x, float s);\nTensor other(Tensor x, float s) { return x; }\n"
  "Tensor scale(Tensor x, double s) { return other(x, float(s)); }\nTensor rescale(Tensor x, float s);\n${box}"
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
foreach(pair IN ITEMS "element|Tensor scale(int64_t n, std::vector<float> f)" "result|float> scale(Tensor x)")
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
configure("add_torch_op(my_op SOURCES fine.cpp)")
expect_target(my_op state BUILT)
