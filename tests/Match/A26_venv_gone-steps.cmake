# An active environment that was deleted is named among the places tried.
case_environment("VIRTUAL_ENV=${case_DIR}/gone")
match(FIND "")
expect_match(FOUND FALSE VERDICT NO_TORCH)
expect_stdout("tried ${case_DIR}/gone/bin/python3 \\(environment VIRTUAL_ENV\\): no such file")
