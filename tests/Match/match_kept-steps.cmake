# The match itself is kept with the facts, as long as nothing asks for another one; the lines about it are printed each
# time.
case_environment("HOME=${case_DIR}/home" "CUDA_HOME=${case_DIR}/nothing")
fake_torch("${case_DIR}/venv" VERSION 2.15.0 CUDA 13.2 NO_WHEELS)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
file(MAKE_DIRECTORY "${case_DIR}/bin")
case_path("${case_DIR}/bin" "${case_DIR}/cuda/bin")
execute_process(
  COMMAND find "${case_DIR}/venv" -exec touch -h -d 2024-01-01 {} +
  COMMAND_ERROR_IS_FATAL ANY
)

# gpu(<compute capability>)
function(gpu capability)
  file(WRITE "${case_DIR}/bin/nvidia-smi" "#!/bin/sh\necho '0, GPU-aaaa, ${capability}'\n")
  file(CHMOD "${case_DIR}/bin/nvidia-smi" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

# configured(<what> decided|kept <architectures> [<argument>...])
function(configured what expected architectures)
  string(
    CONCAT after
    "if(COMMAND _cudaops_match_decide)\n  message(STATUS \"match: decided\")\nelse()\n"
    "  message(STATUS \"match: kept\")\nendif()\n"
    "if(COMMAND _cudaops_toolkit_describe)\n  message(STATUS \"facts: looked\")\nendif()\n"
  )
  match(AFTER "${after}" ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" ${ARGN})
  string(REGEX MATCH "match: [a-z]+" found "${case_STEP_STDOUT}")
  case_equal("${what}" "${found}" "match: ${expected}")
  expect_match(CUDA_ENABLED TRUE VERDICT COMPATIBLE ARCHITECTURES "${architectures}")
  foreach(
    line
    IN
    ITEMS "passed over ${case_DIR}/nothing" "differ in the minor version" "CUDA 13.0.88 at ${case_DIR}/cuda"
  )
    case_match("${what}: ${line}" "${case_STEP_STDOUT}" "${line}")
  endforeach()
  file(READ "${case_BUILD_DIR}/cudaops-report.json" report)
  string(JSON resolved GET "${report}" architectures resolved 0)
  list(GET architectures 0 first)
  case_equal("${what}: the report" "${resolved}" "${first}")
  set(case_STEP_STDOUT "${case_STEP_STDOUT}" PARENT_SCOPE)
endfunction()

gpu(9.0)
configured("first" decided "90-real")
configured("again" kept "90-real")
configured("once more" kept "90-real")

# Another GPU, by no file.
gpu(8.9)
configured("another GPU" decided "89-real")
configured("another GPU, again" kept "89-real")

# Another request: decided from the same facts.
configured("a request" decided "80-real;80-virtual" -DCMAKE_CUDA_ARCHITECTURES=80)
if(case_STEP_STDOUT MATCHES "facts: looked")
  case_fail("a request: the facts were searched for again")
endif()
configured("a request, again" kept "80-real;80-virtual")
configured("another request" decided "86-real;86-virtual" -DCMAKE_CUDA_ARCHITECTURES=86)
configured("the first request" decided "80-real;80-virtual" -DCMAKE_CUDA_ARCHITECTURES=80)
configured("without a request" decided "89-real" -UCMAKE_CUDA_ARCHITECTURES)

# What is warned of is decided, and warned of, each time.
gpu(7.0)
foreach(time RANGE 1 2)
  match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
  expect_stderr("the visible GPU 7.0 is older than what this toolkit builds")
endforeach()
