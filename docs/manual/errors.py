# SPDX-License-Identifier: Apache-2.0
"""The messages of the configure step, by their first line, from the calls in cmake/ and from what the tests expect.

An entry is a call of _cudaops_stop() or _cudaops_warn(). Its example is the text that a test of the repository expects, where
one expects it; else the call's own words, with <name> for what is filled in.
"""

import ast
import os
import re

from cudaops.words import read_text

CALL = re.compile(r"^[ \t]*_cudaops_(stop|warn)\(", re.MULTILINE)
TOKEN = re.compile(r'\s+|#[^\n]*|"((?:[^"\\]|\\.)*)"|([^\s()"#]+)|(\()|(\))', re.DOTALL)
MESSAGE = re.compile(r"CMake (Error|Warning)[^\n]*\(message\\?\):\n(.*?)(?=^CMake |\Z)", re.MULTILINE | re.DOTALL)
# The sentence is a variable's: "${command}: ${error}".
MADE_ELSEWHERE = re.compile(r"(?:[^:]*: )?(?:\$\{\w+\})+\.?")
VARIABLE = re.compile(r"\$\{(\w+)\}|\$CACHE\{(?:\$\{\w+\}|[^}])*\}|\$ENV\{(\w+)\}")
# A part of a match, or a variable whose name is made.
SAYS_LESS = re.compile(r"\$\{CMAKE_MATCH_\d\}|\$\{\w*\$\{\w+\}\w*\}")
# Suites about the tests' own tools, and of functions that only make a text.
OF_THE_TESTS = re.compile(r"/tests/(Runner|Fakes|Versions)(/|$)")


class Message:
    def __init__(self, kind, head, facts, fix):
        self.kind = kind
        self.head = head
        self.facts = facts
        self.fix = fix
        self.example = None

    def matches(self, line):
        """Whether a first line that was printed is this one's."""
        parts = VARIABLE.split(self.head)[::3]
        return len("".join(parts)) > 12 and re.fullmatch(".*".join(re.escape(part) for part in parts), line) is not None


def arguments(text, at):
    """(the arguments of a call whose '(' ends at `at`, the position behind its ')')"""
    found, depth = [], 1
    while depth:
        token = TOKEN.match(text, at)
        at = token.end()
        if token.group(1) is not None:
            found.append(token.group(1).replace('\\"', '"').replace("\\\\", "\\").replace("\\;", ";"))
        elif token.group(2):
            found.append(token.group(2))
        depth += bool(token.group(3)) - bool(token.group(4))
    return found, at


def local_value(function, name):
    """The value that a function sets a variable to, [lines], where it sets it once, to more than another variable that says
    less than its own name."""
    calls = [arguments(function, match.end())[0] for match in re.finditer(r"(?m)^[ \t]*set\(\s*%s\b" % re.escape(name), function)]
    if len(calls) != 1 or not calls[0] or "PARENT_SCOPE" in calls[0] or SAYS_LESS.fullmatch(calls[0][0]):
        return None
    return calls[0]


def resolve(line, function, depth=3):
    """[lines]: `line` with the variables that its function sets once; others remain."""
    if depth == 0:
        return [line]
    whole = re.fullmatch(r"\$\{(\w+)\}", line)
    if whole:
        value = local_value(function, whole.group(1))
        return [part for item in value for part in resolve(item, function, depth - 1)] if value else [line]

    def fill(match):
        value = local_value(function, match.group(1)) if match.group(1) else None
        return "".join(resolve(value[0], function, depth - 1)) if value and len(value) == 1 else match.group(0)

    return [VARIABLE.sub(fill, line)]


