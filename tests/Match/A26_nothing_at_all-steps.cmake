# Not even a Python.
match()
