# SPDX-License-Identifier: Apache-2.0
"""Links of the finished site: each one within it leads to a file and to a place there. Others are looked at, not followed."""

import os
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids = set()
        self.links = []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.ids.add(value)
            elif name in ("href", "src") and value is not None:
                self.links.append(value)


def check_links(html):
    """[one line for each dead link]"""
    pages = {}
    for folder, _, names in os.walk(html):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(folder, name)
                pages[path] = _Page()
                with open(path, encoding="utf-8") as file:
                    pages[path].feed(file.read())
    problems = []
    for path, page in sorted(pages.items()):
        for link in page.links:
            problem = _problem(link, path, pages)
            if problem:
                problems.append("%s: %s: %s" % (os.path.relpath(path, html), problem, link))
    return problems


def _problem(link, path, pages):
    parts = urlsplit(link)
    if parts.scheme in ("http", "https"):
        return "" if "." in parts.netloc and " " not in link else "no address"
    if parts.scheme == "data":
        return ""
    if parts.scheme:
        return "an address of another kind"
    target = os.path.normpath(os.path.join(os.path.dirname(path), unquote(parts.path))) if parts.path else path
    if not os.path.exists(target):
        return "leads to no file"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
        return "leads to no place of that page"
    return ""
