# SPDX-License-Identifier: Apache-2.0
"""Prints what this interpreter knows of its torch, as key=value lines, without importing torch.

Importing costs seconds and fails where a driver or a library is missing; everything wanted stands in files.
Runs as a script in the user's own interpreter, whatever its age, and only with its standard library.
"""

import sys

# An interpreter that is too old must be named as such, not end in a SyntaxError: nothing newer than 3.0 above this line.
print("executable=" + sys.executable)
print("version=%d.%d.%d" % sys.version_info[:3])
if sys.version_info < (3, 8):
    print("problem=Python %d.%d is too old for any torch that CudaOps supports" % sys.version_info[:2])
    sys.exit(0)

import os

# Our own directory: its modules must not hide Python's, and a folder named torch beside them is no torch.
if sys.path and os.path.realpath(sys.path[0]) == os.path.dirname(os.path.realpath(__file__)):
    del sys.path[0]

import importlib.machinery
import importlib.util
import re
import site
import sysconfig


def main():
    print("prefix=" + sys.prefix)
    print("include=" + (sysconfig.get_path("include") or ""))
    print("ext_suffix=" + (sysconfig.get_config_var("EXT_SUFFIX") or ""))
    print("free_threaded=%d" % bool(sysconfig.get_config_var("Py_GIL_DISABLED")))
    for scheme in ("platlib", "purelib"):
        print(scheme + "=" + (sysconfig.get_path(scheme) or ""))
    try:
        spec = importlib.util.find_spec("torch")
    except Exception as error:  # a broken .pth or editable hook may raise anything
        print("problem=looking for torch raised %s: %s" % (type(error).__name__, str(error).splitlines()[:1]))
        return
    # A namespace package (spec.origin None) is a folder that happens to be called torch.
    if spec is None:
        return
    if not spec.origin:
        places = list(spec.submodule_search_locations or [])
        print("problem=%s is a folder without __init__.py, not an installed torch" % (places[0] if places else "torch"))
        return
    root = os.path.dirname(os.path.abspath(spec.origin))
    print("torch=" + root)
    site = os.path.dirname(root)
    print("site=" + site)
    try:
        infos = sorted(name for name in os.listdir(site) if name.lower().startswith("torch-") and name.endswith(".dist-info"))
    except OSError:
        infos = []
    for name in infos:
        print("metadata=" + os.path.join(site, name, "METADATA"))
        break
    # Toolkit wheels lie beside torch, or anywhere else on the path (a second site directory, --system-site-packages).
    seen = set()
    for place in [site] + sys.path:
        base = os.path.join(place or ".", "nvidia")
        if os.path.isdir(base) and os.path.realpath(base) not in seen:
            seen.add(os.path.realpath(base))
            print("nvidia=" + base)
    print_dependencies(spec)


def print_dependencies(spec):
    """depends=<path> for all that these answers follow from; nothing where a hook has given torch's place."""
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        found = find and find("torch", None)
        if found is not None:
            break
    if finder is not importlib.machinery.PathFinder or not all(os.path.isabs(place) for place in sys.path):
        return
    places = [os.path.join(sys.prefix, "pyvenv.cfg"), spec.origin]
    for name in ("sitecustomize", "usercustomize"):
        place = getattr(sys.modules.get(name), "__file__", None)
        if place:
            places.append(place)
            if re.search(r"environ|getenv|getcwd|argv|addsitedir|sys\.path", text_of(place)):
                return
    # Directories that come later count from then on: the user's is made by the first `pip install --user`.
    directories = list(sys.path)
    if hasattr(site, "getsitepackages"):
        directories += site.getsitepackages() + [site.getusersitepackages()]
    for directory in dict.fromkeys(directories):
        places.append(directory)
        for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else ():
            if name.endswith(".pth"):
                file = os.path.join(directory, name)
                lines = text_of(file).splitlines()
                places += [file] + [os.path.join(directory, line.rstrip()) for line in lines if not is_code(line)]
                # Code may ask anything. These two are in most environments, and don't.
                if name not in ("distutils-precedence.pth", "_virtualenv.pth") and any(map(is_code, lines)):
                    return
    for place in places:
        print("depends=" + place)


def is_code(line):
    """Of a .pth file; the other lines are directories, which needn't be there yet."""
    return line.startswith(("import ", "import\t"))


def text_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


main()
