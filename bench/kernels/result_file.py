# SPDX-License-Identifier: Apache-2.0
"""What the programs that measure, and those that show what was measured, share: facts of the
machine, and bench/results/<device>.json."""

import datetime
import json
import os
import platform
import re
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def first_line(command, pattern=r"(.+)"):
    try:
        output = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
        ).stdout
    except OSError:
        return None
    found = re.search(pattern, output)
    return found.group(1).strip() if found else None


def machine():
    query = "name,driver_version,memory.total,clocks.max.sm,clocks.max.mem,power.limit"
    row = first_line(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"]) or ""
    facts = dict(zip(query.split(","), (value.strip() for value in row.split(","))))
    facts["nvcc"] = first_line(["nvcc", "--version"], r"release [^,]+, V(\S+)")
    facts["cmake"] = first_line(["cmake", "--version"], r"cmake version (\S+)")
    facts["compiler"] = first_line(["c++", "--version"])
    facts["compute-sanitizer"] = first_line(["compute-sanitizer", "--version"], r"Version (\S+)")
    torch = sys.modules.get("torch")  # importing it anew takes seconds
    facts["torch"] = (
        torch.__version__
        if torch
        else first_line([sys.executable, "-c", "import torch; print(torch.__version__)"])
    )
    facts["python"] = platform.python_version()
    facts["system"] = platform.platform()
    return facts


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def add_commit_argument(parser):
    parser.add_argument("--commit", help="what is measured, where there is no git here")


def commit(told=None):
    """What is measured: `told` (the option --commit), else the checkout's commit, with "-dirty" behind it where files were
    changed since (but those of bench/results, which are written meanwhile)."""
    if told:
        return told
    git = ["git", "-C", SOURCE]
    found = first_line([*git, "rev-parse", "HEAD"]) or "no git"
    if not re.fullmatch(r"[0-9a-f]{40}", found):
        program = os.path.basename(sys.argv[0])
        raise SystemExit(
            f"{program}: the commit that is measured isn't known.\n  found   {found}\n"
            "Fix: --commit=<what `git rev-parse HEAD` prints where the sources come from>"
        )
    changed = [*git, "status", "--porcelain", "--untracked-files=no", "--", ":/", ":(top,exclude)bench/results"]
    return found + "-dirty" * bool(first_line(changed))


def device_path(folder, facts):
    device = re.sub(r"[^A-Za-z0-9.]+", "_", facts.get("name") or "no_gpu").strip("_")
    return os.path.join(folder, f"{device}.json")


def read(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def read_all(paths):
    """The oldest first: what several files hold is taken from the newest."""
    return sorted(map(read, paths), key=lambda document: document.get("date", ""))


def write(path, document, **places):
    """places: directories of this machine, written as <name>: what is measured is the same wherever
    it was built."""
    text = json.dumps(document, indent=1) + "\n"
    for name, place in (*places.items(), ("source", SOURCE)):
        text = text.replace(os.path.abspath(place), f"<{name}>")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


def write_rows(folder, name, command, rows, **facts):
    """<folder>/<name>.json of a program that measures rows of its own; `command` is what makes it again."""
    write(os.path.join(folder, f"{name}.json"), {"date": now(), "command": command, **facts, "rows": rows})


def short_name(name):
    """A benchmark's name without what Google Benchmark adds to it."""
    return re.sub(r"(/iterations:1|/manual_time)+$", "", name)


def benchmarks(documents):
    """name → figures of our kernels, and when; what a later document has too is the later's. An entry that has a date was
    kept from an earlier run."""
    found = {}
    for document in documents:
        for entry in document.get("benchmarks", []):
            if "error" not in entry:
                found[short_name(entry["name"])] = {"date": document.get("date", ""), **entry}
    return found


def rivals(documents):
    """name → case of rivals.py, in which ours was measured beside the others, when, and of which commit; the newest of several."""
    found = {}
    for report in sorted(rival_reports(documents), key=lambda report: report["date"]):
        for case in report["cases"]:
            found[case["name"]] = {**case, "date": report["date"], "commit": report.get("commit", "")}
    return found


def rival_reports(documents):
    """Of rivals.py, one a run and op."""
    return [
        report
        for document in documents
        for report in document.get("rivals", {}).get("ops", {}).values()
    ]


def devices(documents):
    """Name → its documents, the oldest first. Figures of two devices don't stand in one row."""
    found = {}
    for document in documents:
        machine = document.get("machine") or document.get("rivals", {}).get("machine", {})
        name = machine.get("name") or document.get("device") or "unknown device"
        found.setdefault(name, []).append(document)
    return found
