# An editable install: torch lies elsewhere, a .pth file leads there.
# Python 3.11 reads a .pth file in the locale's encoding, which is ASCII where LC_ALL=C; LANG=C becomes UTF-8.
case_environment(LANG=C UNSET LC_ALL)
fake_torch("${case_DIR}/checkout" VERSION 2.14.0 LOCAL a0+git1234567 CPU)
fake_python("${case_DIR}/venv")
set(site "lib/python${case_PYTHON_VERSION}/site-packages")
file(WRITE "${case_DIR}/venv/${site}/__editable__.torch.pth" "${case_DIR}/checkout/${site}\n")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(TORCH_VERSION 2.14.0a0+git1234567 TORCH_DIR "${case_DIR}/checkout/${site}/torch")
