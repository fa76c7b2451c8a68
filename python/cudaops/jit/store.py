# SPDX-License-Identifier: Apache-2.0
"""The store on disk: where it is, who may write it, how a result becomes visible, and how it stays small.

    <store>/jit/m/<name>-<key>        manifest of up to four builds
                m/<name>              the key's lines at the last call, and why that one missed
                o/<object>/           library, log, sources; never changed once it has its name
                t/<key>.<pid>/        a build at work
                l/                    files for flock
"""

import os

from ..store import location
from . import manifest, stamps

MAX_SIZE = 10 << 30
# Of a manifest: two hundred files are sooner compared than a library is loaded.
IN_C_BYTES = 20_000


def user_store():
    return Store(os.path.join(location()[0], "jit"), writable=True)


def layers():
    """The read-only ones of CUDAOPS_JIT_PATH, each a store's root or a bundle."""
    found = []
    for place in os.environ.get("CUDAOPS_JIT_PATH", "").split(":"):
        if place:
            place = os.path.expanduser(place)
            below = os.path.join(place, "jit")
            found.append(Store(below if os.path.isdir(below) else place, writable=False))
    return found


class Found:
    """A build's result in a store."""

    __slots__ = ("store", "section", "directory", "path")

    def __init__(self, store, section):
        self.store = store
        self.section = section
        self.directory = os.path.join(store.root, "o", section.object)
        self.path = os.path.join(self.directory, section.file)


class Store:
    def __init__(self, root, writable):
        self.root = root
        self.writable = writable

    def problem(self):
        """Why nothing may be loaded from here; None where it may, or where nothing is here yet."""
        for directory in (self.root, *(os.path.join(self.root, name) for name in ("m", "o", "id"))):
            try:
                stat = os.stat(directory)
            except FileNotFoundError:
                return None if self.writable or directory != self.root else "%s isn't there" % directory
            except OSError as error:
                return "%s: %s" % (directory, os.strerror(error.errno))
            if stat.st_mode & 0o022:
                return "others can write to %s (mode %o)" % (directory, stat.st_mode & 0o7777)
            if self.writable and stat.st_uid != os.geteuid():
                return "%s belongs to another user (uid %d)" % (directory, stat.st_uid)
        if os.statvfs(self.root).f_flag & os.ST_NOEXEC:
            return "%s is on a file system that is mounted noexec: no library can be loaded from it" % self.root
        return None

    def manifest_path(self, name, key):
        return os.path.join(self.root, "m", "%s-%s" % (name, key))

    def find(self, name, key, known):
        """(Found or None, what stood against it: None or (kind, path) of the newest section).

        A Found whose section is "failed" is a kept compile error.
        """
        path = self.manifest_path(name, key)
        reason = None
        try:
            for section in manifest.each(path):
                in_c = stamps.function(self.root) if self.writable and len(section.data) > IN_C_BYTES else None
                change = section.changed(known, in_c)
                if change is None:
                    found = Found(self, section)
                    change = self._damage(found)
                    if change is None:
                        return found, None
                reason = reason or change
        except ValueError:
            return None, ("damaged", path)
        return None, reason

    def _damage(self, found):
        section = found.section
        failed = section.built == "failed"
        path = os.path.join(found.directory, "error") if failed else found.path
        try:
            stamp = manifest.stamp_of(os.stat(path))
            if not failed and stamp != section.stamp and manifest.digest_of(path) != section.digest:
                return "damaged", path
        except OSError:
            return "lost", path
        if self.writable:
            try:
                os.utime(found.directory)
            except OSError:
                pass  # only its place in the order of use
        return None
