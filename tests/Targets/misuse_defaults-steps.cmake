# cudaops_target_defaults(): not one target.
machine(CPU)

misuse(
  [[cudaops_target_defaults()]]
  [[
cudaops_target_defaults(): takes one argument, a target.
  found ''
 Fix: cudaops_target_defaults(<target>)
]]
)

misuse(
  [[cudaops_target_defaults("")]]
  [[
cudaops_target_defaults(): the first argument is a target.
  found ''
 Fix: cudaops_target_defaults(<target>)
]]
)

misuse(
  [[cudaops_target_defaults(t)]]
  [[
cudaops_target_defaults(t): the first argument is a target.
  found 't'
 Fix: cudaops_target_defaults(<target>)
]]
)

misuse(
  [[add_library(t STATIC op.cpp)
cudaops_target_defaults(t u)]]
  [[
cudaops_target_defaults(): takes one argument, a target.
  found 't u'
 Fix: cudaops_target_defaults(<target>)
]]
)

misuse(
  [[add_library(t INTERFACE)
cudaops_target_defaults(t)]]
  [[
cudaops_target_defaults(t): the target is not one that is compiled in this project.
  found t, INTERFACE_LIBRARY
  wanted a library or an executable
 Fix: cudaops_target_defaults(<target>)
]]
)

misuse(
  [[add_library(t INTERFACE IMPORTED)
cudaops_target_defaults(t)]]
  [[
cudaops_target_defaults(t): the target is not one that is compiled in this project.
  found t, an imported target
  wanted a library or an executable
 Fix: cudaops_target_defaults(<target>)
]]
)

misuse(
  [[add_custom_target(t)
cudaops_target_defaults(t)]]
  [[
cudaops_target_defaults(t): the target is not one that is compiled in this project.
  found t, UTILITY
  wanted a library or an executable
 Fix: cudaops_target_defaults(<target>)
]]
)

misuse(
  [[add_library(x STATIC op.cpp)
add_library(t ALIAS x)
cudaops_target_defaults(t)]]
  [[
cudaops_target_defaults(t): the target is not one that is compiled in this project.
  found t, an alias of x
  wanted a library or an executable
 Fix: cudaops_target_defaults(<target>)
]]
)
