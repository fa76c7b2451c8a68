# A name that this compiler doesn't know: the name, where it came from, the compiler's own words, and what would do.
hip_machine()
case_environment("PYTORCH_ROCM_ARCH=gfx90a;gfx999")
match(ARGS ${hip_TORCH} ${hip_ROCM})
