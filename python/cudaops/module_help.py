# SPDX-License-Identifier: Apache-2.0
"""python -m cudaops help: what stands at the head of each CMake module, as text, and what Python's docstrings say.

A module's header is a bracket comment in reStructuredText (`#[==[.rst:`). The manual's reference is made of the same text.
"""

import difflib
import os
import re
import sys
import textwrap

import cudaops

from ._package import cmake_dir
from .problem import Problem
from .words import clean, read_text

HEADER = re.compile(r"^#\[(=*)\[\.rst:\n(.*?)^#?\]\1\]", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\.\. command:: (\w+)\n((?:\n|[ \t].*\n)*)", re.MULTILINE)
# Entries of a definition list: ``CUDAOPS_CACHE``, or ``CUDAOPS_CUDA_JOBS`` (variable, or environment variable ...).
OPTION = re.compile(r"^``(CUDAOPS_\w+)``(?: \(.*\))?\n((?:\n|[ \t].*\n)+)", re.MULTILINE)


class Module:
    """One module: its name, its header's text, and what the header documents."""

    def __init__(self, name, text):
        self.name = name
        self.text = text
        self.commands = {name: textwrap.dedent(body).strip("\n") for name, body in COMMAND.findall(text)}
        self.options = {name: textwrap.dedent(body).strip("\n") for name, body in OPTION.findall(text)}

    @property
    def summary(self):
        """The first sentence under the title, or of the only command."""
        body = re.sub(r"\A.*\n-+\n", "", self.text).strip()
        match = COMMAND.match(body + "\n")
        return first_sentence(_directives_out(match.group(2) if match else body))


def modules(directory=None):
    """[Module] of each public module with a header, by name."""
    directory = directory or cmake_dir()
    found = []
    for name in sorted(os.listdir(directory)):
        if name.endswith(".cmake"):
            header = HEADER.search(read_text(os.path.join(directory, name)))
            if header:
                found.append(Module(name[: -len(".cmake")], header.group(2).strip("\n") + "\n"))
    return found


def options_of(known):
    """{option: (module, text)}; of two modules that document one, the one that says more."""
    found = {}
    for module in known:
        for option, body in module.options.items():
            if option not in found or len(body) > len(found[option][1]):
                found[option] = (module, body)
    return found


def first_sentence(text, colon=True):
    """Of the first paragraph of text; `colon`: a colon ends it as well."""
    paragraph = " ".join(textwrap.dedent(text).strip().split("\n\n")[0].split())
    match = re.match(r".*?[.:](?= |$)" if colon else r".*?\.(?= |$)", paragraph)
    return match.group(0).rstrip(":") if match else paragraph


def plain(text):
    """reStructuredText as `cmake --help-command` shows it: without roles, with code blocks as indented text."""
    text = re.sub(r"^ *\.\. (code-block:: \w+|run by .*)\n\n", "", text, flags=re.MULTILINE)
    text = re.sub(r":[a-z]+:`([^`<]+?)(?: <[^>]*>)?`", r"\1", text)
    return re.sub(r"``([^`]+)``", r"\1", text)


def _directives_out(text):
    """Without the code blocks that stand before the first sentence."""
    text = textwrap.dedent(text).strip()
    while text.startswith(".. "):
        text = re.sub(r"\A\.\. .*\n(?:\n|[ \t].*\n)*", "", text + "\n").strip()
    return text


def _titled(title, text):
    return "%s\n%s\n\n%s" % (title, "-" * len(title), text)


def text_of(name, known):
    """What is printed for a name, or None where nothing has it. Case doesn't matter, `()` neither."""
    wanted = name.removesuffix("()").lower()
    for module in known:
        if module.name.lower() == wanted:
            return plain(module.text)
        for command, body in module.commands.items():
            if command.lower() == wanted:
                if len(module.commands) == 1:
                    return plain(module.text)
                return plain(_titled(command, body)) + "\n\nThe whole module: python -m cudaops help %s\n" % module.name
    for option, (module, body) in options_of(known).items():
        if option.lower() == wanted:
            return plain(_titled(option, body)) + "\n\nThe module: python -m cudaops help %s\n" % module.name
    return None


def python_names():
    """What the package has for Python, without its version."""
    return [name for name in cudaops.__all__ if not name.startswith("__")]


def python_text(name):
    """Signature and docstring of what has this name in Python, or None."""
    name = name.removesuffix("()").removeprefix("cudaops.")
    if name not in python_names():
        return None
    import inspect

    found = getattr(cudaops, name)
    try:
        signature = str(inspect.signature(found))
    except ValueError:  # of an exception
        signature = ""
    return _titled("cudaops.%s" % name, "cudaops.%s%s\n\n%s" % (name, signature, inspect.getdoc(found)))


def overview(known):
    """All modules with their commands and options, a line each."""
    lines = ["Modules, their commands and options; `python -m cudaops help <name>` prints one."]
    for module in known:
        lines += ["", "%s" % module.name, "  " + plain(module.summary)]
        lines += ["    %s()" % command for command in module.commands]
        lines += ["    %s" % option for option in module.options]
    lines += ["", "Python"]
    lines += ["    cudaops.%s" % name for name in sorted(python_names())]
    return "\n".join(lines) + "\n"


def add_command(commands):
    command = commands.add_parser(
        "help",
        help="print the documentation of a CMake command, module or option, or of a Python function",
        description="Prints what the module's header says of a command, a module or an option, as cmake --help-command "
        "does; of a Python function its docstring, of a command of this program its --help. Without a name it lists those of CMake and of Python.",
        epilog="Exit code: 0; 2 where nothing has this name.",
    )
    command.add_argument("name", nargs="?", help="add_torch_op, CudaOpsCache, CUDAOPS_STORE, ...")
    command.set_defaults(programs=commands.choices)


def run(options):
    known = modules()
    if options.name is None:
        sys.stdout.write(overview(known))
        return 0
    if options.name in options.programs:
        options.programs[options.name].print_help()
        return 0
    text = text_of(options.name, known) or python_text(options.name)
    if text is not None:
        sys.stdout.write(text.rstrip("\n") + "\n")
        return 0
    names = [name for module in known for name in (module.name, *module.commands, *module.options)]
    names += [*options.programs, *("cudaops." + name for name in python_names())]
    by_lower = {name.lower(): name for name in names}
    near = difflib.get_close_matches(options.name.removesuffix("()").lower(), by_lower, 1)
    fix = "python -m cudaops help" + (" " + by_lower[near[0]] if near else "   (lists all names)")
    word = re.compile(r"\b%s\b" % re.escape(options.name))
    keyword = re.compile(r"^``%s``" % re.escape(options.name), re.MULTILINE)
    named = [command for module in known for command, text in module.commands.items() if keyword.search(text)]
    named += [name for name in python_names() if word.search(getattr(cudaops, name).__doc__ or "")]
    if named and options.name:
        fix = "python -m cudaops help %s   (names it)" % named[0]
    problem = Problem("", "there is no command, module, option or function of this name.", ["found   " + options.name], [fix])
    sys.stderr.write(clean(problem.text("cudaops help")) + "\n")
    return 2
