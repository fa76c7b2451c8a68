# SPDX-License-Identifier: Apache-2.0
"""What to change so that a build takes less time, by file and line."""

import os
import re
import shutil
import subprocess

from .words import count, file_text, say, short

# Fewer are noise: the timer of ninja's log is in milliseconds, and a build's first second is CMake's.
WORTH_SECONDS = 1.0


class Advice:
    def __init__(self, kind, file, line, text, seconds, source=""):
        self.kind, self.file, self.line, self.text, self.seconds = kind, file, line, text, seconds
        self.source = source


HEAVY_TORCH = ("torch/extension.h", "torch/all.h", "torch/torch.h", "torch/python.h", "torch/types.h", "ATen/ATen.h")
# Headers that bring all of torch's C++ API, and what of that API torch/types.h (tensors, their factories, ATen,
# torch/library.h) doesn't declare: torch/all.h's other namespaces, Python objects, and the constants of torch/enum.h.
ALL_OF_TORCH = ("torch/extension.h", "torch/all.h", "torch/torch.h")
NOT_IN_TYPES = re.compile(
    r"\b(?:nn|optim|data|jit|autograd|cuda|xpu|mps|fft|nested|special|sparse|serialize|enumtype|profiler|python)::"
    r"(?<!at::cuda::)(?<!c10::cuda::)|\bTHP\w+|\btorch::(?:save|load|pickle_\w+|OrderedDict|TORCH_VERSION\w*|AutoGradMode)\b"
    r"|\btorch::k(?:Linear|Conv\w+|Sigmoid|Tanh|ReLU|GELU|SiLU|Mish|LeakyReLU|FanIn|FanOut|Constant|Reflect|Replicate"
    r"|Circular|Nearest\w*|Bilinear|Bicubic|Trilinear|Area|Sum|Mean|Max|None|BatchMean|Zeros|Border|LSTM|GRU|RNN\w+|Valid|Same)\b"
)


def find_advice(jobs, builds, report, directory, root):
    advice = []
    total = sum(job.seconds for job in jobs) or 1.0
    rows = {job.outputs[0]: job for job in jobs}
    for job in rows.values():
        if job.kind != "compile" or job.seconds < WORTH_SECONDS:
            continue
        advice += header_advice(job, report, root)
        several = job.language == "CUDA" and job.virtual > 1 and job.threads is None
        if several and job.seconds >= 0.05 * total:
            advice.append(threads_advice(job, root))
    advice += tail_advice(builds, root)
    advice += linker_advice(jobs, directory)
    compile_seconds = sum(job.seconds for job in jobs if job.kind == "compile")
    cache = report.get("cache") or {}
    if str(cache.get("problem")).startswith("neither") and "(yours)" not in cache["problem"]:
        if compile_seconds >= 10 * WORTH_SECONDS:
            text = "no compiler cache (%s): %s of compiles were made anew" % (cache["problem"], say(compile_seconds))
            # It spares none of them the first time, so it comes last.
            advice.append(Advice("cache", "", 0, text + "; apt-get install ccache", 0.0))
    merged = {}
    for one in advice:
        # A header of the project's that brings it to many files is one line to change.
        key = (one.kind, one.file, one.line)
        if key in merged and one.line:
            merged[key].append(one)
        else:
            merged.setdefault(key, []).append(one)
    result = []
    for same in merged.values():
        first = max(same, key=lambda one: one.seconds)
        first.seconds = sum(one.seconds for one in same)
        more = len({one.source for one in same}) - 1
        if more:
            first.text += " (and %s more, %s in all)" % (count(more, "file"), say(first.seconds))
        elif len(same) > 1:
            first.text += " (%s in all steps)" % say(first.seconds)
        result.append(first)
    return sorted(result, key=lambda one: -one.seconds)


def header_advice(job, report, root):
    """Of what a file includes, that which costs a good part of it and could be had for less."""
    found = []
    ops = {op.get("name"): op for op in report.get("ops") or [] if isinstance(op, dict)}
    for include in job.includes:
        if include.own:
            continue
        cost, seconds = cost_of(include, job)
        if not cost:
            continue
        spelled = include.spelled
        cure = ""
        if job.language in ("CUDA", "HIP"):
            if re.match(r"(torch|ATen|c10|pybind11)/", spelled):
                cure = "move the binding to a .cpp"
            elif spelled in ("cub/cub.cuh", "cub/cub.hpp"):
                cure = cub_cure(job, include)
        elif spelled in HEAVY_TORCH:
            text = file_text(include.at) + file_text(os.path.join(root, job.source))
            if "PYBIND11_MODULE" in text or (ops.get(job.target) or {}).get("abi") == "PYBIND":
                cure = "for tensors, sizes and the stream, STABLE_TORCH_LIBRARY (ABI STABLE) would do"
            else:
                cure = "torch/csrc/stable/library.h (ABI STABLE) would do for tensors, sizes and the stream"
        less = lighter_header(include, job, root)
        if less:
            cure = "%s would do for what is named here%s" % (less, "; " + cure if cure else "")
        if cure:
            at = short(include.at, root)
            via = (
                ""
                if os.path.basename(include.at) == os.path.basename(job.source)
                else ", which %s includes," % short(job.source, root)
            )
            text = "%s:%d%s includes %s: %s; %s" % (at, include.line, via, spelled, cost, cure)
            found.append(Advice("header", include.at, include.line, text, seconds, job.source))
    return found


