# A driver that doesn't answer is no GPU.
file(
  WRITE "${case_DIR}/bin/nvidia-smi"
  "#!/bin/sh\necho 'NVIDIA-SMI has failed because it could not communicate'\nexit 9\n"
)
file(CHMOD "${case_DIR}/bin/nvidia-smi" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
case_path("${case_DIR}/bin")
arch_configure()
file(STRINGS "${case_DIR}/results.txt" source REGEX "^ARCHITECTURES_SOURCE=")
case_equal("source" "${source}" "ARCHITECTURES_SOURCE=default")
