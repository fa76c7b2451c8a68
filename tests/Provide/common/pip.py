"""Stands in for pip 22.0, which has no --python: takes torch to --target, refuses everything else."""

import os
import sys

arguments = sys.argv[1:]
if arguments == ["--version"]:
    print("pip 22.0.2 from here (python %d.%d)" % sys.version_info[:2])
    sys.exit()
if arguments[0] != "install" or not any(argument.startswith("torch==") for argument in arguments):
    sys.exit("ERROR: no such option: " + arguments[0])
target = arguments[arguments.index("--target") + 1]
version = next(argument for argument in arguments if argument.startswith("torch==")).split("==")[1]
os.makedirs(os.path.join(target, "torch"))
os.makedirs(os.path.join(target, "torch-%s.dist-info" % version))
with open(os.path.join(target, "torch", "version.py"), "w", encoding="utf-8") as file:
    file.write("__version__ = '%s+cu132'\n" % version)
