# A case that passed is not run again, whatever variables it set; one that was skipped or failed is.
run_inner(other_generator PASSES)
run_inner(other_generator PASSES "Passed before, and nothing that it depends on has changed")
foreach(again IN ITEMS 1 2)
  run_inner(skip SKIPS)
  run_inner(check_fails FAILS)
endforeach()
