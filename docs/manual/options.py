# SPDX-License-Identifier: Apache-2.0
"""Each option and variable of CudaOps, and the place that documents it. One without such a place is an error."""

import os
import re

from cudaops import module_help
from cudaops.words import read_text

# In what a user can set: an entry of the list of known options, a target's property, a test's or a program's environment.
READ = (
    ("cmake", (".cmake",), re.compile(r"_cudaops_option\((CUDAOPS_\w+)")),
    ("cmake", (".cmake",), re.compile(r"\bPROPERTY (CUDAOPS_\w+)")),
    ("cmake/include", (".h",), re.compile(r"\"(CUDAOPS_\w+)\"")),
    ("kernels", (".h", ".cpp"), re.compile(r"(?:getenv|environment_has)\(\"(CUDAOPS_\w+)\"")),
    ("kernels/python", (".py",), re.compile(r"environ[^\n]*\"(CUDAOPS_\w+)\"")),
    ("python/cudaops", (".py",), re.compile(r"\"(CUDAOPS_\w+)\"")),
)
KNOWN = re.compile(r"(?:set\(known|list\(APPEND known) \"([^\"]*)\"\)")
OWN = re.compile(r"^(?:option|set)\((CUDAOPS_\w+)", re.MULTILINE)
# The tests' name for the library of the op `cudaops_kernels`: CUDAOPS_<OP>_LIBRARY of cudaops_add_python_test().
NAMED_AFTER_AN_OP = re.compile(r"CUDAOPS_\w+_LIBRARY$")
# A row of a table, `NAME` first; several names in one cell are as many options.
ROW = re.compile(r"^\| (`CUDAOPS_[^|]*) \| (.*) \|$", re.MULTILINE)


def read_options(repository):
    """{option: a file that reads it}"""
    found = {}
    for folder, endings, pattern in READ:
        for place, _, names in os.walk(os.path.join(repository, folder)):
            for name in sorted(names):
                if name.endswith(endings):
                    path = os.path.join(place, name)
                    for option in pattern.findall(read_text(path)):
                        found.setdefault(option, os.path.relpath(path, repository))
    options = "cmake/detail/base/options.cmake"
    for text in KNOWN.findall(read_text(os.path.join(repository, options))):
        for option in text.split(";"):
            found.setdefault(option, options)
    for option in OWN.findall(read_text(os.path.join(repository, "CMakeLists.txt"))):
        found.setdefault(option, "CMakeLists.txt")
    return {option: path for option, path in found.items() if not NAMED_AFTER_AN_OP.match(option)}


def documented_options(pages, known):
    """{option: (page without suffix, first sentence in Markdown)}: of a module's header, else of a table in a page."""
    found = {}
    for option, (module, text) in module_help.options_of(known).items():
        found[option] = ("module/" + module.name, _markdown(module_help.first_sentence(text, colon=False)))
    for path, name in pages.by_path.items():
        if path.startswith("docs/") and path.endswith(".md"):
            for cell, text in ROW.findall(read_text(os.path.join(pages.repository, path))):
                for option in re.findall(r"`(CUDAOPS_\w+)`", cell):
                    found.setdefault(option, (os.path.splitext(name)[0], re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)))
    return found


def table(pages, known):
    """The table of all options, in Markdown. Ends the program where one is documented nowhere."""
    read, documented = read_options(pages.repository), documented_options(pages, known)
    missing = sorted(set(read) - set(documented))
    if missing:
        lines = ["docs: an option is documented nowhere."]
        lines += ["  found   %s, which %s reads" % (option, read[option]) for option in missing]
        lines += ["Fix: a definition in the header of its module (cmake/*.cmake), or a row of a table in docs/*.md"]
        raise SystemExit("\n".join(lines))
    rows = ["| name | what | where |", "|---|---|---|"]
    for option, (page, sentence) in sorted(documented.items()):
        rows.append("| {cmake:variable}`%s` | %s | {doc}`/%s` |" % (option, sentence.replace("|", "\\|"), page))
    return "\n".join(rows)


def _markdown(text):
    return re.sub(r":[a-z]+:`([^`]+)`|``([^`]+)``", lambda match: "`%s`" % (match.group(1) or match.group(2)), text)


# --- Sphinx extension: an entry of an option is a place that can be linked.


def _targets(app, doctree):
    from docutils import nodes

    page = app.env.docname
    wanted = {option for option, (place, _) in app.config.cudaops_options.items() if place == page}
    domain = app.env.get_domain("cmake")
    for literal in list(doctree.findall(nodes.literal)):
        option = literal.astext()
        holder = literal.parent if isinstance(literal.parent, nodes.term) else literal.parent.parent
        is_row = isinstance(holder, nodes.entry) and holder.parent.index(holder) == 0
        if option in wanted and (isinstance(holder, nodes.term) or is_row):
            wanted.discard(option)
            literal["ids"].append(option)
            doctree.note_explicit_target(nodes.target("", "", ids=[option], names=[option.lower()]))
            domain.note_object("variable", option, "variable:" + option, option)


def setup(app):
    app.add_config_value("cudaops_options", {}, "env")
    app.connect("doctree-read", _targets)
    return {"parallel_read_safe": True}
