# SPDX-License-Identifier: Apache-2.0
"""Results become visible by one rename; what is old or left behind goes."""

import os
import shutil
import signal

from . import manifest, store
from .lock import Lock

DIRECTORIES = ("m", "o", "t", "l", "id")


def prepare(root):
    """Makes the store's directories, for this user alone. Raises OSError."""
    os.makedirs(os.path.dirname(root), exist_ok=True)
    for directory in (root, *(os.path.join(root, name) for name in DIRECTORIES)):
        try:
            os.mkdir(directory, 0o700)
        except FileExistsError:
            pass
    if not os.access(os.path.join(root, "t"), os.W_OK):
        raise PermissionError(13, "Permission denied", os.path.join(root, "t"))


def write(path, text):
    """Whole or not at all. Raises OSError."""
    beside = "%s.%d.new" % (path, os.getpid())
    try:
        with open(beside, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        os.replace(beside, path)
    except OSError:
        remove(beside)
        raise


def remove(path):
    try:
        os.unlink(path)
    except OSError:
        pass


def remove_tree(path):
    """Also where a child of a killed build still writes into it."""
    dead = os.path.join(os.path.dirname(path), ".dead-%d-%s" % (os.getpid(), os.path.basename(path)[:64]))
    try:
        os.rename(path, dead)
    except OSError:
        dead = path
    for _ in range(3):
        shutil.rmtree(dead, ignore_errors=True)
        if not os.path.lexists(dead):
            return


def sweep(root, own_key):
    """Build directories of processes that are no more. The caller holds the lock of own_key."""
    place = os.path.join(root, "t")
    for name in os.listdir(place):
        path = os.path.join(place, name)
        if name.startswith(".dead-"):
            shutil.rmtree(path, ignore_errors=True)
            continue
        key = name.partition(".")[0]
        if key == own_key:
            _end_orphans(path)
            remove_tree(path)
            continue
        lock = Lock(os.path.join(root, "l"), key)
        if lock.try_acquire():
            if lock.works:
                _end_orphans(path)
                remove_tree(path)
            lock.release()


def _end_orphans(path):
    """The CMake, Ninja and compilers of a killed build: they name its directory, and would make it anew."""
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/cmdline" % name, "rb") as file:
                words = file.read().split(b"\0")
            if os.stat("/proc/" + name).st_uid == os.geteuid() and any(os.fsencode(path) + b"/" in word for word in words):
                os.kill(int(name), signal.SIGKILL)
        except OSError:
            pass  # it has ended by itself


def publish(root, directory, name, key, section):
    """`directory` becomes o/<object>, and its manifest is the first of m/<name>-<key>. Returns the Found."""
    # A path is never used again: a process that has loaded the file there would get the old one without a word.
    first, number = section.object, 1
    place = os.path.join(root, "o", first)
    while os.path.lexists(place):
        number += 1
        section.object = "%s-%d" % (first, number)
        place = os.path.join(root, "o", section.object)
    os.rename(directory, place)
    for earlier in range(1, number):
        remove_tree(os.path.join(root, "o", first if earlier == 1 else "%s-%d" % (first, earlier)))
    found = store.Found(store.Store(root, writable=True), section)
    if section.built == "built":
        section.stamp = manifest.stamp_of(os.stat(found.path))
    path = found.store.manifest_path(name, key)
    others = [other for other in manifest.read(path) or () if other.object.partition("-")[0] != first]
    write(path, manifest.text_of([section, *others]))
    for other in others[manifest.SECTIONS - 1 :]:
        remove_tree(os.path.join(root, "o", other.object))
    trim(root, keep=section.object)
    return found


def size_limit(text=None):
    """Bytes, of `text` or of CUDAOPS_JIT_MAX_SIZE. Raises ValueError."""
    name = "CUDAOPS_JIT_MAX_SIZE" if text is None else "--size"
    text = (os.environ.get(name, "") if text is None else text).strip()
    if not text and name != "--size":
        return store.MAX_SIZE
    units = {"K": 10, "M": 20, "G": 30, "T": 40}
    number, unit = text.rstrip("Bb").rstrip("i"), 0
    if number[-1:].upper() in units:
        number, unit = number[:-1], units[number[-1:].upper()]
    try:
        size = int(float(number) * (1 << unit))
        if size < 0:
            raise ValueError
        return size
    except (ValueError, OverflowError):
        raise ValueError("%s: not a size.\n  found   %s\n  wanted  bytes, or 20G, 500M\nFix: %s%s10G" % (name, text, name, " " if name == "--size" else "=")) from None


def tree_size(path):
    total = 0
    for directory, _, names in os.walk(path):
        for name in names:
            try:
                total += os.lstat(os.path.join(directory, name)).st_size
            except OSError:
                pass
    return total


def trim(root, limit=None, keep=None):
    """Removes what was used longest ago until the objects fit. Returns (bytes before, bytes after)."""
    limit = size_limit() if limit is None else limit
    place = os.path.join(root, "o")
    objects = []
    for name in os.listdir(place):
        path = os.path.join(place, name)
        try:
            objects.append((os.stat(path).st_mtime_ns, name, tree_size(path)))
        except OSError:
            pass
    total = before = sum(size for _, _, size in objects)
    for _, name, size in sorted(objects):
        if total <= limit:
            break
        if name != keep:
            remove_tree(os.path.join(place, name))
            total -= size
    if total < before:
        forget_lost(root)
    return before, total


def forget_lost(root):
    """Manifests whose objects are all gone."""
    place = os.path.join(root, "m")
    for name in os.listdir(place):
        if "-" not in name:
            continue
        path = os.path.join(place, name)
        sections = manifest.read(path)
        if sections and not any(os.path.isdir(os.path.join(root, "o", section.object)) for section in sections):
            remove(path)
