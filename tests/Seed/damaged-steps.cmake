# A damaged entry is dropped and made again.
counting_compiler("${case_DIR}/bin/c++" "${case_CXX}")
case_environment("CXX=${case_DIR}/bin/c++")
seed_project("${case_DIR}/src" CXX)
seed_configure("empty store" EXPECT CXX=KEPT)
file(GLOB entry "${case_DIR}/store/seeds/*")
file(READ "${entry}" whole)
string(LENGTH "${whole}" length)
math(EXPR half "${length} / 2")
math(EXPR less "${length} - 1")
string(SUBSTRING "${whole}" 0 ${half} truncated)
string(SUBSTRING "${whole}" 0 ${less} one_less)
string(REPLACE "GNU" "GMU" edited "${whole}")
string(REGEX REPLACE "^# cudaops-seed 4" "# cudaops-seed 3" older "${whole}")
string(FIND "${whole}" "\n" line_end)
string(SUBSTRING "${whole}" ${line_end} -1 headless)
foreach(
  kind
  IN
  ITEMS truncated one_less edited older headless empty words
)
  set(empty "")
  set(words "not an entry; [==[ \${at} all\n\"")
  file(WRITE "${entry}" "${${kind}}")
  seed_configure("${kind}" EXPECT CXX=KEPT SAYS "the entry is damaged")
  expect_seeds(1)
  seed_configure("${kind}, mended" EXPECT CXX=USED)
endforeach()
