# What a case looks for is not found in the name of a directory, and no name is taken for a regular expression.
foreach(
  dir
  IN
  ITEMS error "a warning" "a+(b)&'c" "[x]{1}^$" "übung#1"
)
  run_inner(places PASSES DIR "${case_DIR}/${dir}/FAILED")
endforeach()

# A checkout that was reached through a link: programs write both names.
file(MAKE_DIRECTORY "${case_DIR}/error/real")
file(CREATE_LINK "${case_DIR}/error/real" "${case_DIR}/link" SYMBOLIC)
run_inner(real_places PASSES DIR "${case_DIR}/link/case")

# Checkouts in short places, whose names end other paths and begin other names.
foreach(case_REPO IN ITEMS /src /a "/c++ error")
  case_match(
    "${case_REPO}"
    "${case_DIR}/src -I${case_REPO}/cmake \"${case_REPO}\""
    "^${case_DIR}/src -I${case_REPO}/cmake .${case_REPO}.$"
  )
  case_match("${case_REPO}: files" "${case_DIR}/src -I${case_REPO}/cmake" "^<case>/src -I<repo>/cmake$")
  set(others "..${case_REPO} /usr${case_REPO}/x ${case_REPO}s")
  set(text "${others}")
  case_name_places(text)
  case_equal("${case_REPO}: other paths" "${text}" "${others}")
endforeach()
