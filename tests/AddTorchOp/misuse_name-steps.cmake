# A name that is missing, empty, a keyword or no name.
machine(CPU)

misuse_name(add_torch_op "the name of the target" [[SOURCES op.cpp]])

misuse(
  [[add_torch_op("my op" SOURCES op.cpp)]]
  [[
add_torch_op(my op): not a name for a target.
  found 'my op'
  wanted letters, digits, and _ . + -, beginning with a letter or _
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op("my;op" SOURCES op.cpp)]]
  [[
add_torch_op(my;op): not a name for a target.
  found 'my;op'
  wanted letters, digits, and _ . + -, beginning with a letter or _
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my::op SOURCES op.cpp)]]
  [[
add_torch_op(my::op): not a name for a target.
  found 'my::op'
  wanted letters, digits, and _ . + -, beginning with a letter or _
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(op.cpp)]]
  [[
add_torch_op(op.cpp): SOURCES and CUDA_SOURCES are both missing.
  wanted at least one file
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op($<1:my_op> SOURCES op.cpp)]]
  [[
add_torch_op($<1:my_op>): not a name for a target.
  found '$<1:my_op>'
  wanted letters, digits, and _ . + -, beginning with a letter or _
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(test SOURCES op.cpp)]]
  [[
add_torch_op(test): CMake has a target of this name.
  found 'test'
 Fix: another name: my_test, or the like
]]
)

misuse(
  [[add_torch_op(all SOURCES op.cpp)]]
  [[
add_torch_op(all): CMake has a target of this name.
  found 'all'
 Fix: another name: my_all, or the like
]]
)

misuse(
  [[add_torch_op(1op SOURCES op.cpp)]]
  [[
add_torch_op(1op): not a name for a target.
  found '1op'
  wanted letters, digits, and _ . + -, beginning with a letter or _
 Fix: <usage>
]]
)

misuse(
  [[function(wrap)
  add_torch_op()
endfunction()
wrap(my_op SOURCES op.cpp)]]
  [[
add_torch_op(): the first argument is the name of the target.
  found ''
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp)
add_torch_op(my_op SOURCES op.cpp)]]
  [[
add_torch_op(my_op): there is a target of this name already.
  found my_op, made in <case>/src
 Fix: another name: it is the name of the file too
]]
)

misuse(
  [[add_library(my_op STATIC op.cpp)
add_torch_op(my_op SOURCES op.cpp)]]
  [[
add_torch_op(my_op): there is a target of this name already.
  found my_op, made in <case>/src
 Fix: another name: it is the name of the file too
]]
)

misuse(
  [[add_custom_target(my_op)
add_torch_op(my_op SOURCES op.cpp)]]
  [[
add_torch_op(my_op): there is a target of this name already.
  found my_op, made in <case>/src
 Fix: another name: it is the name of the file too
]]
)

misuse(
  [[add_library(other STATIC op.cpp)
add_library(my_op ALIAS other)
add_torch_op(my_op SOURCES op.cpp)]]
  [[
add_torch_op(my_op): there is a target of this name already.
  found my_op, an alias of other
 Fix: another name: it is the name of the file too
]]
)

misuse(
  [[add_library(my_op SHARED IMPORTED)
add_torch_op(my_op SOURCES op.cpp)]]
  [[
add_torch_op(my_op): there is a target of this name already.
  found my_op, an imported target
 Fix: another name: it is the name of the file too
]]
)
