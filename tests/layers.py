# SPDX-License-Identifier: Apache-2.0
"""The layers of cmake/: no file calls one of a layer above its own, and each names the modules that it calls. The folders of
python/cudaops/: each imports what FOLDERS names.

usage: layers.py <checkout>

cmake/detail/<layer>/ from the lowest to the highest, then the public modules beside detail. cmake/accelerate/ calls base and
launch alone, and nothing calls it: the core only announces what happens (detail/base/hooks.cmake).
"""

import ast
import os
import re
import sys

ORDER = ["base", "launch", "facts", "search", "arch", "match", "hipify", "op", "report", "public"]
# What a project may begin with, without anything of ours before.
MAY_CALL_ACCELERATE = {"CudaOpsSeed.cmake"}
# Of python/cudaops/: what a folder's modules import besides each other; "": the modules beside the folders.
FOLDERS = {
    "binaries": {"problem"},
    "kernels": {"binaries", ""},
    "nvidia_tools": {"binaries", ""},
    "jit": {"binaries", ""},
    "hipify": {"depfile", "includes", "problem", "store"},
    "port": set(),
    "provide": set(),
    "": {"binaries", "jit"},
}
# The command line brings all of it together.
MAY_IMPORT_ALL = {"__main__.py"}


def layer(path):
    folders = path.split("/")
    if folders[0] == "detail":
        return folders[1]
    return "accelerate" if folders[0] == "accelerate" else "public"


def module(path):
    return re.sub(r"^detail/|\.cmake$", "", path)


def code(text):
    """Without comments, whatever their form."""
    text = re.sub(r"#\[(=*)\[.*?\]\1\]", "", text, flags=re.S)
    return re.sub(r"(?m)(^|\s)#[^\n]*", r"\1", text)


def calls(text):
    names = set(re.findall(r"(?m)^\s*(_?cudaops_\w+|add_torch_op|hipify_sources)\s*\(", text))
    # Deferred calls, and those of whoever listens to an event.
    names.update(re.findall(r"\bCALL (_?cudaops_\w+)", text))
    names.update(re.findall(r"_cudaops_on\(\w+ (\w+)\)", text))
    return names


def check(top):
    files = {}
    for folder, _, names in os.walk(os.path.join(top, "cmake")):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), os.path.join(top, "cmake"))
            if name.endswith(".cmake") and path.split(os.sep)[0] not in ("tools", "kernels"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    files[path.replace(os.sep, "/")] = code(file.read())
    defined = {}
    for path, text in files.items():
        for name in re.findall(r"\b(?:function|macro)\(\s*(\w+)", text):
            defined[name] = path
    problems = []
    # One owner of what runs compiles and links.
    writers = {
        path
        for path, text in files.items()
        for words in re.findall(r"\bset_(?:property|target_properties)\(([^)]*)\)", text)
        if re.search(r"COMPILER_LAUNCHER|RULE_LAUNCH_", words)
    }
    if writers != {"detail/launch/launch.cmake"}:
        problems.append("launchers are written by detail/launch/launch.cmake alone, not by %s" % sorted(writers))
    for path in files:
        if layer(path) not in ORDER + ["accelerate"]:
            problems.append("%s: %s is no layer" % (path, layer(path)))
    number = 0
    for path, text in sorted(files.items()):
        named = set()
        for words in re.findall(r"_cudaops_use\(([^)]*)\)", text):
            named.update(words.split())
        for name in sorted(calls(text)):
            other = defined.get(name)
            if other is None or other == path:
                continue
            number += 1
            mine, theirs = layer(path), layer(other)
            if mine == "accelerate":
                allowed = theirs in ("base", "launch", "accelerate")
            elif theirs == "accelerate":
                allowed = path in MAY_CALL_ACCELERATE
            else:
                allowed = ORDER.index(theirs) <= ORDER.index(mine)
            if not allowed:
                problems.append("%s (%s) calls %s() of %s (%s)" % (path, mine, name, other, theirs))
            # A folder of hooks for CMake's own modules is entered by CMake.
            if module(other) not in named and other != "detail/base/use.cmake" and "/seed/" not in path:
                problems.append("%s calls %s() and doesn't name %s in _cudaops_use()" % (path, name, module(other)))
    if number < 500:
        problems.append("only %d calls are seen in %s: the check would prove nothing" % (number, top))
    return problems


def imports(tree, folder):
    """The modules of cudaops that a module of a folder names, such as binaries.elf or problem."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            if node.level == 0 and node.module.split(".")[0] != "cudaops":
                continue
            names = node.module.split(".") if node.module else []
            if node.level == 0:
                names = names[1:]
            elif node.level == 1 and folder:
                names = [folder, *names]
            yield from [".".join(names)] if names and names != [folder] else [".".join([*names, name.name]) for name in node.names]
        elif isinstance(node, ast.Import):
            yield from (name.name.partition(".")[2] for name in node.names if name.name.startswith("cudaops."))


def check_python(top):
    package = os.path.join(top, "python", "cudaops")
    problems, number = [], 0
    for place, folders, names in os.walk(package):
        folders[:] = [name for name in folders if name not in ("include", "templates", "__pycache__")]
        for name in sorted(names):
            path = os.path.relpath(os.path.join(place, name), package).replace(os.sep, "/")
            if not name.endswith(".py") or path in MAY_IMPORT_ALL:
                continue
            folder = os.path.dirname(path)
            with open(os.path.join(place, name), encoding="utf-8") as file:
                tree = ast.parse(file.read())
            for module in imports(tree, folder):
                number += 1
                theirs = module.split(".")[0] if module.split(".")[0] in FOLDERS else ""
                if theirs != folder and theirs not in FOLDERS.get(folder, ()) and module not in FOLDERS.get(folder, ()):
                    problems.append("python/cudaops/%s imports cudaops.%s" % (path, module))
    if number < 200:
        problems.append("only %d imports are seen in %s: the check would prove nothing" % (number, package))
    return problems


def main():
    problems = check(sys.argv[1]) + check_python(sys.argv[1])
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
