# The binding of an op copied for another one: torch would end the process that loads the library, without a word.
machine(CPU)
file(WRITE "${case_DIR}/src/one.cpp" "STABLE_TORCH_LIBRARY(my_ops, library) { library.def(\"one() -> ()\"); }\n")
file(WRITE "${case_DIR}/src/two.cpp" "  STABLE_TORCH_LIBRARY(my_ops, m) { m.def(\"two() -> ()\"); }\n")
file(WRITE "${case_DIR}/src/full.cpp" "TORCH_LIBRARY ( my_ops , m ) {}\n")
file(WRITE "${case_DIR}/src/other.cpp" "STABLE_TORCH_LIBRARY(other_ops, m) {}\n")
file(
  WRITE "${case_DIR}/src/more.cpp"
  "STABLE_TORCH_LIBRARY_FRAGMENT(my_ops, m) {}\nSTABLE_TORCH_LIBRARY_IMPL(my_ops, CPU, m) {}\n"
  "// STABLE_TORCH_LIBRARY(my_ops, m) {}\n/*\nSTABLE_TORCH_LIBRARY(my_ops, m) {}\n*/\n"
  "#ifdef ALONE\nSTABLE_TORCH_LIBRARY(my_ops, m) {}\n#endif\n"
)

misuse(
  [[add_torch_op(my_op SOURCES one.cpp more.cpp two.cpp)]]
  [[
add_torch_op(my_op): two sources define the namespace my_ops as a whole.
  found TORCH_LIBRARY(my_ops, ...) in <case>/src/one.cpp
        and in <case>/src/two.cpp
  wanted one such block, or fragments: torch ends the process that loads a second one
 Fix: STABLE_TORCH_LIBRARY_FRAGMENT(my_ops, m) (in both)
]]
)
misuse(
  [[add_torch_op(my_op ABI FULL SOURCES one.cpp full.cpp)]]
  [[
add_torch_op(my_op): two sources define the namespace my_ops as a whole.
  found TORCH_LIBRARY(my_ops, ...) in <case>/src/one.cpp
        and in <case>/src/full.cpp
  wanted one such block, or fragments: torch ends the process that loads a second one
 Fix: TORCH_LIBRARY_FRAGMENT(my_ops, m) (in both)
]]
)

# One in both lists is one source.
configure("add_torch_op(my_op SOURCES one.cpp more.cpp other.cpp CUDA_SOURCES one.cpp)")
expect_target(my_op state CPU_ONLY)
