# A PEP 517 build environment gets the hint that cures it. (pytorch#36204)
fake_python("${case_DIR}/pip-build-env-x1y2/overlay")
case_path("${case_DIR}/pip-build-env-x1y2/overlay/bin")
match()
