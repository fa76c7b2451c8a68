# What a case sets is not what it was started with.
set(case_GENERATOR "another one")
case_step(one COMMAND true)
