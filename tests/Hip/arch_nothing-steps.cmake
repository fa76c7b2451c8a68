# Nothing says an architecture: HIP is off, and the reason says what was looked at. Not gfx803, CMake's own answer.
hip_machine()
match(ARGS ${hip_TORCH} ${hip_ROCM})
expect_match(
  VERDICT EXACT
  HIP_ENABLED FALSE
  REASON_CODE NO_ARCHITECTURE
  ARCHITECTURES ""
  CMAKE_HIP_ARCHITECTURES ""
  languages CXX
)
expect_stdout("HIP: off \\(no architecture\\): .*no architecture is requested, no AMD GPU is visible, and torch's library doesn't say what it was built for")