def lighter_header(include, job, root):
    """What could stand in the place of a header with all of torch, by the names in the project's files of the compile."""
    if include.spelled not in ALL_OF_TORCH:
        return ""
    own = dict.fromkeys([os.path.join(root, job.source)] + [one.at for one in job.includes])
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", "".join(file_text(path) for path in own), flags=re.S)
    if NOT_IN_TYPES.search(text):
        return ""
    bound = re.search(r"\bpy(?:bind11)?::|\bPYBIND11_\w+|\bPy[A-Z]\w+", text)
    return "torch/types.h" + " with torch/csrc/utils/pybind.h" * bool(bound)


def cost_of(include, job):
    """(what is known of its cost, in words; seconds to sort by), ("", 0) where that is little."""
    header = job.headers.get(include.header)
    measured = header.seconds.get(job.language) if header else None
    if measured is not None:
        seconds = min(measured, job.seconds)
        if seconds >= WORTH_SECONDS and seconds >= 0.3 * job.seconds:
            return "%s of %s" % (say(seconds), say(job.seconds)), seconds
        return "", 0
    share = include.bytes / job.bytes if job.bytes else 0
    if share < 0.3:
        return "", 0
    return (
        "%d %% of what the compiler reads for this file (%s)"
        % (
            round(100 * share),
            say(job.seconds),
        ),
        share * job.seconds,
    )


def cub_cure(job, include):
    """The headers of the parts of CUB that the file names, where all of them can be named."""
    names = set(
        re.findall(
            r"\bcub::(?:Device|Block|Warp|Agent|Cache|Counting|Transform|ArgMax|ArgMin)\w*", file_text(include.at)
        )
    )
    folder = os.path.dirname(include.header)
    wanted = []
    for name in sorted(names):
        file = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.split("::")[1]).lower() + ".cuh"
        path = next(
            (
                part
                for part in ("device", "block", "warp", "agent", "iterator")
                if os.path.exists(os.path.join(folder, part, file))
            ),
            None,
        )
        if not path:
            return ""
        wanted.append("cub/%s/%s" % (path, file))
    if not wanted or len(wanted) > 4:
        return ""
    return "%s would do for %s" % (" and ".join(wanted), " and ".join(sorted(names)))


def threads_advice(job, root):
    gain = 0.0
    serial = {}
    for phase in job.phases:
        if phase["architecture"] and phase["phase"].startswith(("cicc", "ptxas", "gcc (preprocessing 1)")):
            number = re.sub(r"\D", "", phase["architecture"])
            serial[number] = serial.get(number, 0.0) + phase["seconds"]
    if len(serial) > 1:
        gain = sum(serial.values()) - max(serial.values())
    text = "%s is compiled for %d architectures one after the other: %s" % (
        short(job.source, root),
        job.virtual,
        say(job.seconds),
    )
    if gain:
        text += ", of which %s could run beside the rest" % say(gain)
    text += "; nvcc's --threads=0 compiles them at once"
    return Advice("threads", job.source, 0, text, gain or job.seconds * (1 - 1.0 / job.virtual))


def tail_advice(builds, root):
    """The job that the rest of the last build waited for. Of builds before, the log may lack what was made again."""
    found = []
    whole = [build for build in builds if any(job.kind == "compile" for job in build["members"])]
    for build in whole[-1:]:
        if build["slots"] < 2 or build["seconds"] < 2 * WORTH_SECONDS:
            continue
        job = max(build["members"], key=lambda job: job.alone)
        # Others that cost less show that it isn't the headers, which a second file would read as well.
        others = [
            other.seconds
            for other in build["members"]
            if other.source != job.source and other.kind == "compile" and other.language == job.language
            and (other.cache or {}).get("result") != "hit"
        ]  # fmt: skip
        if (
            job.kind == "compile"
            and job.alone >= 0.25 * build["seconds"]
            and job.alone >= WORTH_SECONDS
            and others
            and min(others) <= 0.5 * job.seconds
        ):
            text = (
                "%s ran alone for %s of the build's %s, while %s stood idle, and other %s files take from %s on; "
                "split it (a file for each group of kernels)"
            ) % (
                short(job.name, root),
                say(job.alone),
                say(build["seconds"]),
                "the other slot" if build["slots"] == 2 else "%d other slots" % (build["slots"] - 1),
                job.language,
                say(min(others)),
            )
            found.append(Advice("tail", job.source, 0, text, job.alone))
    return found


def linker_advice(jobs, directory):
    links = [job for job in jobs if job.kind == "link" and "-fuse-ld" not in job.command]
    seconds = sum(job.seconds for job in links)
    slow = [job for job in links if job.seconds >= WORTH_SECONDS]
    total = sum(job.seconds for job in jobs)
    if not slow or seconds < 0.05 * total:
        return []
    try:
        about = subprocess.run(["ld", "--version"], capture_output=True, timeout=10).stdout.decode("utf-8", "replace")
    except (OSError, subprocess.TimeoutExpired):
        return []
    if not about.startswith("GNU ld"):
        return []
    # gold links as GNU ld does; the others differ where archives or weak references meet.
    for program, name in (("ld.gold", "gold"), ("ld.lld", "lld"), ("mold", "mold")):
        if shutil.which(program):
            slowest = max(slow, key=lambda job: job.seconds)
            text = (
                "linking takes %s (%s alone %s) with GNU ld, and %s is here; "
                "target_link_options(<target> PRIVATE -fuse-ld=%s)"
                % (
                    say(seconds),
                    slowest.outputs[0],
                    say(slowest.seconds),
                    program,
                    name,
                )
            )
            return [Advice("linker", slowest.outputs[0], 0, text, seconds)]
    return []
