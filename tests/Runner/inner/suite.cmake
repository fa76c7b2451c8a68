set(case_PRELUDE "")
