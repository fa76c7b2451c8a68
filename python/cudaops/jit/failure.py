# SPDX-License-Identifier: Apache-2.0
"""The first error in the output of CMake or Ninja, and the exception that tells it."""

import os
import re

from .errors import BuildError

_GCC = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+)(?::\d+)?: (?P<text>(?:fatal )?error: .*)$", re.MULTILINE)
_NVCC = re.compile(r"^(?P<file>[^\s(][^(\n]*)\((?P<line>\d+)\): (?P<text>(?:catastrophic )?error(?: #[\w-]+)?: .*)$", re.MULTILINE)
_LINK = re.compile(
    r"^(?P<text>(?!.*: in function ).*(?:undefined reference to|undefined symbol:|cannot find -l|multiple definition of|error: ld|ld: ).*)$",
    re.MULTILINE,
)
_PTXAS = re.compile(r"^(?P<text>(?:ptxas|nvlink|nvcc|cicc)[^\n:]*(?:error|fatal)\s*: .*)$", re.MULTILINE)
_ANY = re.compile(r"^(?P<text>.*\berror\b.*)$", re.MULTILINE | re.IGNORECASE)
# Not the sources' fault: never kept.
_ENVIRONMENT = re.compile(
    r"No space left on device|Disk quota exceeded|Killed|internal compiler error|[Cc]annot allocate memory|"
    r"virtual memory exhausted|out of memory|Segmentation fault|Bus error|Input/output error|Read-only file system|"
    r"terminated by signal|Too many open files|Resource temporarily unavailable|Stale file handle"
)
_SPACE = re.compile(r"^.*(?:No space left on device|Disk quota exceeded).*$", re.MULTILINE)
# What CMake's own messages hold beyond this is in the log: all that a compiler printed for its identification.
_LINES = 24
# CMake about a compiler: it isn't found, isn't where a variable says, or builds nothing.
_NO_COMPILER = re.compile(r"No CMAKE_(\w+)_COMPILER could be found")
_NAMED_COMPILER = re.compile(r"Could not find compiler set in environment variable (\w+):\s*(.*)\.")
_BROKEN_COMPILER = re.compile(r'The (\w+|C\+\+) compiler\s*"([^"]*)"\s*is not able to compile a simple test program')
_HOST_COMPILER = re.compile(r"the host compiler for nvcc doesn't exist\.\s*found\s+(.+?) \(environment (\w+)\)")
_LANGUAGES = {"CXX": ("C++", "CXX"), "C": ("C", "CC"), "CUDA": ("CUDA", "CUDACXX"), "HIP": ("HIP", "HIPCXX")}
_FAILED = re.compile(r"^FAILED: [^\n]*\n(?P<command>[^\n]*)\n(?P<output>.*?)(?=^(?:FAILED: |\[\d+/\d+\] |ninja: )|\Z)", re.MULTILINE | re.DOTALL)


