# An interpreter that says the right version and then fails.
file(
  WRITE "${case_DIR}/bad/python"
  "#!/bin/sh\nif [ \"$1\" = -c ]; then echo \"3.11|$0\"; else echo 'no soup' >&2; exit 5; fi\n"
)
file(CHMOD "${case_DIR}/bad/python" PERMISSIONS OWNER_READ OWNER_EXECUTE)
set(case_PYTHON "${case_DIR}/bad/python")
call_provide(ask _cudaops_provide_torch)
