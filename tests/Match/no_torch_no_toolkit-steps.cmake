# Nothing at all, and not REQUIRED: it configures. (DeepSpeed#5497)
match(FIND "")
expect_match(FOUND FALSE VERDICT NO_TORCH REASON_CODE NO_TORCH CUDA_ENABLED FALSE languages CXX)
