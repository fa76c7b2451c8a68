# CMake says nothing of it; of names that are meant, ours says nothing either.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
foreach(type IN ITEMS release None Fast Relase)
  match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" -DCMAKE_BUILD_TYPE=${type})
  expect_match(FOUND TRUE)
endforeach()
match(ARGS --fresh "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=)