class Failure:
    """message, file, line, command, fix; kept: whether the same sources would fail again; space: what says that a disk is full."""

    def __init__(self, output, at_configure):
        self.file = self.line = self.command = self.fix = None
        self.kept = False
        found = _SPACE.search(output)
        self.space = ""
        if found:
            self.of_space(found.group().strip())
        elif at_configure:
            self.message = _cmake_error(output)
            if not self._is_of_compiler():
                self.message = _shortened(self.message)
        else:
            self._read_compile(output)

    def of_space(self, said):
        self.space = said
        self.message = "the disk is full: " + said

    def _is_of_compiler(self):
        """Whether a compiler is missing or broken; then message and fix say it. CMake's advice is for authors of projects."""
        said = self.message
        kinds = (_NO_COMPILER, _NAMED_COMPILER, _HOST_COMPILER, _BROKEN_COMPILER)
        none, named, host, broken = (it.search(said) for it in kinds)
        if none:
            language, variable = _LANGUAGES.get(none.group(1), none.groups() * 2)
            self.message = "there is no %s compiler: none on PATH, and %s isn't set." % (language, variable)
            self.fix = "%s=<compiler>, or install one (Debian, Ubuntu: apt install g++)" % variable
        elif named:
            self.message = "the compiler that %s names isn't there: %s" % named.groups()
            self.fix = "%s=<compiler>, or unset it" % named.group(1)
        elif host:
            path, variable = host.groups()
            if variable == "CUDAHOSTCXX" and not os.environ.get(variable):
                variable = "CC"  # as torch takes it
            option = "-ccbin=" if variable.endswith("_FLAGS") else ""
            self.message = "nvcc's host compiler, which %s names, isn't there: %s" % (variable, path)
            self.fix = "%s=%s<compiler>, or unset it" % (variable, option)
        elif broken:
            errors = [line.strip() for line in said.split("\n") if _ANY.match(line)]
            self.message = "\n".join(["the %s compiler builds not even an empty program: %s" % broken.groups(), *errors])
            variable = {name: variable for name, variable in _LANGUAGES.values()}.get(broken.group(1), "CXX")
            self.fix = "%s=<another compiler>" % variable
        return bool(none or named or host or broken)

    def _read_compile(self, output):
        block = _FAILED.search(output)
        text = output
        if block:
            self.command, text = block.group("command"), block.group("output")
        found = None
        for pattern in (_GCC, _NVCC):
            other = pattern.search(text)
            if other and (found is None or other.start() < found.start()):
                found = other
        if found:
            self.file, self.line = found.group("file"), int(found.group("line"))
        found = found or _PTXAS.search(text) or _LINK.search(text) or _ANY.search(text)
        self.message = found.group("text").strip() if found else _last_line(text)
        self.kept = bool(found) and not _ENVIRONMENT.search(output)


def _last_line(text):
    lines = [line for line in text.split("\n") if line.strip()]
    return lines[-1].strip() if lines else "no output"


def _cmake_error(output):
    position = output.find("CMake Error")
    if position < 0:
        return _last_line(output)
    lines = output[position:].split("\n")
    body = []
    for line in lines[1:]:
        if line.startswith(("Call Stack", "CMake ", "-- ")):
            break
        body.append(line[2:] if line.startswith("  ") else line)
    return in_environment("\n".join(body).strip()) or lines[0]


def _shortened(message):
    lines = [line for line in message.split("\n") if line.strip()]
    if len(lines) <= _LINES or any(line.lstrip().startswith("Fix:") for line in lines):
        return message
    return "\n".join([*lines[:2], *[line for line in lines[2:] if _ANY.match(line)][:4]])


def in_environment(text):
    """Cures of the CMake part as a caller of load() can apply them: there is no command line."""
    text = re.sub(r"\n *or leave CUDA REQUIRED out:[^\n]*", "", text)
    text = re.sub(r"-DCMAKE_CUDA_ARCHITECTURES=(\d+)(\d[af]?)\b", r"TORCH_CUDA_ARCH_LIST=\1.\2", text)
    text = text.replace("-DCMAKE_CUDA_ARCHITECTURES=", "TORCH_CUDA_ARCH_LIST=")
    text = text.replace("-DCMAKE_HIP_ARCHITECTURES=", "PYTORCH_ROCM_ARCH=")
    if os.environ.get("PYTORCH_NVCC"):
        text = text.replace("environment CUDACXX", "environment PYTORCH_NVCC")
    return re.sub(r"-D((?:CUDAOPS_|CUDAToolkit_|Torch_|ROCm_)\w+)=", r"\1=", text)


def error(name, message, file=None, line=None, command=None, log=None, known=False, fix=None):
    """The BuildError: what went wrong, where, the command, the log."""
    where = "%s:%s: " % (file, line) if file else ""
    lines = ["cudaops: %s can't be built%s." % (name, ", as before with the same sources" if known else "")]
    lines += ["  " + part for part in ("%s%s" % (where, message)).split("\n")]
    if command:
        lines.append("  command  " + command)
    if log:
        lines.append("  log      " + log)
    if fix:
        lines.append("Fix: " + fix)
    return BuildError("\n".join(lines), message, file, line, command, log)
