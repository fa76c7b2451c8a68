# The fake clang++ of Debian's layout refuses what the real one refuses, in the same words; where the real one is
# installed, it is asked too.
fake_rocm("${case_DIR}/machine" VERSION 5.2 LAYOUT DEBIAN)
set(usr "${case_DIR}/machine/usr")
file(WRITE "${case_DIR}/a.hip" "")

set(
  rule
  "format is a processor name followed by an optional colon-delimited list of features followed by an enable/disable sign (e.g., 'gfx908:sramecc+:xnack-')"
)
set(
  place
  "provide its path via '--rocm-path' or '--rocm-device-lib-path', or pass '-nogpulib' to build without ROCm device library"
)
set(
  mixed
  "(for a specific processor, a feature should either exist in all offload archs, or not exist in any offload archs)"
)
set(no_libraries "clang: error: cannot find ROCm device library; ${place}\n")
set(
  no_runtime
  "clang: error: cannot find HIP runtime; provide its path via '--rocm-path', or pass '-nogpuinc' to build without HIP runtime\n"
)

set(real "")
if(EXISTS /usr/bin/clang++-15 AND EXISTS /usr/lib/x86_64-linux-gnu/amdgcn/bitcode/oclc_isa_version_90a.bc)
  set(real /usr)
endif()

# expect(<exit code> <stderr> <argument>...); "@" stands for the prefix.
function(expect result stderr)
  foreach(prefix IN LISTS usr real)
    set(args "")
    foreach(arg IN LISTS ARGN)
      string(REPLACE "@" "${prefix}" arg "${arg}")
      list(APPEND args "${arg}")
    endforeach()
    case_step(
      "${prefix}/bin/clang++-15"
      RESULT ${result}
      COMMAND "${prefix}/bin/clang++-15" -x hip --cuda-device-only -c -o /dev/null ${args} a.hip
    )
    case_equal("${prefix}: ${args}" "${case_STEP_STDERR}" "${stderr}")
  endforeach()
  set_property(GLOBAL PROPERTY case_STDERR "")
endfunction()

set(there --rocm-path=@ --rocm-device-lib-path=@/lib/x86_64-linux-gnu/amdgcn/bitcode)
expect(0 "" ${there} --offload-arch=gfx90a)
expect(0 "" ${there})
expect(0 "" ${there} --offload-arch=gfx90a:xnack+ --offload-arch=gfx90a:xnack- --offload-arch=gfx1030)
foreach(
  arch
  IN
  ITEMS gfx999 gfx942 sm_90 90 gfx90a:foo+ gfx1030:xnack+ gfx1030:sramecc+
)
  expect(1 "clang: error: invalid target ID '${arch}'; ${rule}\n" ${there} --offload-arch=${arch})
endforeach()
expect(1 "clang: error: invalid target ID ''; ${rule}\n" ${there} --offload-arch=)
expect(
  1
  "clang: error: invalid target ID 'gfx999'; ${rule}\nclang: error: invalid target ID 'gfx998'; ${rule}\n"
  ${there} --offload-arch=gfx999 --offload-arch=gfx998
)
expect(1 "clang: error: cannot find ROCm device library for gfx1100; ${place}\n" ${there} --offload-arch=gfx1100)
expect(0 "" ${there} -nogpulib --offload-arch=gfx1100)
expect(
  1 "clang: error: invalid offload arch combinations: 'gfx90a' and 'gfx90a:xnack+' ${mixed}\n" ${there}
  --offload-arch=gfx90a:xnack+ --offload-arch=gfx90a
)
expect(
  1 "clang: error: invalid offload arch combinations: 'gfx90a:sramecc+' and 'gfx90a:xnack+' ${mixed}\n" ${there}
  --offload-arch=gfx90a:xnack+ --offload-arch=gfx90a:sramecc+
)
expect(1 "${no_libraries}${no_runtime}" --offload-arch=gfx90a)
expect(1 "${no_libraries}${no_runtime}" --offload-arch=gfx90a --rocm-path=/nowhere)
expect(1 "${no_libraries}" --offload-arch=gfx90a --rocm-path=@)
expect(1 "${no_libraries}" --offload-arch=gfx90a --rocm-path=@ --rocm-device-lib-path=/nowhere)
expect(0 "" --offload-arch=gfx90a --rocm-path=@ --cuda-host-only)
expect(1 "${no_runtime}" --offload-arch=gfx90a --cuda-host-only)
expect(1 "clang: error: unknown argument: '-funknown-thing'\n" ${there} -funknown-thing)

foreach(prefix IN LISTS usr real)
  case_step(version COMMAND "${prefix}/bin/clang++-15" --version)
  case_match(
    "${prefix} --version" "${case_STEP_STDOUT}"
    "^Debian clang version 15.0.[0-9]+ Target: x86_64-pc-linux-gnu Thread model: posix InstalledDir: ${prefix}/bin$"
  )
  case_step(
    plan
    COMMAND
      "${prefix}/bin/clang++-15" "-###" -x hip --cuda-device-only -c a.hip -o /dev/null "--rocm-path=${prefix}"
      "--rocm-device-lib-path=${prefix}/lib/x86_64-linux-gnu/amdgcn/bitcode"
  )
  case_match("${prefix} -###" "${case_STEP_STDERR}" "\"-mlink-builtin-bitcode\" \"${prefix}/lib/x86_64-linux-gnu/amdgcn/bitcode/ocml.bc\""
  )
  case_step(plan_without COMMAND "${prefix}/bin/clang++-15" "-###" -x hip --cuda-device-only -c a.hip -o /dev/null
  )
  case_match("${prefix} -### without" "${case_STEP_STDERR}" "cannot find ROCm device library; .*cannot find HIP runtime; "
  )
endforeach()
set_property(GLOBAL PROPERTY case_STDERR "")

# hipcc says its release and its clang; hipconfig the places.
case_step(hipcc COMMAND "${usr}/bin/hipcc" --version)
case_match(
  "hipcc --version" "${case_STEP_STDOUT}"
  "^HIP version: 5.2.21153-0 Debian clang version 15.0.6 .*InstalledDir: ${usr}/bin$"
)
case_step(hipconfig COMMAND "${usr}/bin/hipconfig" --hipclangpath)
case_equal("hipconfig --hipclangpath" "${case_STEP_STDOUT}" "${usr}/bin")

# AMD's own finds everything around itself.
fake_rocm("${case_DIR}/rocm" VERSION 6.4 GPUS gfx942)
case_step(amd COMMAND "${case_DIR}/rocm/bin/amdclang++" -x hip --cuda-device-only --offload-arch=gfx950 -c a.hip -o /dev/null)
case_step(amd_link COMMAND "${case_DIR}/rocm/llvm/bin/clang++" -v -print-targets)
case_match("-v" "${case_STEP_STDERR}" "Found HIP installation: ${case_DIR}/rocm, version 6.4.43482$")
case_step(agents COMMAND "${case_DIR}/rocm/bin/rocm_agent_enumerator")
case_equal("agents" "${case_STEP_STDOUT}" "gfx000\ngfx942\n")
set_property(GLOBAL PROPERTY case_STDERR "")
