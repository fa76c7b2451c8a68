# SPDX-License-Identifier: Apache-2.0
"""Public units with headers="fast": what the preflight says of each, and whether the front ends of the compilers take it.

    python units.py DIRECTORY [public_units.tsv]      the list with a verdict for each unit
    python units.py --find DIRECTORY                  a list of all units that the clones hold

DIRECTORY holds clones called <owner>+<name>. A unit is a source file that includes torch's headers, itself or through
headers of its project, or (path#n) the n-th load_inline() of a Python file. Headers of its project are found wherever
they lie in it, as its setup.py would say. Nothing is run.
"""

import argparse
import ast
import functools
import os
import shutil
import re
import subprocess
import sys
import tempfile

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python")]

from cudaops.jit import fast, sources  # noqa: E402
from cudaops.jit.project import Project  # noqa: E402
from cudaops.jit.request import Request  # noqa: E402

# What a project's own build gives its sources.
DEFINED = {"BlinkDL/": ["-D_N_=64", "-D_C_=64", "-D_T_=1024", "-D_CHUNK_LEN_=16", "-DTmax=1024", "-DBF=8", "-DBB=2", "-DCC=64", "-DHEAD_CE_CHUNK=4096"]}
TORCH = re.compile(r"^(torch|ATen|c10)/")
SOURCES = (".cpp", ".cc", ".cu")


class Clone:
    def __init__(self, directory):
        self.directory = directory
        self.files = []
        for place, folders, names in os.walk(directory):
            folders[:] = sorted(name for name in folders if name != ".git")
            self.files += [os.path.join(place, name) for name in sorted(names)]
        self.by_name = {}
        for path in self.files:
            self.by_name.setdefault(os.path.basename(path), []).append(path)

    def include_paths(self, path):
        """Directories that its project's headers are in, the nearest of those of one name; what isn't found."""
        found, missing, todo, seen = [], set(), [path], set()
        while todo:
            one = todo.pop()
            if one in seen:
                continue
            seen.add(one)
            for name, quoted in sources.includes(sources.without_comments(sources.read(one))):
                place = next((p for p in sources.candidates(name, quoted, one, found) if os.path.isfile(p)), None)
                if place is None and not TORCH.match(name):
                    fitting = [p for p in self.by_name.get(os.path.basename(name), ()) if p.endswith("/" + name)]
                    if fitting:
                        place = max(fitting, key=lambda p: len(os.path.commonpath([p, one])))
                        found.append(place[: -len(name) - 1])
                    elif quoted:
                        missing.add(name)
                if place is not None:
                    todo.append(os.path.realpath(place))
        return list(dict.fromkeys(found)), seen, missing


def torch_names(paths):
    return any(TORCH.match(name) for path in paths for name, _ in sources.includes(sources.without_comments(sources.read(path))))


def inline_calls(path):
    """Keyword arguments of each load_inline() of a Python file whose texts are literals."""
    try:
        tree = ast.parse(sources.read(path))
    except SyntaxError:
        return []
    texts = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            texts.update({target.id: node.value.value for target in node.targets if isinstance(target, ast.Name)})

    def value(node):
        if isinstance(node, (ast.List, ast.Tuple)):
            return [value(item) for item in node.elts]
        if isinstance(node, ast.Name):
            return texts.get(node.id)
        return node.value if isinstance(node, ast.Constant) else None

    calls = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "load_inline":
            found = {keyword.arg: value(keyword.value) for keyword in node.keywords}
            listed = [one if isinstance(one, list) else [one] for one in (found.get("cpp_sources"), found.get("cuda_sources")) if one]
            if listed and all(isinstance(text, str) for one in listed for text in one):
                calls.append(found)
    return calls


