# SPDX-License-Identifier: Apache-2.0
"""What sources say of themselves: which files they include, which ABI they want, which ops they define."""

import os
import re

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*(?:include|include_next|import)[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
_ASKED = re.compile(r'__has_include(?:_next)?[ \t]*\([ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)[ \t]*\)')
_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')', re.DOTALL)
_ATEN = re.compile(
    r"^(torch/(extension|types|all|torch|script|library|python|custom_class)\.h$|torch/csrc/(?!stable/|inductor/aoti_torch/)|"
    r"(ATen|c10|caffe2|pybind11)/)"
)
_TORCH_NAME = re.compile(r"\b(torch|at|c10|py|pybind11)::|\b(TORCH_|AT_|PYBIND11_|C10_)\w+|\btorch/|\bTensor\b")
_LIBRARY = re.compile(r"\b(?:STABLE_)?TORCH_LIBRARY(?:_FRAGMENT)?\s*\(\s*(\w+)\s*,")
_DEF = re.compile(r'\bdef\s*\(\s*(?:torch::schema\s*\(\s*)?"\s*(?:(\w+)::)?(\w+)')


def without_comments(text):
    """Comments become blanks, texts in quotes stay."""
    return _COMMENT.sub(lambda found: found.group(1) or " " + "\n" * found.group(0).count("\n"), text)


def without_literals(text):
    """Without comments and quoted texts."""
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', without_comments(text))


def includes(text):
    """[(name, whether it is in quotes)]"""
    return [(quoted or angled, bool(quoted)) for quoted, angled in _INCLUDE.findall(text)]


def asked(text):
    """The same of __has_include()."""
    return [(quoted or angled, bool(quoted)) for quoted, angled in _ASKED.findall(text)]


def embeds(text):
    """Whether it has an .incbin of the assembler, or a macro that is called so."""
    return "incbin" in text.lower()


def quoted(text):
    """What stands between two quotes of one line, those inside of a literal included."""
    pieces = without_comments(text).split('"')[1:-1]
    return [piece.rstrip("\\") for piece in pieces if piece and "\n" not in piece]


def read(path):
    # A mark of UTF-8, which compilers skip, would hide the first line's #include.
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        return file.read()


def candidates(name, quoted, including, directories):
    """Where a compiler looks for it, in order."""
    if os.path.isabs(name):
        return [name]
    first = [os.path.dirname(including)] if quoted else []
    return [os.path.join(directory, name) for directory in [*first, *directories]]


class Reading:
    """The files that sources reach through includes, and the places that were empty on the way.

    directories: where #include looks, in order; opaque: prefixes of real paths whose files aren't read themselves (their
    includes are other people's).
    """

    def __init__(self, directories, opaque=()):
        self.directories = directories
        self.opaque = tuple(opaque)
        self.files = {}  # real path: text
        self.names = set()  # as they are written
        self.absent = set()
        self.there = set()

    def add(self, path):
        path = os.path.realpath(path)
        if path in self.files:
            return
        try:
            text = read(path)
        except OSError:
            return
        self.files[path] = text
        self.add_text(path, text)

    def add_text(self, path, text):
        text = without_comments(text)
        for name, quoted in includes(text):
            self.names.add(name)
            for place in candidates(name, quoted, path, self.directories):
                if os.path.isfile(place):
                    real = os.path.realpath(place)
                    if not real.startswith(self.opaque):
                        self.add(real)
                    break
                self.absent.add(place)
        for name, quoted in asked(text):
            for place in candidates(name, quoted, path, self.directories):
                if os.path.isfile(place):
                    self.there.add(place)
                    break
                self.absent.add(place)


def has_aten(names):
    """Whether ATen, c10 or what brings them is among these names."""
    return any(map(_ATEN.match, names))


def abi(names, kind):
    """Of sources that include these names, in files that aren't torch's own."""
    if not has_aten(names) and any(name.startswith("torch/csrc/stable/") for name in names):
        return "STABLE"
    return "PYBIND" if kind == "module" else "FULL"


def _blocks(texts, extension):
    """(namespace, text) of each STABLE_TORCH_LIBRARY and TORCH_LIBRARY block; the text goes on to the next block."""
    for text in texts:
        text = without_comments(text)
        blocks = list(_LIBRARY.finditer(text))
        for block, following in zip(blocks, [*blocks[1:], None]):
            namespace = extension if block.group(1) == "TORCH_EXTENSION_NAME" else block.group(1)
            yield namespace, text[block.end() : following.start() if following else len(text)]


_SCHEMA = re.compile(r'\bdef\s*\(\s*(?:torch::schema\s*\(\s*)?((?:"(?:\\.|[^"\\\n])*"\s*)+)')


def schemas(texts, extension):
    """[("my_ops", "add(Tensor a) -> Tensor")]: whole schemas in literals; what macros make can't be read."""
    found = set()
    for default, body in _blocks(texts, extension):
        for literals in _SCHEMA.findall(body):
            schema = "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', literals)).strip()
            namespace, colons, rest = schema.partition("::")
            namespace, schema = (namespace, rest) if colons and "(" not in namespace else (default, schema)
            if "->" in schema:
                found.add((namespace, schema))
    return sorted(found)


def names_torch(text):
    return bool(_TORCH_NAME.search(without_comments(text)))


def names_python(text):
    return bool(re.search(r"\b(py|pybind11)::|\bPYBIND11_|\bPy[A-Z]\w+|\bTHP\w+|\bpython_error\b", without_comments(text)))


def defines_ops(text):
    return bool(_LIBRARY.search(without_comments(text)))


def unread_namespaces(texts, extension):
    """Namespaces whose blocks define ops by something else than a literal text."""
    return sorted(
        {
            namespace
            for namespace, body in _blocks(texts, extension)
            if len(re.findall(r"\bdef\s*\(", body)) > len(_DEF.findall(body))
        }
    )


def ops(texts, extension):
    """["my_ops::add"]: what STABLE_TORCH_LIBRARY and TORCH_LIBRARY blocks define, as far as their text shows it."""
    return sorted(
        {
            "%s::%s" % (other or namespace, op)
            for namespace, body in _blocks(texts, extension)
            for other, op in _DEF.findall(body)
        }
    )
