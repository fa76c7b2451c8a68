# A GPU that the toolkit has left behind, and nothing else asked for: the build goes on with the common ones.
file(WRITE "${case_DIR}/bin/nvidia-smi" "#!/bin/sh\necho '0, GPU-0-1, 7.0'\n")
file(CHMOD "${case_DIR}/bin/nvidia-smi" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
case_path("${case_DIR}/bin")
arch_configure()
