# SPDX-License-Identifier: Apache-2.0
"""Reference pages that are made of code: the Python packages' docstrings, C++ headers' comments, the command line's --help.

Nothing is imported: torch isn't needed to build the manual.
"""

import ast
import os
import re
import subprocess
import sys
import textwrap

from cudaops.words import read_text


def escape(text):
    """Text of a comment: `name` is code, as in Markdown."""
    parts = re.split(r"`([^`\n]+)`", text)
    for number in range(0, len(parts), 2):
        parts[number] = re.sub(r"([*`|\\])|(?<=\w)(_)(?=\W|$)", lambda match: "\\" + match.group(0), parts[number])
    for number in range(1, len(parts), 2):
        parts[number] = "``%s``" % parts[number]
    return "".join(parts)


def prose(text, language="none"):
    """A docstring or a comment in reStructuredText: what is indented or set in columns stays as it is."""
    found = []  # ("text" or "block", lines)
    for part in re.split(r"\n[ \t]*\n", text.strip("\n")):
        lines = part.split("\n")
        if lines[0].startswith("- "):
            found.append(("text", lines))
            continue
        if re.match(r"[A-Z]\w+ {2,}\S", lines[0]):  # "Shapes   ...": a list of such words
            found.append(("block", lines))
            continue
        follows = True  # a block in the next paragraph goes on with one at the end of this one
        for line in lines:
            kind = "block" if line.startswith(" ") or re.search(r"\S {2,}\S", line) else "text"
            if found and found[-1][0] == kind and (kind == "block" or not follows):
                found[-1][1].extend([""] * (follows and kind == "block") + [line])
            else:
                found.append((kind, [line]))
            follows = False
    return "\n\n".join(escape("\n".join(lines)) if kind == "text" else code(lines, language) for kind, lines in found)


def code(lines, language):
    text = textwrap.dedent("\n".join(lines))
    is_code = re.search(r"[;{]$", text, re.MULTILINE) if language == "cpp" else text.startswith("import ")
    return ".. code-block:: %s\n\n%s" % (language if is_code else "none", textwrap.indent(text, "   "))


# --- Python


class Package:
    """The public names of a package, by its source."""

    def __init__(self, directory):
        self.directory = directory

    def tree(self, module):
        path = os.path.join(self.directory, *module.split("."))
        return ast.parse(read_text(os.path.join(path, "__init__.py") if os.path.isdir(path) else path + ".py"))

    def definition(self, module, name):
        """The node that defines a name, and the module that it stands in."""
        tree = self.tree(module)
        found = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name]
        if found:
            return found[-1]  # behind its overloads
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module and any(alias.name == name for alias in node.names):
                folder = module.rpartition(".")[0] if node.level == 1 else ""
                return self.definition(".".join(filter(None, [folder, node.module])), name)
        raise SystemExit("docs: %s of %s is defined nowhere" % (name, module))


def signature(function):
    arguments = ast.unparse(function.args)
    arguments = re.sub(r"^(self|cls)(, )?", "", arguments)
    return "(%s)%s" % (arguments, " -> " + ast.unparse(function.returns) if function.returns else "")


