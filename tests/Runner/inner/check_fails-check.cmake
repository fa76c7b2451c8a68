case_equal("the check" 1 2)
