# QUIET says nothing.
hip_machine()
match(FIND QUIET ARGS ${hip_ARGS})
expect_match(VERDICT EXACT HIP_ENABLED TRUE)
refuse_stdout("CudaTorchMatch")
