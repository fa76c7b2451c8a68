# SPDX-License-Identifier: Apache-2.0
"""A file's text, and what of it the translator doesn't see."""

import re

from ..includes import scan
from ..problem import in_file
from ..store import stamp


def read(path):
    """(text, stamp) of a file."""
    try:
        when = stamp(path)
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise in_file(path, "it can't be read: %s." % error.strerror, fix=("make it readable for this user",))
    try:
        return data.decode("utf-8"), when
    except UnicodeDecodeError as error:
        raise in_file(
            "%s:%d" % (path, data.count(b"\n", 0, error.start) + 1),
            "not UTF-8, which the translator needs.",
            ("found   byte 0x%02x" % data[error.start],),
            ("iconv -f ISO-8859-1 -t UTF-8, or whatever its encoding is",),
        )


class Text:
    """A file's text, and where its comments, strings and includes are."""

    def __init__(self, text):
        self.bom = text.startswith("\ufeff")
        if self.bom:
            text = text[1:]
        # One kind of line end for the translator; the file's own are put back.
        self.ends = None
        if "\r" in text:
            parts = re.split("(\r\n|\n|\r)", text)
            self.ends = parts[1::2]
            text = "\n".join(parts[::2])
        self.text = text
        self.tokens = []
        self.includes = []
        for begin, end, include in scan(text):
            self.tokens.append((begin, end, include))
            if include:
                self.includes.append(include)

    def hide(self, decisions):
        """The text for the translator, what is hidden in it, and the pattern of what stands for it."""
        text = self.text
        tag = "_cudaops"
        while tag in text:
            tag += "_"
        hidden = []
        out = ["\n"]  # a word that is the first or the last of its file isn't seen
        position = 0
        decision = iter(decisions)
        for start, end, include in self.tokens:
            piece = text[start:end]
            if include is None:
                if piece.startswith("/"):
                    form = "/*%sc%d_*/"
                else:
                    form = '"%ss%d_"'
                    start += piece.index('"')
                    piece = text[start:end]
            else:
                new = next(decision)
                if include.form == "macro" or new is None and include.form == "has":
                    continue
                spelled = ('"%s"' if include.quoted else "<%s>") % include.text
                piece = piece[: piece.rindex(spelled)]
                if new is None and include.text.startswith("hip/") and not include.text.startswith("hip/hip_runtime"):
                    new = spelled
                if new is None:
                    # Not a project header: the translator reads the one spelling that it knows.
                    form = "/*%so%d_*/#include " + spelled.replace("%", "%%")
                else:
                    form = '#include "%sp%d_"'
                    if new != spelled:
                        # The directories after the one where the file itself was found are searched already.
                        piece = piece.replace("include_next", "include")
                    piece += new
            out.append(text[position:start])
            out.append(form % (tag, len(hidden)))
            hidden.append(piece)
            position = end
        out.append(text[position:] + "\n")
        numbered = tag + r"{}(\d+)_"
        pattern = r"/\*%s\*/|\"%s\"|/\*%s\*/#include |#include \"%s\"" % tuple(numbered.format(kind) for kind in "csop")
        return "".join(out), hidden, re.compile(pattern)


def show(text, hidden, pattern):
    """Puts back what hide() took out; None where something of it was lost or moved."""
    order = []

    def back(match):
        order.append(int(match.group(match.lastindex)))
        return hidden[order[-1]] if order[-1] < len(hidden) else ""

    text = pattern.sub(back, text)
    return text if order == list(range(len(hidden))) else None
