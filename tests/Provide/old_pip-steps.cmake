use_plain_python()
file(WRITE "${case_DIR}/plain/pip.py" "print('pip 20.2.4 from here (python 3.9)')")
execute_process(
  COMMAND
    "${case_PYTHON}" -c
    "import sysconfig, shutil; shutil.copy('${case_DIR}/plain/pip.py', sysconfig.get_path('purelib'))"
)
call_provide(ask _cudaops_provide_torch)
