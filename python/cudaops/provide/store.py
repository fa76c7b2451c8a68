# SPDX-License-Identifier: Apache-2.0
"""The per-user store: what is half made lies in <store>/<kind>/.part-*; one rename makes it <store>/<kind>/<version>, with
its .complete stamp already inside. So a killed run leaves nothing that could be taken for a whole one.
"""

import contextlib
import errno
import fcntl
import glob
import json
import os
import re
import shutil
import tempfile
import time

from .errors import OTHER_INDEX, Stop, failure, no_space, reason, say
from .installers import find_installer, run_live

# The tag of the Cache Directory Tagging Specification: backups skip such a directory, and it says
# that what lies here is ours to remove.
TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# CudaOps keeps here what CUDAOPS_PROVIDE brought.\n"


@contextlib.contextmanager
def locked(directory, wanted):
    """One at a time. The kernel drops the lock with its holder, however that ends. Yields False without locks."""
    with open(os.path.join(directory, ".lock"), "a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "another process"
            say("-- CUDAOPS_PROVIDE=%s: waiting for %s, which is at work in %s" % (wanted.kind.upper(), holder, directory))
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
                raise
            yield False  # a file system without locks: parts have names of their own, the rename decides
            return
        file.truncate(0)
        file.write("process %d on %s" % (os.getpid(), os.uname().nodename))
        file.flush()
        yield True


def matches(name, version, suffix_pattern):
    return re.fullmatch(re.escape(version) + r"([.+][^-]*)?" + suffix_pattern, name) is not None


def complete(directory, wanted):
    """The whole one that serves the request, or None."""
    pattern = r"-cp\d+t?" if wanted.suffix else ""
    for name in sorted(os.listdir(directory), reverse=True):
        place = os.path.join(directory, name)
        stamp = os.path.join(place, ".complete")
        if not os.path.exists(stamp) or wanted.problem(place) is not None:
            continue
        if matches(name, wanted.version, pattern) or (wanted.older and serves(stamp) == wanted.version):
            return place
    return None


def serves(stamp):
    try:
        with open(stamp, encoding="utf-8") as file:
            return json.load(file).get("serves")
    except (OSError, ValueError, AttributeError):
        return None


def clear(place, directory):
    """Removes an incomplete one, if the store is marked as ours."""
    if not os.path.lexists(place):
        return
    if not os.path.exists(os.path.join(directory, "CACHEDIR.TAG")):
        raise Stop(
            "what is in the way was not made by CudaOps.",
            ["found   %s, without its .complete stamp" % place],
            ["move it away, or name another place: -DCUDAOPS_STORE=<dir>"],
        )
    say("-- CudaOps: %s is incomplete and is made anew" % place)
    aside = os.path.join(directory, ".part-old-%d" % os.getpid())
    os.rename(place, aside)
    shutil.rmtree(aside, ignore_errors=True)


def provide(wanted, store, pythons):
    directory = os.path.join(store, wanted.directory)
    fresh = not os.path.isdir(directory)
    os.makedirs(directory, exist_ok=True)
    tag = os.path.join(directory, "CACHEDIR.TAG")
    if fresh or not os.listdir(directory):
        with open(tag, "w", encoding="utf-8") as file:
            file.write(TAG)
    installer = find_installer(pythons, wanted)
    with locked(directory, wanted) as lone:
        if lone and os.path.exists(tag):
            for stale in glob.glob(os.path.join(glob.escape(directory), ".part-*")):
                shutil.rmtree(stale, ignore_errors=True)
        found = complete(directory, wanted)
        if found:
            say("-- CudaOps: %s is there now" % found)
            return found
        final = os.path.join(directory, wanted.version + wanted.suffix)
        say(
            "-- CUDAOPS_PROVIDE=%s: %s to %s: about %s to download, %s on disk; with %s"
            % (
                wanted.kind.upper(),
                " and ".join(wanted.requirements),
                final,
                wanted.download,
                wanted.disk,
                installer.name,
            )
        )
        amount, unit = wanted.disk.split()
        if shutil.disk_usage(directory).free < float(amount) * {"GB": 1e9, "MB": 1e6}[unit]:
            raise no_space(directory, wanted)
        part = tempfile.mkdtemp(prefix=".part-", dir=directory)
        try:
            return fill(part, final, directory, wanted, installer)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def fill(part, final, directory, wanted, installer):
    begin = time.monotonic()
    os.chmod(part, 0o777 & ~current_umask())
    place = wanted.prepare(part)
    scratch = os.path.join(part, ".scratch")
    os.mkdir(scratch)

    def install():
        return run_live(installer.command(place, wanted.requirements), installer.environment(scratch))

    exit_code, lines = install()
    if exit_code != 0 and wanted.older and reason(installer, lines) == "wheel":
        say("-- CudaOps: no %s for this Python: the newest before it is taken" % wanted.requirements[0])
        wanted.requirements[0] = wanted.older
        exit_code, lines = install()
    if exit_code != 0:
        raise failure(installer, wanted, final, exit_code, lines)
    shutil.rmtree(scratch, ignore_errors=True)
    infos = glob.glob(os.path.join(glob.escape(wanted.packages(part)), wanted.distribution + "-*.dist-info"))
    problem = wanted.problem(part) or (None if infos else "no %s-*.dist-info" % wanted.distribution)
    if problem:
        raise Stop(
            "what the package index gave is not whole.",
            [
                "wanted  " + wanted.requirements[0],
                "found   " + problem,
                "index   " + installer.index(),
                "kept    nothing; %s was not created" % final,
            ],
            [OTHER_INDEX, wanted.other_way],
        )
    version = os.path.basename(infos[0])[len(wanted.distribution) + 1 : -len(".dist-info")]
    final = os.path.join(directory, version + wanted.suffix)
    # "serves": the version asked for, where another one was taken in its place.
    stamp = {"serves": wanted.version, "requirements": wanted.requirements, "installer": installer.name}
    with open(os.path.join(part, ".complete"), "w", encoding="utf-8") as file:
        json.dump(stamp, file)
    if os.path.exists(os.path.join(final, ".complete")) and wanted.problem(final) is None:
        # There under another request already, perhaps in use: it stays, and serves this one from now on.
        os.replace(os.path.join(part, ".complete"), os.path.join(final, ".complete"))
        return final
    wanted.finish(part, final)
    clear(final, directory)
    os.rename(part, final)
    say("-- CudaOps: %s is ready, %.0f s" % (final, time.monotonic() - begin))
    return final


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
