# SPDX-License-Identifier: Apache-2.0
"""Which pages the manual has, and what they are made of."""

import os

import options
from cudaops import module_help
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
    pages.add_page("README.md", "readme.md")
    pages.add_page("CHANGELOG.md", "changelog.md")
    pages.add_page("CONTRIBUTING.md", "contributing.md")
    for module in known:
        pages.add_page("cmake/%s.cmake" % module.name, "module/%s.rst" % module.name)
    return pages, known


def collect(repository, place):
    """Writes the manual's sources into the directory `place`. Returns whether pages of an earlier run are gone."""
    pages, known = name_pages(repository, place)
    for module in known:
        pages.write("module/%s.rst" % module.name, module.text)
    pages.write_markdown({"docs/options.md": {"<!-- all options -->": options.table(pages, known)}})
    return pages.remove_others()
