# SPDX-License-Identifier: Apache-2.0
"""Pages of the manual as scripts: files, changes of them, and commands."""

import re
import shlex

FENCE = re.compile(r"^```(\S[^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CAPTION = re.compile(r"(?::\w+:[^\n]*\n)*:caption: `(\S+)`\n")


def steps(text):
    """[("file", name, content), ("diff", lines) or ("run", command, expected lines)] of a page."""
    found = []
    for head, content in FENCE.findall(text):
        if head.startswith("{code-block}"):
            caption = CAPTION.match(content)
            if caption:
                found.append(("file", caption.group(1), content[caption.end() :].lstrip("\n")))
        elif head == "diff":
            found.append(("diff", content))
        elif head == "console":
            found += console(content)
    return found


def console(content):
    """[("run", command, expected lines)]; a command goes on while the shell would ask for more."""
    found = []
    lines = content.splitlines()
    while lines:
        line = lines.pop(0)
        assert line.startswith("$ "), "output before a command: " + line
        command = [line[2:]]
        while unfinished("\n".join(command)):
            assert lines, "a command without an end: " + command[0]
            command.append(lines.pop(0))
        expected = []
        while lines and not lines[0].startswith("$ "):
            expected.append(lines.pop(0))
        found.append(("run", "\n".join(command), expected))
    return found


def unfinished(command):
    if command.endswith("\\"):
        return True
    here = re.search(r"<<'(\w+)'", command)
    if here:
        return not command.endswith("\n" + here.group(1))
    try:
        shlex.split(command, comments=True)
    except ValueError:  # an open quote
        return True
    return False