def describe(node, qualified):
    """A function or a class with its public methods."""
    text = ast.get_docstring(node) or ""
    if isinstance(node, ast.FunctionDef):
        return [".. py:function:: %s%s" % (qualified, signature(node)), "", textwrap.indent(prose(text), "   "), ""]
    constructor = next((part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"), None)
    kind = "exception" if node.name.endswith(("Error", "Warning")) else "class"
    inside = signature(constructor) if constructor and kind == "class" else ""
    lines = [".. py:%s:: %s%s" % (kind, qualified, inside), "", textwrap.indent(prose(text), "   "), ""]
    if constructor and kind == "class" and ast.get_docstring(constructor):
        lines += [textwrap.indent(prose(ast.get_docstring(constructor)), "   "), ""]
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and not part.name.startswith("_") and ast.get_docstring(part):
            is_property = any(getattr(mark, "id", "") == "property" for mark in part.decorator_list)
            head = "property" if is_property else "method"
            lines += ["   .. py:%s:: %s%s" % (head, part.name, "" if is_property else signature(part)), ""]
            lines += [textwrap.indent(prose(ast.get_docstring(part)), "      "), ""]
    return lines


def python_page(repository):
    package = Package(os.path.join(repository, "python", "cudaops"))
    tree = ast.parse(read_text(os.path.join(package.directory, "__init__.py")))
    places = next(
        ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "_PLACES"
    )
    lines = ["Python: cudaops", "===============", "", prose(ast.get_docstring(tree), "python"), ""]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            lines += describe(node, "cudaops." + node.name)
    for name, module in sorted(places.items(), key=lambda item: (item[0].endswith(("Error", "Warning")), item[0].lower())):
        lines += describe(package.definition(module, name), "cudaops." + name)
    return "\n".join(lines) + "\n"


def kernels_page(repository):
    package = Package(os.path.join(repository, "kernels", "python", "cudaops_kernels"))
    tree = ast.parse(read_text(os.path.join(package.directory, "__init__.py")))
    names = next(ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
    lines = ["Python: cudaops_kernels", "=======================", "", prose(ast.get_docstring(tree), "python"), ""]
    imported = {alias.name: node.module for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    for name in sorted(names, key=str.lower):
        if imported[name] is None:
            for node in package.tree(name).body:
                if isinstance(node, ast.ImportFrom) and node.level == 1:
                    for alias in node.names:
                        if not alias.name.startswith("_"):
                            lines += describe(package.definition(node.module, alias.name), "cudaops_kernels.%s.%s" % (name, alias.name))
                elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    lines += describe(node, "cudaops_kernels.%s.%s" % (name, node.name))
        else:
            lines += describe(package.definition(imported[name], name), "cudaops_kernels." + name)
    return "\n".join(lines) + "\n"


# --- C++

# A comment of whole lines, and what it is about: to an empty line, a comment or the end of a namespace.
DOCUMENTED = re.compile(
    r"((?:^//[^\n]*\n)+)((?!//|#if|#endif|#include|\n)[^\n]*\n(?:[^\n]+\n)*?)(?=\n|\}|//)", re.MULTILINE
)


def comment(text):
    return "\n".join(re.sub(r"^[ \t]*// ?", "", line) for line in text.rstrip("\n").split("\n"))


def header_page(path, name):
    """A public header: the comment at its head, then each documented declaration outside of `detail`."""
    text = read_text(path)
    head = re.match(r"// SPDX[^\n]*\n((?://[^\n]*\n)+)", text).group(1)
    title = "cudaops/%s.h" % name
    lines = [title, "=" * len(title), "", prose(comment(head), "cpp"), ""]
    body = re.sub(r"(?ms)^namespace detail \{.*?^\}  // namespace detail\n", "", text[text.index("#pragma once") :])
    for match in DOCUMENTED.finditer(body):
        note, declaration = comment(match.group(1)), match.group(2)
        if note.startswith("---") or declaration.startswith("namespace"):
            continue
        lines += [".. code-block:: cpp", "", textwrap.indent(shorten(declaration), "   "), "", prose(note, "cpp"), ""]
    return "\n".join(lines) + "\n"


def shorten(declaration):
    """Without the body of a function or a macro; a struct's members are what it is documented for."""
    lines = declaration.rstrip("\n").split("\n")
    if lines[0].startswith("#define"):
        return lines[0].rstrip(" \\")
    if re.match(r"(template .*\n)?(struct|enum)", declaration):
        return "\n".join(lines) if lines[-1].startswith("}") else "\n".join(lines + ["};"])
    text = re.split(r"\s*(?:: \w+_\(|(?<!= )\{)", declaration, maxsplit=1)[0].rstrip()
    return text if text.endswith(";") else text + ";"


def formulas_page(repository):
    """What each reference kernel computes: the comments at the head of their headers."""
    lines = ["What the kernels compute", "========================", "", FORMULAS, ""]
    folder = os.path.join(repository, "kernels")
    for name in sorted(os.listdir(folder)):
        for path in sorted(os.listdir(os.path.join(folder, name))) if os.path.isdir(os.path.join(folder, name)) else ():
            if path in (name + ".h", "lion.h", "lamb.h", "adamw_8bit.h"):
                head = re.match(r"// SPDX[^\n]*\n((?://[^\n]*\n)+)", read_text(os.path.join(folder, name, path)))
                title = path[: -len(".h")]
                lines += [title, "-" * len(title), "", prose(comment(head.group(1))), ""]
    return "\n".join(lines) + "\n"


FORMULAS = """\
Formulas, shapes, types and what may overlap, from the header of each kernel (``<op>/<op>.h``, of ``CudaOps::<op>``). How fast
they are is :doc:`measured </measured>`; how they are called from Python is in :doc:`python`."""


# --- Lists of pages


def list_page(title, introduction, columns, rows, pages):
    """A Markdown page with a table, and what it names below it in the navigation."""
    lines = ["# " + title, "", introduction, "", "| %s |" % " | ".join(columns), "|" + "---|" * len(columns)]
    lines += ["| %s |" % " | ".join(row) for row in rows]
    return "\n".join([*lines, "", "```{toctree}", ":hidden:", "", *pages, "```"]) + "\n"


def modules_page(known):
    rows = []
    for module in known:
        commands = "<br>".join("{cmake:command}`%s`" % command for command in module.commands)
        summary = re.sub(r":\w+:`([^`]+)`|``([^`]+)``", lambda match: "`%s`" % (match.group(1) or match.group(2)), module.summary)
        rows.append(("{cmake:module}`%s`" % module.name, commands, summary))
    introduction = (
        "`find_package(CudaOps)` brings all commands; `python -m cudaops help <name>` prints what is said here. Including a "
        "module changes nothing: effects are on targets. `FindCudaTorchMatch` alone sets variables."
    )
    return list_page("CMake modules", introduction, ("module", "commands", ""), rows, ["module/" + module.name for module in known])


def headers_page(paths, repository):
    rows = []
    for path in paths:
        name = os.path.basename(path)[:-2]
        line = re.match(r"// SPDX[^\n]*\n// ([^\n]*)", read_text(os.path.join(repository, path))).group(1)
        rows.append(("[cudaops/%s.h](header/%s.rst)" % (name, name), re.split(r"(?<=[.:]) |:$", line)[0]))
    introduction = (
        "Ops, kernels, tests and benchmarks see these headers; other targets link `CudaOps::headers`. None includes torch, "
        "and those for device code are written for nvcc's speed."
    )
    names = ["header/" + os.path.basename(path)[:-2] for path in paths]
    return list_page("C++ headers", introduction, ("header", ""), rows, names)


# --- The command line


def command_line_page(repository):
    environment = {**os.environ, "PYTHONPATH": os.path.join(repository, "python"), "COLUMNS": "100", "PYTHONDONTWRITEBYTECODE": "1"}

    def help_of(*words):
        command = [sys.executable, "-m", "cudaops", *words, "--help"]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    overview = help_of()
    names = re.search(r"\{([\w,-]+)\}", overview).group(1).split(",")
    lines = ["The command line", "================", "", ".. code-block:: none", "", textwrap.indent(overview, "   "), ""]
    for name in names:
        title = "python -m cudaops " + name
        lines += [title, "-" * len(title), "", ".. code-block:: none", "", textwrap.indent(help_of(name), "   "), ""]
    return "\n".join(lines) + "\n"
