# SPDX-License-Identifier: Apache-2.0
"""Text: as files hold it, and as people read numbers, times and paths."""

import os
import sys


def print_any_text():
    """A path or a name that the locale's encoding doesn't have is printed all the same; in UTF-8 as the bytes that it is."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            is_utf8 = stream.encoding.lower().replace("-", "") == "utf8"
            stream.reconfigure(errors="surrogateescape" if is_utf8 else "backslashreplace")


def read_text(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def file_text(path):
    try:
        return read_text(path)
    except OSError:
        return ""


def say(seconds):
    if seconds < 0.995:
        return "%d ms" % round(seconds * 1000)
    if seconds < 9.95:
        return "%.1f s" % seconds
    if seconds < 600:
        return "%d s" % round(seconds)
    return "%d min" % round(seconds / 60)


def count(number, noun):
    return "%d %s%s" % (number, noun, "" if number == 1 else "s")


def short(path, root):
    """As people write it: below the project's directory."""
    return path[len(root) + 1 :] if root and path.startswith(root + os.sep) else path


def clean(value):
    """Names with odd bytes can be written nowhere else."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if isinstance(value, dict):
        return {key: clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [clean(item) for item in value]
    return value
