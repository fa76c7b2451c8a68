# A script: these layers need no project.
case_step(
  script
  COMMAND "${case_CMAKE}" "-Dcase_REPO=${case_REPO}" -P "${case_SUITE}/common/gpus.cmake"
)
expect_stdout("all as expected")
