# A distribution with several clangs: the one that hipcc calls is taken, not the one that is called clang++.
fake_rocm("${case_DIR}/machine" VERSION 5.2 LAYOUT DEBIAN)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 5.2)
set(usr "${case_DIR}/machine/usr")
foreach(name IN ITEMS clang++ clang++-14)
  file(
    WRITE "${usr}/bin/${name}"
    "#!/bin/sh\nprintf 'Debian clang version 14.0.6\\nTarget: x86_64-pc-linux-gnu\\nThread model: posix\\nInstalledDir: ${usr}/bin\\n'\n"
  )
  file(CHMOD "${usr}/bin/${name}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endforeach()
case_path("${usr}/bin")
match(ARGS ${hip_TORCH} ${hip_ARCH})
expect_match(VERDICT EXACT HIP_ENABLED TRUE CMAKE_HIP_COMPILER "${usr}/bin/clang++-15" CMAKE_HIP_COMPILER_VERSION 15.0.6)
