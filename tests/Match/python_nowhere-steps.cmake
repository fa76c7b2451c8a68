# Not even a Python. (pytorch#36204)
match()
