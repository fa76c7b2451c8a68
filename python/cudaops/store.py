# SPDX-License-Identifier: Apache-2.0
"""The user's store, and files that several processes read and write at once: nobody ever reads half of one."""

import os


def location():
    """<store>, where CMake's part keeps its things too; and the variable that says so."""
    for name, below in (("CUDAOPS_STORE", ""), ("TORCH_EXTENSIONS_DIR", "cudaops"), ("XDG_CACHE_HOME", "cudaops")):
        value = os.environ.get(name)
        if value:
            # A ~ is what no shell has seen: of a Dockerfile, a settings file, a quoted text. CMake's part expands it, too.
            return os.path.join(os.path.abspath(os.path.expanduser(value)), below).rstrip("/"), name
    return os.path.join(os.path.expanduser("~"), ".cache", "cudaops"), "HOME"


def stamp(path):
    info = os.stat(path)
    return (info.st_size, info.st_mtime_ns, info.st_ino)


class Lock:
    def __init__(self, path):
        self.path = path

    def __enter__(self):
        import fcntl  # Here: what load() finds again takes no lock, and imports only what it uses.

        self.file = open(self.path, "ab")
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        self.file.close()


def replace(path, data, directory=None):
    """Nobody ever reads half of a file. <directory>, which sweep() clears, takes what is half written; or that of <path>."""
    beside = os.path.dirname(path)
    temporary = os.path.join(directory or beside, "%s.%d" % ("tmp" if directory else ".cudaops-tmp", os.getpid()))
    if directory:
        os.makedirs(beside, exist_ok=True)
    try:
        with open(temporary, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        remove(temporary)
        raise


def sweep(directory):
    """Removes what killed processes have left."""
    for name in os.listdir(directory):
        if name.startswith("tmp."):
            try:
                os.kill(int(name.split(".")[1]), 0)
            except ProcessLookupError:
                remove_tree(os.path.join(directory, name))
            except (OSError, ValueError):
                pass


def remove_tree(path):
    for place, _, files in os.walk(path, topdown=False):
        for name in files:
            remove(os.path.join(place, name))
        os.rmdir(place)
    remove(path)


def remove(path):
    try:
        os.unlink(path)
    except OSError:
        pass


def content(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None
