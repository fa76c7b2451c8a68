# SPDX-License-Identifier: Apache-2.0
"""The layers of cmake/: no file calls one of a layer above its own, and each names the modules that it calls.

usage: layers.py <checkout>

cmake/detail/<layer>/ from the lowest to the highest, then the public modules beside detail. cmake/accelerate/ calls base and
launch alone, and nothing calls it: the core only announces what happens (detail/base/hooks.cmake).
"""

import os
import re
import sys

ORDER = ["base", "launch", "facts", "search", "arch", "match", "hipify", "op", "report", "public"]
# What a project may begin with, without anything of ours before.
MAY_CALL_ACCELERATE = {"CudaOpsSeed.cmake"}


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


def main():
    problems = check(sys.argv[1])
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
