# A language that is enabled inside a function is broken for the caller.
hip_machine()
case_project(
  PRELUDE "${case_PRELUDE}\n${match_HEAD}"
  BODY "function(find)\n  find_package(CudaTorchMatch REQUIRED)\nendfunction()\nfind()\n"
)
case_configure(ARGS ${hip_ARGS})
