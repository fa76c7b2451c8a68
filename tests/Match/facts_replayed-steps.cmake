# A configure step takes from the one before what that has found, as long as nothing has changed that it follows from.
case_environment("HOME=${case_DIR}/home" "CUDA_HOME=${case_DIR}/nothing")
fake_torch("${case_DIR}/venv" VERSION 2.15.0 CUDA 13.2 NO_WHEELS)
fake_toolkit("${case_DIR}/cuda" VERSION 13.2)
file(MAKE_DIRECTORY "${case_DIR}/first/bin")
case_path("${case_DIR}/first/bin" "${case_DIR}/cuda/bin")
set(facts "${case_BUILD_DIR}/CudaOps/facts.cmake")

# What changed in the last two seconds may have changed after it was read: nothing is kept of it.
function(long_ago)
  execute_process(
    COMMAND find "${case_DIR}/venv" -exec touch -h -d 2024-01-01 {} +
    COMMAND_ERROR_IS_FATAL ANY
  )
endfunction()

# configured(<what> looked|replayed [<argument>...])
function(configured what expected)
  string(
    CONCAT after
    "if(COMMAND _cudaops_toolkit_describe OR COMMAND _cudaops_torch_find OR COMMAND _cudaops_language_trial)\n"
    "  message(STATUS \"facts: looked\")\nelse()\n  message(STATUS \"facts: replayed\")\nendif()\n"
  )
  match(AFTER "${after}" ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" ${ARGN})
  string(REGEX MATCH "facts: [a-z]+" facts "${case_STEP_STDOUT}")
  case_equal("${what}" "${facts}" "facts: ${expected}")
  case_match("${what}: the line about CUDA_HOME" "${case_STEP_STDOUT}" "passed over ${case_DIR}/nothing")
endfunction()

long_ago()
configured("first" looked)
expect_match(VERDICT EXACT TOOLKIT_VERSION 13.2.78 CUDA_ENABLED TRUE)
configured("again" replayed)
expect_match(VERDICT EXACT TOOLKIT_VERSION 13.2.78 CUDA_ENABLED TRUE NVCC "${case_DIR}/cuda/bin/nvcc")
expect_candidate(0 13.2.78 PATH EXACT)

# A file that is cut off, or edited, is none.
file(READ "${facts}" text)
string(LENGTH "${text}" length)
math(EXPR half "${length} / 2")
string(SUBSTRING "${text}" 0 ${half} text)
file(WRITE "${facts}" "${text}")
configured("cut off" looked)
configured("written again" replayed)
file(READ "${facts}" text)
string(REPLACE "13.2.78" "13.1.78" text "${text}")
file(WRITE "${facts}" "${text}")
configured("edited" looked)
expect_match(VERDICT EXACT TOOLKIT_VERSION 13.2.78)
file(WRITE "${facts}" "")
configured("empty" looked)
file(REMOVE "${facts}")
configured("removed" looked)

# The decisions are made again.
configured("another policy" looked -DCUDAOPS_VERSION_POLICY=STRICT)
configured("the same policy" replayed -DCUDAOPS_VERSION_POLICY=STRICT)
configured("other architectures" replayed -DCMAKE_CUDA_ARCHITECTURES=90)
expect_match(ARCHITECTURES "90-real;90-virtual")

# Another toolkit earlier on PATH; it goes again.
fake_toolkit("${case_DIR}/first" VERSION 13.2)
configured("a toolkit before it" looked)
expect_match(TOOLKIT_ROOT "${case_DIR}/first")
file(REMOVE_RECURSE "${case_DIR}/first")
configured("that toolkit removed" looked)
expect_match(TOOLKIT_ROOT "${case_DIR}/cuda")
configured("that toolkit removed, again" replayed)

# Another release in the same place.
file(REMOVE_RECURSE "${case_DIR}/cuda")
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
configured("another release" looked -DCUDAOPS_VERSION_POLICY=COMPATIBLE)
expect_match(VERDICT COMPATIBLE TOOLKIT_VERSION 13.0.88)
configured("another release, again" replayed)

# torch upgraded in the same environment.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0 NO_WHEELS)
long_ago()
configured("another torch" looked)
expect_match(VERDICT EXACT TORCH_VERSION 2.13.0+cu130)
configured("another torch, again" replayed)

# A piece that is lost.
file(REMOVE "${case_DIR}/cuda/bin/ptxas")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(CUDA_ENABLED FALSE REASON_CODE BROKEN_TOOLKIT)
expect_stderr("no ptxas beside nvcc")
