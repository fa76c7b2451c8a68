# SPDX-License-Identifier: Apache-2.0
"""The places of a C++ file that name other files, and what in it is comment or string: no preprocessor runs."""

import re

HEADER_ENDING = re.compile(r"\.(h|hpp|hh|hxx|cuh|inl|inc|ipp|tpp|def|cu|cpp|cc|cxx|c|hip)$", re.I)
TOKEN = re.compile(
    r"""
    (?P<comment> //(?:\\\n|[^\n])* | /\*.*?(?:\*/|\Z) )
  | (?P<raw> \b(?:u8|[uUL])?R"(?P<delimiter>[^\s()\\"]{0,16})\(.*?\)(?P=delimiter)" )
  | (?P<include> \#[ \t]*(?P<next>include(?:_next)?)[ \t]*
        (?: "(?P<quoted>[^"\n]+)" | <(?P<angled>[^>\n]+)> | (?P<macro>[A-Za-z_]\w*) ) )
  | (?P<define> \#[ \t]*define[ \t]+(?P<name>\w+)[ \t]+(?: "(?P<dquoted>[^"\n]+)" | <(?P<dangled>[^>\n]+)> )
        (?=[ \t]*(?:\n|//|/\*|\Z)) )
  | (?P<has> \b__has_include(?:_next)?[ \t]*\([ \t]*(?: "(?P<hquoted>[^"\n]+)" | <(?P<hangled>[^>\n]+)> ) )
  | (?P<string> "(?:[^"\\\n]|\\.|\\\n)*" )
  | '(?:[^'\\\n]|\\.)+'
  | (?<![\w.])\.?\d(?:'\w|[eEpP][+-]|[\w.])*
    """,
    re.X | re.S,
)


class Include:
    """A place of a file that names another one. form: include, include_next, define, has, macro."""

    __slots__ = ("form", "line", "text", "quoted", "name")

    def __init__(self, form, line, text, quoted, name=""):
        self.form, self.line, self.text, self.quoted, self.name = form, line, text, quoted, name


def scan(text):
    """(begin, end, Include or None) of each comment, string and name of another file, in the order of the text.

    Only \\n ends a line.
    """
    line, position = 1, 0
    for match in TOKEN.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        include = None
        # A directive is the first thing of its line, comments apart.
        if match.group("include") or match.group("define"):
            before = text[text.rfind("\n", 0, position) + 1 : position]
            if before.rsplit("*/", 1)[-1].strip() and re.sub(r"/\*.*?\*/", "", before).strip():
                continue
        if match.group("include"):
            if match.group("macro"):
                include = Include("macro", line, "", False, match.group("macro"))
            else:
                quoted = match.group("quoted")
                include = Include(match.group("next"), line, quoted or match.group("angled"), quoted is not None)
        elif match.group("define"):
            quoted = match.group("dquoted")
            name = quoted or match.group("dangled")
            if HEADER_ENDING.search(name):
                include = Include("define", line, name, quoted is not None, match.group("name"))
            elif quoted is None:
                continue
        elif match.group("has"):
            quoted = match.group("hquoted")
            include = Include("has", line, quoted or match.group("hangled"), quoted is not None)
        elif not (match.group("comment") or match.group("raw") or match.group("string")):
            continue
        yield match.start(), match.end(), include
