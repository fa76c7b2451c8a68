# SPDX-License-Identifier: Apache-2.0
"""Which pages the manual has, and what they are made of."""

import os
import re

import errors
import options
import reference
from cudaops import module_help
from cudaops.words import read_text
from pages import Pages


def name_pages(repository, place=None):
    """(Pages with the names of all pages, the modules)"""
    pages = Pages(repository, place)
    known = module_help.modules(os.path.join(repository, "cmake"))
    for path in (*pages.files("docs/*.md"), *pages.files("docs/*/*.md")):
        pages.add_page(path, os.path.relpath(path, "docs"))
    pages.add_page("kernels/README.md", "kernels/index.md")
    for path in pages.files("examples/*/README.md"):
        pages.add_page(path, os.path.dirname(path) + ".md")
    for path in pages.files("examples/*/*/README.md"):
        directory = os.path.dirname(path)
        pages.add_page(path, directory + ".md", above=os.path.dirname(directory) + ".md")
    # The site's front page says what the README says.
    pages.add_page("README.md", "index.md")
    pages.add_page("CHANGELOG.md", "changelog.md")
    pages.add_page("CONTRIBUTING.md", "contributing.md")
    for module in known:
        pages.add_page("cmake/%s.cmake" % module.name, "module/%s.rst" % module.name)
    for path in pages.files("cmake/include/cudaops/*.h"):
        pages.add_page(path, "header/%s.rst" % os.path.basename(path)[:-2])
    return pages, known


def unlisted(pages):
    """The pages of docs/ that its front page doesn't name: a new one is found without an edit there."""
    text = read_text(os.path.join(pages.repository, "docs", "index.md"))
    names = [os.path.splitext(name)[0] for path, name in pages.by_path.items() if path.startswith("docs/")]
    return [name for name in names if name != "index" and not re.search("^%s$" % re.escape(name), text, re.MULTILINE)]


def collect(repository, place):
    """Writes the manual's sources into the directory `place`. Returns whether pages of an earlier run are gone."""
    pages, known = name_pages(repository, place)
    for module in known:
        pages.write("module/%s.rst" % module.name, module.text)
    for path in pages.files("cmake/include/cudaops/*.h"):
        name = os.path.basename(path)[:-2]
        pages.write("header/%s.rst" % name, reference.header_page(os.path.join(repository, path), name))
    pages.write("modules.md", reference.modules_page(known))
    pages.write("headers.md", reference.headers_page(pages.files("cmake/include/cudaops/*.h"), repository))
    pages.write("python.rst", reference.python_page(repository))
    pages.write("kernels/python.rst", reference.kernels_page(repository))
    pages.write("kernels/formulas.rst", reference.formulas_page(repository))
    pages.write("command_line.rst", reference.command_line_page(repository))
    pages.write("errors.rst", errors.page(repository))
    made = {
        "docs/options.md": {"<!-- all options -->": options.table(pages, known)},
        "docs/index.md": {"<!-- other pages -->": "\n".join(unlisted(pages))},
    }
    pages.write_markdown(made)
    return pages.remove_others()