def find(root):
    """[(repository, commit, path)]"""
    units = []
    for name in sorted(os.listdir(root)):
        clone = Clone(os.path.join(root, name))
        head = subprocess.run(["git", "-C", clone.directory, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
        unit = (name.replace("+", "/"), head.stdout[:12])
        for path in clone.files:
            short = os.path.relpath(path, clone.directory)
            if path.endswith(SOURCES):
                _, seen, missing = clone.include_paths(path)
                if torch_names(seen) and not missing:
                    units.append((*unit, short))
            elif path.endswith(".py") and "load_inline" in sources.read(path):
                units += [(*unit, "%s#%d" % (short, number)) for number in range(len(inline_calls(path)))]
    return units


def request_of(clone, path):
    file, mark, number = path.partition("#")
    file = os.path.realpath(os.path.join(clone.directory, file))
    if mark:
        call = inline_calls(file)[int(number)]
        listed = lambda one: [] if one is None else one if isinstance(one, list) else [one]  # noqa: E731
        functions = call.get("functions") or []
        request = Request("unit", "module", "fast", None, {name: name for name in listed(functions)}, (True, True, False))
        request.set_flags(None, None, None, None)
        request.cpp_texts, request.cuda_texts = listed(call.get("cpp_sources")), listed(call.get("cuda_sources"))
        return request
    request = Request("unit", "module", "fast")
    request.set_flags(None, None, None, clone.include_paths(file)[0])
    request.set_paths([file])
    return request


def host_pass(command):
    """What nvcc runs up to cudafe++, which reads device code, too: cicc takes a minute for some kernels."""
    lines = subprocess.run([*command, "--dryrun"], capture_output=True, text=True).stderr.split("\n")
    lines = [line[3:] for line in lines if line.startswith("#$ ")]
    variables = [re.sub(r"^(\w+)=(.*)$", r'\1="\2"; export \1', line) for line in lines if re.match(r"\w+=", line)]
    last = next(number for number, line in enumerate(lines) if line.startswith("cudafe++"))
    return "\n".join(["set -e", *variables, lines[last - 1], lines[last]])


def front_end(request, defined=()):
    """The first error, or None: with the compilers' front ends alone."""
    nvcc = os.environ.get("CUDACXX") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    toolkit = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(nvcc))), "include")
    with tempfile.TemporaryDirectory() as place:
        directory = os.path.join(place, "project")
        options = ["-std=c++%s" % fast.cxx_standard(), "-DTORCH_EXTENSION_NAME=unit", "-DTORCH_API_INCLUDE_EXTENSION_H", "-w", *defined]
        for one in [os.path.join(directory, "fast"), fast.INCLUDE, *request.include_paths]:
            options += ["-I", one]
        for source in Project(request, directory, "fast").sources:
            if source.endswith(".cu"):
                command = [nvcc, "-arch=sm_89", "--expt-relaxed-constexpr", "--expt-extended-lambda", "-DUSE_CUDA", *options]
                command = ["sh", "-c", host_pass([*command, "--keep", "--keep-dir", place, "-c", source, "-o", os.path.join(place, "unit.o")])]
            else:
                command = [os.environ.get("CXX", "c++"), "-fsyntax-only", *options, "-isystem", toolkit, source]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                lines = (done.stderr + done.stdout).strip().split("\n")
                return next((line for line in lines if "error" in line), lines[-1])
    return None


@functools.lru_cache(None)
def clone_of(root, repository):
    return Clone(os.path.join(root, repository.replace("/", "+")))


def verdict(root, repository, path, compiles=True):
    """("ok" | "refused" | "other", reason)"""
    request = request_of(clone_of(root, repository), path)
    reason = fast.refusal(request)
    if reason:
        return "refused", re.sub(r"^.*?:\d+: ", "", reason)
    defined = [option for name, options in DEFINED.items() if repository.startswith(name) for option in options]
    error = front_end(request, defined) if compiles else None
    return ("ok", "") if error is None else ("other", re.sub(r"^.*?(?=(?:fatal )?error)", "", error)[:160])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("directory")
    parser.add_argument("list", nargs="?", default=os.path.join(os.path.dirname(__file__), "public_units.tsv"))
    parser.add_argument("--find", action="store_true", help="print a list of all units that the clones hold")
    parser.add_argument("--preflight", action="store_true", help="compile nothing")
    parser.add_argument("--only", default="", help="units whose repository and path match this expression")
    given = parser.parse_args()
    if given.find:
        for unit in find(given.directory):
            print("\t".join(unit))
        return
    for line in sources.read(given.list).split("\n"):
        if line and line[0] != "#":
            repository, commit, path = line.split("\t")[:3]
            if re.search(given.only, repository + "/" + path):
                found = verdict(given.directory, repository, path, not given.preflight)
                print("\t".join([repository, commit, path, *found]).rstrip(), flush=True)


if __name__ == "__main__":
    main()
