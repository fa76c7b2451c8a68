# SPDX-License-Identifier: Apache-2.0
"""The first error in the output of CMake or Ninja, and the exception that tells it."""

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
_FAILED = re.compile(r"^FAILED: [^\n]*\n(?P<command>[^\n]*)\n(?P<output>.*?)(?=^(?:FAILED: |\[\d+/\d+\] |ninja: )|\Z)", re.MULTILINE | re.DOTALL)


class Failure:
    """message, file, line, command; kept: whether the same sources would fail again."""

    def __init__(self, output, at_configure):
        self.file = self.line = self.command = None
        self.kept = False
        if at_configure:
            self.message = _cmake_error(output)
            return
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

    def out_of_space(self, output):
        return "No space left on device" in output or "Disk quota exceeded" in output


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


def in_environment(text):
    """Cures of the CMake part as a caller of load() can apply them: there is no command line."""
    text = re.sub(r"\n *or leave CUDA REQUIRED out:[^\n]*", "", text)
    text = re.sub(r"-DCMAKE_CUDA_ARCHITECTURES=(\d+)(\d[af]?)\b", r"TORCH_CUDA_ARCH_LIST=\1.\2", text)
    text = text.replace("-DCMAKE_CUDA_ARCHITECTURES=", "TORCH_CUDA_ARCH_LIST=")
    text = text.replace("-DCMAKE_HIP_ARCHITECTURES=", "PYTORCH_ROCM_ARCH=")
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
