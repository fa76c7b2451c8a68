# SPDX-License-Identifier: Apache-2.0
"""One build of a key at a time, and all builds of a user together not more jobs than allowed.

Locks are flock's: the kernel gives them back when a process ends, however it ends. Where a file system has none,
everybody builds, and rename decides whose result stays.
"""

import errno
import fcntl
import os
import sys
import time

from . import memory

WAITING_S = 10
_NO_FLOCK = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)


class Lock:
    """l/<name>, held from acquire() to release(). `works` is False where there is no flock."""

    def __init__(self, directory, name):
        self.path = os.path.join(directory, name)
        self.works = True
        self._file = None

    def try_acquire(self):
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(file)
            if error.errno in _NO_FLOCK:
                self.works = False
                return True
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES, errno.EINTR):
                return False
            raise
        self._file = file
        os.ftruncate(file, 0)
        os.write(file, ("%d %s\n" % (os.getpid(), os.uname().nodename)).encode())
        return True

    def acquire(self, what):
        """Waits; after ten seconds says once for whom."""
        started, said, pause = time.monotonic(), False, 0.002
        while not self.try_acquire():
            time.sleep(pause)
            pause = min(pause * 1.5, 0.1)
            if not said and time.monotonic() - started > WAITING_S:
                said = True
                print("cudaops: waiting for %s, which %s builds." % (what, self.holder()), file=sys.stderr, flush=True)
        return self

    def holder(self):
        try:
            with open(self.path, encoding="utf-8") as file:
                pid, host = file.read().split()
            return "process %s on %s" % (pid, host)
        except (OSError, ValueError):
            return "another process"

    def release(self):
        if self._file is not None:
            os.close(self._file)
            self._file = None


def cores():
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:
        return os.cpu_count() or 1


def jobs_wanted():
    """MAX_JOBS, else as many as cores and free memory are enough for."""
    value = os.environ.get("MAX_JOBS", "")
    if value.isdigit() and int(value) > 0:
        return int(value)
    free = memory.free_bytes()
    return cores() if free is None else max(1, min(cores(), free // memory.JOB_BYTES))


class Slots:
    """Of the jobs that all builds in a store may run at once: as many as are free, one at least, `most` at most."""

    def __init__(self, directory, total, most):
        self._locks = []
        pause = 0.002
        while not self._locks:
            for number in range(total):
                lock = Lock(directory, "job-%d" % number)
                if lock.try_acquire():
                    self._locks.append(lock)
                if len(self._locks) == most:
                    break
            if not self._locks:
                time.sleep(pause)
                pause = min(pause * 1.5, 0.1)
        self.count = len(self._locks)

    def release(self):
        for lock in self._locks:
            lock.release()
