# SPDX-License-Identifier: Apache-2.0
"""Memory that is free for compilers, as control groups leave it. cmake/detail/base/machine.cmake counts it alike."""

import os

# torch/extension.h in g++.
JOB_BYTES = 3 << 29


def free_bytes(root="/"):
    """None where nothing tells."""
    found = []
    for line in _lines(root, "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            found.append(int(line.split()[1]) * 1024)
    for group, version in _groups(root):
        names = ("memory.max", "memory.current", "") if version == 2 else ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
        limit, used = (("".join(_lines(group, name))).strip() for name in names[:2])
        # Version 1 says "no limit" with the largest number of pages that there is.
        if limit.isdigit() and used.isdigit() and int(limit) < 1 << 62:
            # Cached files count as used there; the kernel takes them back before it kills anything.
            cached = tuple(names[2] + kind for kind in ("inactive_file ", "active_file "))
            back = sum(int(line.split()[1]) for line in _lines(group, "memory.stat") if line.startswith(cached))
            found.append(max(0, int(limit) - int(used) + back))
    return min(found, default=None)


def _groups(root):
    """[(directory, version)] of this process's control group and of those around it, as far as they are mounted here."""
    found = []
    for line in _lines(root, "proc/self/cgroup"):
        _, controllers, path = line.rstrip("\n").split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        version, place = (1, "sys/fs/cgroup/memory") if controllers else (2, "sys/fs/cgroup")
        # In a container the path may be told from outside of it, and only the mount itself is there.
        steps = [step for step in path.split("/") if step]
        if ".." in steps:
            steps = []
        found += [(os.path.join(root, place, *steps[:count]), version) for count in range(len(steps), -1, -1)]
    return found


def _lines(directory, name):
    try:
        with open(os.path.join(directory, name), encoding="ascii", errors="replace") as file:
            return file.readlines()
    except OSError:
        return []
