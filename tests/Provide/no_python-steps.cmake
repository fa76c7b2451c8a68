# An old interpreter, one that doesn't run, one that isn't there.
file(WRITE "${case_DIR}/old/bin/python" "#!/bin/sh\necho '3.9|/opt/old/bin/python'\n")
file(WRITE "${case_DIR}/bin/python3" "#!/bin/sh\nexit 1\n")
file(CHMOD "${case_DIR}/old/bin/python" "${case_DIR}/bin/python3" PERMISSIONS OWNER_READ OWNER_EXECUTE)
set(tools "${case_DIR}/tools")
case_environment("PATH=${case_DIR}/bin" "VIRTUAL_ENV=${case_DIR}/old")
set(case_PYTHON "${case_DIR}/gone/bin/python")
call_provide(ask _cudaops_provide_torch)
