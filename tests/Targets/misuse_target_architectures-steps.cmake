# cudaops_target_architectures(): every argument that can be wrong.
machine(CPU)

misuse(
  [[cudaops_target_architectures()]]
  [[
cudaops_target_architectures(): the first argument is a target.
  found ''
 Fix: cudaops_target_architectures(<target> <arch>...)
]]
)

misuse(
  [[cudaops_target_architectures("")]]
  [[
cudaops_target_architectures(): the first argument is a target.
  found ''
 Fix: cudaops_target_architectures(<target> <arch>...)
]]
)

misuse(
  [[cudaops_target_architectures(t 80)]]
  [[
cudaops_target_architectures(t): the first argument is a target.
  found 't'
 Fix: cudaops_target_architectures(<target> <arch>...)
]]
)

misuse(
  [[add_library(t STATIC op.cpp)
cudaops_target_architectures(t)]]
  [[
cudaops_target_architectures(t): no architecture is given.
  wanted what cudaops_resolve_architectures() gives, or a list such as 80 90a
 Fix: cudaops_resolve_architectures(archs REQUEST <arch>...) cudaops_target_architectures(t ${archs})
]]
)

misuse(
  [[add_library(t STATIC op.cpp)
cudaops_target_architectures(t "")]]
  [[
cudaops_target_architectures(t): no architecture is given.
  found wanted what cudaops_resolve_architectures() gives, or a list such as 80 90a
 Fix: cudaops_resolve_architectures(archs REQUEST <arch>...) cudaops_target_architectures(t ${archs})
]]
)

misuse(
  [[add_library(t STATIC op.cpp)
cudaops_target_architectures(t native)]]
  [[
cudaops_target_architectures(t): native needs a toolkit to mean something.
  found native
  wanted what cudaops_resolve_architectures() gives, or a list such as 80 90a
 Fix: cudaops_resolve_architectures(archs REQUEST <arch>...) cudaops_target_architectures(t ${archs})
]]
)

misuse(
  [[add_library(t STATIC op.cpp)
cudaops_target_architectures(t sm_80)]]
  [[
cudaops_target_architectures(t): "sm_80" is nvcc's spelling; here it is 80-real.
  found sm_80
  wanted what cudaops_resolve_architectures() gives, or a list such as 80 90a
 Fix: cudaops_target_architectures(t 80-real)
]]
)

misuse(
  [[add_library(t STATIC op.cpp)
cudaops_target_architectures(t ARCHITECTURES 80)]]
  [[
cudaops_target_architectures(t): "ARCHITECTURES" is not an architecture.
  found ARCHITECTURES 80
  wanted what cudaops_resolve_architectures() gives, or a list such as 80 90a
 Fix: cudaops_resolve_architectures(archs REQUEST <arch>...) cudaops_target_architectures(t ${archs})
]]
)

misuse(
  [[add_library(t STATIC op.cpp)
cudaops_target_architectures(t 80 nonsense)]]
  [[
cudaops_target_architectures(t): "nonsense" is not an architecture.
  found 80 nonsense
  wanted what cudaops_resolve_architectures() gives, or a list such as 80 90a
 Fix: cudaops_resolve_architectures(archs REQUEST <arch>...) cudaops_target_architectures(t ${archs})
]]
)

misuse(
  [[add_library(t STATIC op.cpp)
cudaops_target_architectures(t $<1:80>)]]
  [[
cudaops_target_architectures(t): "$<1:80>" is not an architecture.
  found $<1:80>
  wanted what cudaops_resolve_architectures() gives, or a list such as 80 90a
 Fix: cudaops_resolve_architectures(archs REQUEST <arch>...) cudaops_target_architectures(t ${archs})
]]
)

misuse(
  [[add_library(t STATIC op.cpp)
cudaops_target_architectures(t OFF)]]
  [[
cudaops_target_architectures(t): "OFF" is not an architecture: CUDA code is always built for one; without a list it is the default.
  found OFF
  wanted what cudaops_resolve_architectures() gives, or a list such as 80 90a
 Fix: cudaops_resolve_architectures(archs REQUEST <arch>...) cudaops_target_architectures(t ${archs})
]]
)

misuse(
  [[add_library(t INTERFACE)
cudaops_target_architectures(t 80)]]
  [[
cudaops_target_architectures(t): architectures belong to a target that is compiled in this project.
  found t, INTERFACE_LIBRARY
  wanted a library or an executable
 Fix: cudaops_target_architectures(<target> <arch>...)
]]
)

misuse(
  [[add_custom_target(t)
cudaops_target_architectures(t 80)]]
  [[
cudaops_target_architectures(t): architectures belong to a target that is compiled in this project.
  found t, UTILITY
  wanted a library or an executable
 Fix: cudaops_target_architectures(<target> <arch>...)
]]
)

misuse(
  [[add_library(x STATIC op.cpp)
add_library(t ALIAS x)
cudaops_target_architectures(t 80)]]
  [[
cudaops_target_architectures(t): architectures belong to a target that is compiled in this project.
  found t, an alias of x
  wanted a library or an executable
 Fix: cudaops_target_architectures(<target> <arch>...)
]]
)

misuse(
  [[add_library(t STATIC IMPORTED)
cudaops_target_architectures(t 80)]]
  [[
cudaops_target_architectures(t): architectures belong to a target that is compiled in this project.
  found t, an imported target
  wanted a library or an executable
 Fix: cudaops_target_architectures(<target> <arch>...)
]]
)