def alternatives(name, function, texts):
    """[lines]: what a function sets a list to, or appends to it, in its branches, or what the calls of it pass for it, in the texts of all files."""
    if name.lower().endswith("usage"):
        return ["<the command's usage>"]
    found = []
    head = re.match(r"\s*function\(([^)]*)\)", function)
    called, *parameters = head.group(1).split() if head else [""]
    if name in parameters:
        for match in re.finditer(r"(?m)^[ \t]*%s\(" % called, texts):
            passed = arguments(texts, match.end())[0]
            found += passed[parameters.index(name) : parameters.index(name) + 1]
    for match in re.finditer(r"(?m)^[ \t]*(?:set\(\s*|list\(APPEND )%s\b" % re.escape(name), function):
        found += [word for word in arguments(function, match.end())[0] if word not in ("", "PARENT_SCOPE")]
    return list(dict.fromkeys(found))


def calls(text, texts):
    """[Message] of a CMake file; `texts` are those of all files."""
    found = []
    for match in CALL.finditer(text):
        words, _ = arguments(text, match.end())
        start = max(text.rfind("\nfunction(", 0, match.start()), text.rfind("\nmacro(", 0, match.start()), 0)
        parts = {"HEAD": [], "FACTS": [], "FIX": []}
        part = "HEAD"
        for word in words:
            if word in ("FACTS", "FIX"):
                part = word
            else:
                lines = resolve(word, text[start : match.start()])
                variable = re.fullmatch(r"\$\{(\w+)\}", lines[0])
                if variable and part == "FIX":
                    lines = alternatives(variable.group(1), text[start : match.start()], texts)
                parts[part] += lines
        found.append(Message(match.group(1), parts["HEAD"][0], parts["FACTS"], parts["FIX"]))
    return found


def without_regex(text):
    """A text of tests/*-stderr.txt as it is printed; what varies is an ellipsis."""
    text = re.sub(r"\((?:\?:)?([^()|\\]+)(?:\|[^()]*)?\)\??", r"\1", re.sub(r"\\\(", "\x01", re.sub(r"\\\)", "\x02", text)))
    text = re.sub(r"\[0-9\.?\]\+|\[0-9\]", "1", text.replace("\\.?", "."))
    text = re.sub(r"\[\^[^]]*\][*+]|\.[*+]|\[[^]]+\][*+]", "…", text)
    text = text.replace("\x01", "(").replace("\x02", ")")
    return re.sub(r"\\([^\w\s])", r"\1", text)


def expected(repository):
    """[("stop" or "warn", text) of each message that a test expects]"""
    found = []
    for folder, _, names in sorted(os.walk(os.path.join(repository, "tests"))):
        for name in sorted(names):
            if name.endswith("-stderr.txt") and not OF_THE_TESTS.search(folder):
                for kind, text in MESSAGE.findall(read_text(os.path.join(folder, name))):
                    text = without_regex(text).strip("\n")
                    # Some tests expect a part of a text.
                    if "…" not in divide(text)[0] and re.search("Fix: [^…]", text):
                        found.append(("stop" if kind == "Error" else "warn", text))
    return found


def shown(text):
    """A head, a fact or a fix for a reader: variables as <name>."""
    return VARIABLE.sub(lambda match: "<%s>" % (match.group(1) or match.group(2) or "value").lower().replace("arg_", ""), text)


def divide(text):
    """(the head, [the other lines]) of an expected message, whose head may be wrapped as CMake does."""
    lines = [line.strip() for line in text.split("\n")]
    end = next((number for number, line in enumerate(lines) if line.endswith((".", "?"))), 0) + 1
    return " ".join(lines[:end]), lines[end:]


def kind_of(head):
    """What is the same in the heads of one message with other names and numbers in it."""
    return re.sub(r"'[^']*'|\"[^\"]*\"|\d+(\.\d+)?[af]?", "#", re.sub(r"\A[\w()]+(=\w+)?: ", "", head))


