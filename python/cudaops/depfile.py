# SPDX-License-Identifier: Apache-2.0
"""Dependency files, as compilers write them and make and ninja read them."""

import re


def read(text):
    """The inputs of the first rule."""
    text = re.sub(r"\\\r?\n", " ", text).partition(": ")[2].partition("\n")[0]
    words = re.findall(r"(?:\\[ #\\]|\$\$|[^\s\\]|\\(?![ #\\]))+", text)
    return [re.sub(r"\\([ #\\])", r"\1", word).replace("$$", "$") for word in words]


def rule(output, inputs):
    """The text of a file with one rule."""
    return path(output) + ":" + "".join(" \\\n  " + path(file) for file in inputs) + "\n"


def written(text):
    """The inputs in a text of rule(), whatever their names hold."""
    return [re.sub(r"\\(.)", r"\1", line.rstrip("\n")).replace("$$", "$") for line in text.split(" \\\n  ")[1:]]


def path(text):
    return re.sub(r"([ #\\])", r"\\\1", text).replace("$", "$$")
