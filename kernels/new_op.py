#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files of a new op, as copies of those of an op that is like it, with the new name:

    kernels/new_op.py relu_squared --like swiglu

What is copied builds and passes its tests at once under the new name, with the old one's shapes of
tests/kernels/shapes.json. Then it is changed until it is the new op: the header first, the tests
next. --like transpose: one tensor; swiglu: element by element; softmax: rows; rms_norm: rows and a
weight.
"""

import argparse
import os
import re
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Sources with this one as a part of their name are other ops', which stay.
LIKE = ("transpose", "swiglu", "softmax", "rms_norm")


def camel(name):
    return "".join(part.capitalize() for part in name.split("_"))


def shared_words(root, old):
    """What kernels/common has with the name in it (OnlineSoftmax of online_softmax.h), which stays."""
    words = set()
    for folder, _, names in os.walk(os.path.join(root, "kernels", "common")):
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                words.update(re.findall(r"\w+", name + " " + file.read()))
    return [word for word in words if re.search(f"{old}|{camel(old)}", word) and word not in (old, camel(old))]


def renamed(text, old, new, shared=()):
    """Of all forms of the name; not within another op's (rms_norm_quantize), nor of torch's own (F.softmax)."""
    others = {"rms_norm": "rms_norm_quantize", "swiglu": "swiglu_quantize"}
    kept = []

    def keep(match):
        kept.append(match[0])
        return f"\0{len(kept) - 1}\0"

    text = re.sub(rf"\b(torch|functional|F)\.{old}\b", keep, text)
    if old in others:
        text = re.sub(others[old], keep, text)
    for word in shared:
        text = re.sub(rf"\b{word}\b", keep, text)
    text = re.sub(rf"(?<![A-Za-z]){old}(?![a-z])", new, text)
    text = re.sub(rf"(?<![A-Z]){camel(old)}(?![a-z])", camel(new), text)
    return re.sub("\0([0-9]+)\0", lambda mark: kept[int(mark[1])], text)


def files_of(root, op):
    """The op's own files, with paths from the root."""
    folder = os.path.join("kernels", op)
    paths = [os.path.join(folder, name) for name in sorted(os.listdir(os.path.join(root, folder)))]
    paths += [
        f"kernels/python/cudaops_kernels/_{op}.py",
        f"tests/kernels/{op}_test.cpp",
        f"tests/kernels/test_{op}.py",
        f"bench/kernels/{op}_benchmark.cpp",
    ]
    return [path for path in paths if os.path.exists(os.path.join(root, path))]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name")
    parser.add_argument("--like", choices=LIKE, default="transpose")
    parser.add_argument("--root", default=SOURCE, help="a checkout (default: this one)")
    arguments = parser.parse_args()
    new, old, root = arguments.name, arguments.like, arguments.root
    if not re.fullmatch(r"[a-z][a-z0-9_]*[a-z0-9]", new):
        sys.exit(f"new_op.py: wanted a name of small letters, digits and _, found {new}.")
    if os.path.exists(os.path.join(root, "kernels", new)):
        sys.exit(f"new_op.py: kernels/{new} is there already.")
    shared = shared_words(root, old)
    for path in files_of(root, old):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = renamed(file.read(), old, new, shared)
        folder, name = os.path.split(path)
        if os.path.basename(folder) == old:
            folder = os.path.join(os.path.dirname(folder), new)
        target = os.path.join(folder, renamed(name, old, new))
        os.makedirs(os.path.join(root, folder), exist_ok=True)
        with open(os.path.join(root, target), "x", encoding="utf-8") as file:
            file.write(text)
        print(f"wrote   {target}")

    # The shapes that its tests go through are those of the old one.
    path = os.path.join(root, "tests", "kernels", "shapes.json")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text, count = re.subn(rf'("ops": \[[^]]*"{old}")', rf'\1, "{new}"', text)
    assert count == 1, "tests/kernels/shapes.json lists each op once"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    print("changed tests/kernels/shapes.json")

    path = os.path.join(root, "kernels", "ops.cmake")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    # The list of ops, and what of the old one is set by its name.
    text, count = re.subn(rf"(?m)^  {old}$", f"  {old}\n  {new}", text, count=1)
    assert count == 1, "kernels/ops.cmake lists the ops one a line"
    for line in re.findall(rf"(?m)^set\({old}_(?:sources|shards) .*\)$", text):
        text = text.replace(line, f"{line}\n{line.replace(old, new)}")
    for lines in re.findall(rf"(?m)^  list\(\n    APPEND {old}_shards\n.*\n  \)$", text):
        text = text.replace(lines, f"{lines}\n{renamed(lines, old, new)}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    print("changed kernels/ops.cmake")

    path = os.path.join(root, "kernels", "python", "cudaops_kernels", "__init__.py")
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    # The functions that have the name; each of the lists is in order.
    (functions,) = [line.split(" import ")[1] for line in lines if line.startswith(f"from ._{old} import ")]
    names = [renamed(name, old, new) for name in functions.split(", ") if renamed(name, old, new) != name]
    additions = [(f"from ._{new} import {', '.join(sorted(names))}", r"from \._")]
    additions += [(f'    "{name}",', r'    "[a-z]') for name in names]
    for line, alike in additions:
        places = [place for place, other in enumerate(lines) if re.match(alike, other)]
        place = next((place for place in places if lines[place] > line), places[-1] + 1)
        lines.insert(place, line)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    print("changed kernels/python/cudaops_kernels/__init__.py")
    print(
        "Next:   a call in calls() of tests/kernels/test_modes.py, which runs it through every mode of torch."
    )


if __name__ == "__main__":
    main()
