# SPDX-License-Identifier: Apache-2.0
"""The text of a translation, and the checks of what the translator has made of it."""

import re
import sys

from ..problem import in_file
from .text import Text, read, show
from .translators import PerlTranslator, TorchTranslator, translator_cures

RUNTIME_INCLUDE = '#include "hip/hip_runtime.h"\n'
# Compilers name lines of the source.
FRONT = RUNTIME_INCLUDE + "#line 1\n"


class Changed(Exception):
    """A file was edited while it was being translated."""


class Translation:
    def __init__(self, settings):
        self.translator = (PerlTranslator if settings.kind == "perl" else TorchTranslator)(settings)
        self.loaded = False

    def translate(self, unit):
        if unit.text is None:
            text, when = read(unit.path)
            if when != unit.stamp:
                raise Changed
            unit.text = Text(text)
        if not self.loaded:
            self.translator.load()
            self.loaded = True
        once, front = self.translate_text(unit, unit.text, unit.decisions)
        twice, _ = self.translate_text(unit, Text(once), [None] * front + unit.decisions)
        if twice != once:
            self.stop_wrong(unit, "translating the translation again would change it", once, twice)
        warn_about_arch(unit.path, once[len(FRONT) :] if front else once)
        if unit.text.ends is not None:
            ends = ["\n"] * (FRONT.count("\n") if front else 0) + unit.text.ends + [""]
            once = "".join(part + end for part, end in zip(once.split("\n"), ends))
        return (("\ufeff" if unit.text.bom else "") + once).encode("utf-8")

    def translate_text(self, unit, text, decisions):
        """(translation, whether it begins with FRONT and the text doesn't)"""
        before, hidden, pattern = text.hide(decisions)
        after = self.ask(unit, before)
        front = after.startswith(RUNTIME_INCLUDE)
        if front:
            after = after[len(RUNTIME_INCLUDE) :]
        # nvcc includes cuda_runtime.h before the first line of each .cu; HIP's compiler doesn't.
        front = (front or unit.path.endswith(".cu")) and not text.text.startswith(RUNTIME_INCLUDE)
        if after.count("\n") != before.count("\n"):
            self.stop_wrong(unit, "the translator added or removed lines", before, after)
        for word in ("<<<", ">>>", "hipLaunchKernelGGL"):
            if after.count(word) != before.count(word):
                lines = zip(before.split("\n"), after.split("\n"))
                number = next((n for n, (a, b) in enumerate(lines) if a.count(word) != b.count(word)), 0)
                raise in_file(
                    "%s:%d" % (unit.path, self.original_line(before, number, hidden)),
                    "the translator rewrote a kernel launch, which HIP's compiler reads as it is.",
                    ("found   " + after.split("\n")[number].strip(), "by      " + self.translator.files[0]),
                    translator_cures(),
                )
        after = show(after, hidden, pattern)
        if after is None or not (after.startswith("\n") and after.endswith("\n")):
            raise in_file(
                unit.path,
                "the translator changed what was hidden from it.",
                ("by      " + self.translator.files[0],),
                translator_cures(),
            )
        return FRONT * front + after[1:-1], front

    def ask(self, unit, text):
        try:
            return self.translator.translate(text)
        except OSError:
            raise
        except Exception as error:
            raise in_file(
                unit.path,
                "the translator failed.",
                (
                    "found   %s: %s" % (type(error).__name__, (str(error).splitlines() or [""])[0]),
                    "by      " + self.translator.files[0],
                ),
                translator_cures(),
            )

    def stop_wrong(self, unit, sentence, first, second):
        facts = []
        for one, two in zip(first.split("\n"), second.split("\n")):
            if one != two:
                facts = ["before  " + one.strip(), "after   " + two.strip()]
                break
        raise in_file(unit.path, sentence + ".", facts + ["by      " + self.translator.files[0]], translator_cures())

    @staticmethod
    def original_line(before, number, hidden):
        line = number
        for match in re.finditer(r"_cudaops_*[csop](\d+)_", "\n".join(before.split("\n")[:number])):
            line += hidden[int(match.group(1))].count("\n")
        return line


ARCH_CONDITION = re.compile(
    r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b((?:\\\n|[^\n])*)", re.M
)


def warn_about_arch(name, text):
    """HIP's compiler defines no __CUDA_ARCH__: a condition on it is false, and says nothing."""
    if "__CUDA_ARCH__" not in text:
        return
    plain = re.sub(r"//(?:\\\n|[^\n])*|/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.S)
    groups = []
    found = []
    for match in ARCH_CONDITION.finditer(plain):
        word, condition = match.groups()
        if word.startswith("if"):
            groups.append([bool(groups and groups[-1][0]), []])
        if not groups:
            continue
        if re.search(r"HIP|ROCM", condition):
            groups[-1][0] = True
        elif "__CUDA_ARCH__" in condition:
            newer = re.search(r"__CUDA_ARCH__\s*(>|==)|!\s*defined", condition)
            if newer or not re.search(r"__CUDA_ARCH__\s*<", condition):
                groups[-1][1].append((plain.count("\n", 0, match.start(2)) + 1, " ".join(match.group(0).split())))
        if word == "endif":
            knows, warnings = groups.pop()
            if not knows:
                found += warnings
    for line, condition in sorted(found):
        sys.stderr.write(
            "%s:%d: warning: HIP's compiler doesn't define __CUDA_ARCH__.\n"
            "  found   %s\n"
            " Fix: add what holds for HIP: || defined(__HIP_DEVICE_COMPILE__), or && !defined(USE_ROCM)\n"
            % (name, line, condition)
        )
