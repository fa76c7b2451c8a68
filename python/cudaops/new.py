# SPDX-License-Identifier: Apache-2.0
"""python -m cudaops new: a project with an op that builds, tests, benchmarks and packs as it is.

templates/new holds it as files, by layers; in their texts and names my_ops (MY_OPS) stands for the project's name, and
dot_ for a leading dot, which packers of wheels leave out.
"""

import keyword
import os
import re
import sys

LAYERS = {
    "stable": ("common", "torch", "stable"),
    "pybind": ("common", "torch", "pybind"),
    "kernels": ("common", "kernels"),
}
TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates", "new")

DESCRIPTION = """Makes the directory NAME with a project of one op, for CPU and CUDA: CMakeLists.txt, presets, kernels and
bindings, GoogleTest, benchmark, pytest, pyproject.toml, and a GitHub workflow that keeps its compiler cache. It builds and
passes its tests as it is; nothing that exists is overwritten."""
EPILOG = "Exit code: 0, or 2 where nothing was made. Without an option the op is built for torch's stable ABI."

# Words that C++ has and Python hasn't, as far as they are identifiers of lower case: the name becomes a namespace.
_CXX = frozenset(
    "alignas alignof asm auto bitand bitor bool case catch char compl concept const constexpr consteval constinit decltype "
    "default delete do double enum explicit export extern float friend goto inline int long mutable namespace new "
    "noexcept nullptr operator private protected public register requires short signed sizeof static struct switch "
    "template this throw typedef typeid typename union unsigned using virtual void volatile wchar_t xor std main linux unix".split()
)
# Targets and directories of the project's own, and packages that its tests import.
_TAKEN = frozenset(
    "all bench build clean csrc cudaops dist help install package src test tests torch numpy pytest "
    "scaled_add_test scaled_add_benchmark".split()
)


class NewError(RuntimeError):
    pass


def add_command(commands):
    command = commands.add_parser("new", help="make a project with an op", description=DESCRIPTION, epilog=EPILOG)
    command.add_argument("name", help="of project, package, namespace and directory: my_ops")
    kind = command.add_mutually_exclusive_group()
    kind.add_argument("--pybind", action="store_true", help="bindings by pybind11 and torch/extension.h")
    kind.add_argument("--kernels-only", action="store_true", help="kernels, their tests and benchmark, without torch")


def run(options):
    kind = "pybind" if options.pybind else "kernels" if options.kernels_only else "stable"
    try:
        count = make(options.name, kind, os.getcwd())
    except NewError as error:
        print("cudaops %s" % error, file=sys.stderr)
        return 2
    print("%s: %d files. Next:" % (options.name, count))
    print("  cd %s" % options.name)
    print("  export CudaOps_ROOT=$(python -m cudaops --cmake-dir)")
    print("  cmake --workflow --preset dev       # builds and tests it; README.md says the rest")
    return 0


def make(name, kind, parent):
    """Writes the project into parent/name; returns the number of files. Raises NewError."""
    check_name(name)
    files = texts(name, kind)
    directory = os.path.join(parent, name)
    try:
        if os.path.lexists(directory) and (not os.path.isdir(directory) or os.listdir(directory)):
            what = "a directory with files in it" if os.path.isdir(directory) else "a file"
            raise NewError(
                "new: nothing is overwritten.\n  found   %s, %s\nFix: another name, or another directory" % (directory, what)
            )
        for path, text in files.items():
            place = os.path.join(directory, path)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "x", encoding="utf-8") as file:
                file.write(text)
    except OSError as error:
        raise NewError(
            "new: the project can't be written.\n  found   %s: %s\nFix: cd <a directory where files can be made>"
            % (error.filename or directory, os.strerror(error.errno) if error.errno else error)
        ) from None
    return len(files)


def check_name(name):
    """Raises NewError for what can't be project, package, namespace and target at once."""
    reason = _reason(name)
    if reason is None:
        return
    raise NewError(
        "new: the name is that of project, package and namespace.\n  found   %r\n  %s\nFix: python -m cudaops new %s"
        % (name, reason, _better(name))
    )


def _reason(name):
    """Why it can't be, or None."""
    if not re.fullmatch(r"[a-z](_?[a-z0-9])*", name):
        return "wanted  lower case letters, digits and single underscores, a letter first: my_ops"
    if keyword.iskeyword(name) or name in _CXX:
        return "wanted  a name that is no word of Python's or C++'s own"
    if name in _TAKEN or name in sys.stdlib_module_names:
        return "wanted  a name that no target, directory or package has that the project needs"
    return None


def _better(name):
    words = re.sub(r"[^a-z0-9]+", "_", name.lower()).lstrip("_0123456789").rstrip("_")
    for better in (words, words + "_ops"):
        if _reason(better) is None:
            return better
    return "my_ops"


def texts(name, kind):
    """{path below the project: text}"""
    found = {}
    for layer in LAYERS[kind]:
        root = os.path.join(TEMPLATES, layer)
        for directory, folders, files in os.walk(root):
            folders[:] = [folder for folder in folders if folder != "__pycache__"]
            for file in files:
                path = os.path.join(directory, file)
                below = os.path.relpath(path, root).replace("my_ops", name)
                below = "/".join(re.sub("^dot_", ".", part) for part in below.split(os.sep))
                with open(path, encoding="utf-8") as source:
                    found[below] = source.read().replace("my_ops", name).replace("MY_OPS", name.upper())
    if not found:
        raise NewError("new: the templates are not installed.\n  found   nothing in %s\nFix: pip install --force-reinstall <checkout>" % TEMPLATES)
    return dict(sorted(found.items()))
