# SPDX-License-Identifier: Apache-2.0
"""The manual's sources, collected in a directory: pages of the repository, and those that are made of other files.

A page keeps its relative links: to another page they lead there, to any other file of the repository to a copy of it; of a
link to a directory its text remains.
"""

import glob
import os
import re

from cudaops.words import read_text

FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[([^][]*(?:\[[^][]*\])?[^][]*)\]\((?!\w+:)([^)\s]+)\)")


class Pages:
    """Collects pages in `place`. Only what changes is written, so that Sphinx reads again only that."""

    def __init__(self, repository, place):
        self.repository = repository
        self.place = place
        self.by_path = {}  # path in the repository -> name of the page in `place`, with its suffix
        self.below = {}  # name of a page -> the pages below it in the navigation
        self.written = set()

    def add_page(self, path, name, above=None):
        """A page of the repository; `above`: the page that it stands below, where that one doesn't list it."""
        self.by_path[path] = name
        if above:
            self.below.setdefault(above, []).append(name)

    def write(self, name, text):
        self._put(name, text.encode())

    def copy(self, path, name):
        """A file of the repository."""
        with open(os.path.join(self.repository, path), "rb") as file:
            self._put(name, file.read())

    def _put(self, name, content):
        self.written.add(name)
        place = os.path.join(self.place, name)
        if os.path.exists(place):
            with open(place, "rb") as file:
                if file.read() == content:
                    return
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(content)

    def write_markdown(self, made):
        """The pages that add_page() has named, with the links between them. made: {path: {mark: text in its place}}"""
        for path, name in sorted(self.by_path.items()):
            if path.endswith(".md"):
                text = self.with_links(read_text(os.path.join(self.repository, path)), path, name)
                for mark, content in made.get(path, {}).items():
                    if text.count(mark) != 1:
                        raise SystemExit("%s: the line %s is wanted once" % (path, mark))
                    text = text.replace(mark, content)
                if name in self.below:
                    names = ["/" + os.path.splitext(below)[0] for below in self.below[name]]
                    text += "\n".join(["", "```{toctree}", ":hidden:", "", *names, "```", ""])
                self.write(name, text)

    def with_links(self, text, path, name):
        """The text of a file of the repository as a page called `name`."""
        parts, at = [], 0
        for fence in FENCE.finditer(text):
            parts += [self._link(text[at : fence.start()], path, name), fence.group(0)]
            at = fence.end()
        return "".join(parts) + self._link(text[at:], path, name)

    def _link(self, text, path, name):
        def target(match):
            link, mark, heading = match.group(2).partition("#")
            if not link:
                return match.group(0)
            found = os.path.normpath(os.path.join(os.path.dirname(path), link))
            page = self.by_path.get(found) or self.by_path.get(os.path.join(found, "README.md"))
            if page is None:
                if os.path.isdir(os.path.join(self.repository, found)):
                    return match.group(1)
                if not os.path.isfile(os.path.join(self.repository, found)):
                    raise SystemExit("%s: a link leads to no page and no file: %s" % (path, match.group(2)))
                page = "files/" + found
                self.copy(found, page)
            return "[%s](%s)" % (match.group(1), os.path.relpath(page, os.path.dirname(name) or ".") + mark + heading)

        return LINK.sub(target, text)

    def remove_others(self):
        """What an earlier run has written and this one hasn't. Returns whether there was something."""
        removed = False
        for folder, _, names in os.walk(self.place):
            for file in names:
                path = os.path.join(folder, file)
                if os.path.relpath(path, self.place) not in self.written:
                    os.remove(path)
                    removed = True
        return removed

    def files(self, pattern):
        return sorted(os.path.relpath(path, self.repository) for path in glob.glob(os.path.join(self.repository, pattern)))
