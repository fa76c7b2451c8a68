# SPDX-License-Identifier: Apache-2.0
"""Runs one compile and notes what it took: memory, processor time, what the compiler cache did, nvcc's phases.

usage: build_trace.py <directory> [--phases] <command>...

The launcher of targets that are traced (CudaOpsReport.cmake). Leaves <directory>/<hash of the object>.json; with
--phases nvcc's own table beside it, .csv, in which case no cache keeps the object. build_report.py reads them.
The compile is never worse for it: what can't be noted is left out, the exit code is the command's.

Python 3.8 or later, standard library only; run with -I -S -B.
"""

import hashlib
import json
import os
import re
import signal
import sys
import time

# ccache's counters, as it writes them to CCACHE_STATSLOG.
HIT = re.compile(r"_cache_hit$")
NO_REASON = ("_storage_", "_read_", "_write_", "_cache_hit", "_cache_miss", "cache_miss")


def option(words, name):
    """The value of `-o x`; empty where there is none."""
    return words[words.index(name) + 1] if name in words[:-1] else ""


def inputs(depfile):
    """{path: [size, time]} of what the depfile names. Ninja removes the file as soon as we are done."""
    try:
        with open(depfile, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read()
    except OSError:
        return {}
    found = {}
    words = re.findall(r"(?:\\[ #\\]|\$\$|[^\s\\])+", re.sub(r"\\\r?\n", " ", text).partition(": ")[2])
    for word in words:
        path = re.sub(r"\\([ #\\])", r"\1", word).replace("$$", "$")
        try:
            about = os.stat(path)
            found[path] = [about.st_size, about.st_mtime_ns]
        except OSError:
            pass
    return found


def why_missed(old, new):
    """A cache says that it has no entry, not why: what is different from the compile before."""
    if not old:
        return "first compile of this file in this build tree"
    if old.get("words") != new["words"]:
        before, now = old.get("words") or [], new["words"]
        changes = ["+ " + word for word in now if word not in before] + [
            "- " + word for word in before if word not in now
        ]
        return "other command: " + (" ".join(changes[:6]) or "other order of its options")
    before, now = old.get("inputs") or {}, new["inputs"]
    changed = [path for path in now if now[path] != before.get(path)] + [path for path in before if path not in now]
    if changed:
        more = " and %d more" % (len(changed) - 1) if len(changed) > 1 else ""
        return "changed since the compile before: " + changed[0] + more
    return "neither the files nor the command are new: another compiler or environment, or the entry is gone"


def cache_result(statistics, words, phases, old, new):
    """{"result": hit, miss or "not cached", "reason": text}, or None where nothing is known."""
    launcher = any(word.endswith("/cache_launcher.sh") for word in words)
    try:
        with open(statistics) as file:
            counters = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    except OSError:
        # Ours asks sccache in the same way, and that keeps no such log.
        if phases and launcher:
            return {"result": "not cached", "reason": "nvcc's phases are traced (CUDAOPS_BUILD_TRACE=PHASES)"}
        return None
    if any(HIT.search(counter) for counter in counters):
        remote = any(counter.startswith("remote_storage_hit") for counter in counters)
        return {"result": "hit", "reason": "from the remote cache" if remote else ""}
    if "cache_miss" in counters:
        return {"result": "miss", "reason": why_missed(old, new)}
    rest = [counter.replace("_", " ") for counter in counters if not any(part in counter for part in NO_REASON)]
    return {"result": "not cached", "reason": ", ".join(rest)}


def main(argv):
    if len(argv) < 2 or argv[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if argv[:1] in (["-h"], ["--help"]) else 2
    directory, words = argv[0], argv[1:]
    phases = words[0] == "--phases"
    words = words[1:] if phases else words
    if not words:
        print(__doc__)
        return 2
    written = option(words, "-o") or option(words, "--output-file")
    base = os.path.join(directory, hashlib.sha1(os.path.realpath(written).encode("utf-8", "replace")).hexdigest()[:20])
    old = {}
    try:
        os.makedirs(directory, exist_ok=True)
        with open(base + ".json", encoding="utf-8") as file:
            old = json.load(file)
    except (OSError, ValueError):
        pass
    if not isinstance(old, dict) or not isinstance(old.get("words"), list) or not isinstance(old.get("inputs"), dict):
        old = {}
    for ending in (".csv", ".stats", ".json"):
        try:
            os.unlink(base + ending)
        except OSError:
            pass
    command = list(words)
    if phases and any(os.path.basename(word) == "nvcc" for word in words):
        command.append("--time=" + base + ".csv")
    statistics = base + ".stats"
    if "CCACHE_STATSLOG" in os.environ:
        statistics = os.devnull + "/theirs"
    else:
        os.environ["CCACHE_STATSLOG"] = statistics

    started = time.time_ns()
    child = os.fork()
    if child == 0:
        try:
            os.execvp(command[0], command)
        except OSError as error:
            sys.stderr.write("%s: %s\n" % (command[0], error.strerror))
        os._exit(127)
    # Ninja signals the whole group: the command ends by itself, and we with it.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    status, usage = os.wait4(child, 0)[1:]
    finished = time.time_ns()

    new = {
        "object": os.path.abspath(written),
        "started_ns": started,
        "seconds": (finished - started) / 1e9,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        # Of the largest of its processes; they run one after the other, but for nvcc's --threads.
        "peak_memory_bytes": usage.ru_maxrss * 1024,
        "words": words,
        "inputs": inputs(option(words, "-MF")),
    }
    new["cache"] = cache_result(statistics, words, phases, old, new)
    try:
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0 and written:
            with open(base + ".new", "w", encoding="utf-8", errors="replace") as file:
                json.dump(new, file)
            os.replace(base + ".new", base + ".json")
        os.unlink(statistics)
    except OSError:
        pass
    if os.WIFSIGNALED(status):
        signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
        return 128 + os.WTERMSIG(status)
    return os.WEXITSTATUS(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
