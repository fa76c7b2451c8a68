# HIP is switched off and on again in one build tree.
hip_machine()
match(ARGS ${hip_ARGS})
expect_match(HIP_ENABLED TRUE)
match(ARGS -DCUDAOPS_BACKEND=CPU)
expect_match(HIP_ENABLED FALSE VERDICT ROCM_TORCH REASON_CODE REQUESTED_OFF)
match(ARGS -DCUDAOPS_BACKEND=AUTO)
expect_match(HIP_ENABLED TRUE VERDICT EXACT ARCHITECTURES gfx90a)
