# Which architectures count: the first that says something; the others are named.
hip_machine()
# arch(<source> <gfx>... ENVIRONMENT <VAR=value>... ARGS <argument>...)
function(arch source)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "BEFORE" "ENVIRONMENT;ARGS")
  file(REMOVE_RECURSE "${case_BUILD_DIR}")
  case_environment(UNSET PYTORCH_ROCM_ARCH AMDGPU_TARGETS GPU_TARGETS)
  if(arg_ENVIRONMENT)
    case_environment(${arg_ENVIRONMENT})
  endif()
  match(ARGS ${hip_TORCH} ${hip_ROCM} ${arg_ARGS} BEFORE "${arg_BEFORE}")
  expect_match(HIP_ENABLED TRUE ARCHITECTURES "${arg_UNPARSED_ARGUMENTS}" CMAKE_HIP_ARCHITECTURES "${arg_UNPARSED_ARGUMENTS}")
  case_report_equal("${source}" architectures source)
  set(case_STEP_STDOUT "${case_STEP_STDOUT}" PARENT_SCOPE)
endfunction()
set(all PYTORCH_ROCM_ARCH=gfx906 AMDGPU_TARGETS=gfx908 GPU_TARGETS=gfx1030)
arch(
  CMAKE_HIP_ARCHITECTURES gfx942
  ENVIRONMENT ${all}
  ARGS -DCMAKE_HIP_ARCHITECTURES=gfx942 -DPYTORCH_ROCM_ARCH=gfx950 -DAMDGPU_TARGETS=gfx1100
)
expect_stdout(
  "architectures gfx942 \\(CMAKE_HIP_ARCHITECTURES\\); PYTORCH_ROCM_ARCH asks for gfx950 and is not used"
  "architectures gfx942 \\(CMAKE_HIP_ARCHITECTURES\\); environment PYTORCH_ROCM_ARCH asks for gfx906 and is not used"
  "AMDGPU_TARGETS asks for gfx1100 and is not used"
  "environment GPU_TARGETS asks for gfx1030 and is not used"
)
arch(PYTORCH_ROCM_ARCH gfx950 ENVIRONMENT ${all} ARGS -DPYTORCH_ROCM_ARCH=gfx950 -DAMDGPU_TARGETS=gfx1100)
arch("environment PYTORCH_ROCM_ARCH" gfx906 ENVIRONMENT ${all} ARGS -DAMDGPU_TARGETS=gfx1100)
arch(AMDGPU_TARGETS gfx1100 ENVIRONMENT AMDGPU_TARGETS=gfx908 GPU_TARGETS=gfx1030 ARGS -DAMDGPU_TARGETS=gfx1100)
arch("environment AMDGPU_TARGETS" gfx908 ENVIRONMENT AMDGPU_TARGETS=gfx908 GPU_TARGETS=gfx1030 ARGS -DGPU_TARGETS=gfx1100)
arch(GPU_TARGETS gfx1100 ENVIRONMENT GPU_TARGETS=gfx1030 ARGS -DGPU_TARGETS=gfx1100)
arch("environment GPU_TARGETS" gfx1030 ENVIRONMENT GPU_TARGETS=gfx1030)
# Set in the project, as a list, with features; the same one twice counts once.
arch(CMAKE_HIP_ARCHITECTURES gfx90a:xnack+ gfx90a:xnack- gfx1030 BEFORE "set(CMAKE_HIP_ARCHITECTURES gfx90a:xnack+ gfx90a:xnack- gfx1030 gfx1030)")
# Torch's own spelling.
arch("environment PYTORCH_ROCM_ARCH" gfx90a gfx942 gfx1100 ENVIRONMENT "PYTORCH_ROCM_ARCH=gfx90a;gfx942 gfx1100")
# An empty one counts as unset.
arch("environment PYTORCH_ROCM_ARCH" gfx906 ENVIRONMENT PYTORCH_ROCM_ARCH=gfx906 ARGS -DCMAKE_HIP_ARCHITECTURES=)