def messages(repository):
    """[Message], those of one first line once, with their examples."""
    texts = []
    for folder, _, names in sorted(os.walk(os.path.join(repository, "cmake"))):
        texts += [read_text(os.path.join(folder, name)) for name in sorted(names) if name.endswith(".cmake") and name != "message.cmake"]
    found = {}
    for text in texts:
        for message in calls(text, "\n".join(texts)):
            found.setdefault(shown(message.head), message)
    # A call whose sentence is made elsewhere is known by the texts that tests expect of it.
    known = [message for message in found.values() if not MADE_ELSEWHERE.fullmatch(message.head)]
    made = set()
    for kind, text in expected(repository):
        line = divide(text)[0]
        matching = [message for message in known if message.matches(line)]
        if matching:
            # The one with the most words of its own.
            message = max(matching, key=lambda one: len(VARIABLE.sub("", one.head)))
            if message.example is None:
                message.example = text
        elif kind_of(line) not in made:
            message = Message(kind, line, [], [])
            message.example = text
            made.add(kind_of(line))
            known.append(message)
    return known


def python_messages(repository):
    """[lines of a message] of the exceptions of python/cudaops that have a rule, facts or a fix; what is filled in is `…`."""
    found = []
    for folder, _, names in sorted(os.walk(os.path.join(repository, "python", "cudaops"))):
        for name in sorted(names):
            if name.endswith(".py"):
                for node in ast.walk(ast.parse(read_text(os.path.join(folder, name)))):
                    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                        text = node.exc.args[0]
                        text = text.left if isinstance(text, ast.BinOp) and isinstance(text.op, ast.Mod) else text
                        if isinstance(text, ast.Constant) and isinstance(text.value, str) and "\n" in text.value:
                            lines = re.sub(r"%[srd]", "…", text.value).rstrip("\n").split("\n")
                            found.append(lines)
    return sorted(found, key=lambda lines: lines[0].lower())


# --- The page


GROUPS = (
    ("find_package()", re.compile(r"find_package\(|CudaOps:")),
    ("Options", re.compile(r"CUDAOPS_|<name>: unknown value")),
    ("add_torch_op()", re.compile(r"add_torch_op\(")),
    ("Every command", re.compile(r"<")),
    ("Other commands", re.compile(r"")),
)

INTRODUCTION = """\
Errors and warnings
===================

The messages of CudaOps by their first line: the rule, what was found and wanted and where each came from, and what to do. In a
message of CMake's a name in ``<…>`` is replaced by what was found; ``<command>`` is the command with its target, such as
``add_torch_op(my_ops)``. What a compiler, a linker or a running kernel says is in :doc:`troubleshooting`.
"""


def block(message):
    """The text of a message as it is printed."""
    if message.example:
        head, rest = divide(message.example.replace("<case>", "/home/me").replace("<repo>", "/home/me/CudaOps"))
        lines, lead = [head], "  "
        for line in rest:
            # The tests don't look at how many blanks there are.
            lines.append((" " if line.startswith("Fix:") else lead) + line)
            lead = "      " if line.startswith("Fix:") else lead
        return lines
    bare = re.compile(r"\$\{\w+\}")
    lines = [shown(message.head)]
    lines += ["  " + shown(line) for line in message.facts if not bare.fullmatch(line)]
    fixes = [shown(line) for line in message.fix if not bare.fullmatch(line)]
    return lines + [(" Fix: " if number == 0 else "      ") + line for number, line in enumerate(fixes)]


def entry(head, lines, is_warning=False):
    """A message's part of the page."""
    title = re.sub(r"([*`_|\\])", r"\\\1", head)
    found = [title, "^" * len(title), ""]
    if is_warning:
        found += ["A warning.", ""]
    return found + [".. code-block:: none", ""] + ["   " + line for line in lines] + [""]


def page(repository):
    """The page, in reStructuredText."""
    lines = INTRODUCTION.split("\n")
    left = sorted(messages(repository), key=lambda message: shown(message.head).lower())
    for title, pattern in GROUPS:
        lines += ["", title, "-" * len(title), ""]
        for message in [message for message in left if pattern.match(shown(message.head))]:
            left.remove(message)
            lines += entry(shown(message.head), block(message), message.kind == "warn")
    lines += ["", "From Python", "-----------", "", "What is filled in is ``…``.", ""]
    for message in python_messages(repository):
        lines += entry(message[0], message)
    return "\n".join(lines) + "\n"
