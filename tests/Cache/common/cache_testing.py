# SPDX-License-Identifier: Apache-2.0
"""Compiles through the launcher of a configured build tree, and without it, and compares the objects."""

import hashlib
import os
import pathlib
import re
import shlex
import subprocess


class Failure(Exception):
    pass


def run(command, cwd, env, check=True):
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, errors="replace")
    if check and done.returncode != 0:
        raise Failure(f"exit code {done.returncode}: {shlex.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done


class Tree:
    """A build tree whose CudaOps/cache holds the launcher's settings."""

    def __init__(self, repo, build, cache_dir, env=None):
        self.repo = pathlib.Path(repo).resolve()
        self.build = pathlib.Path(build).resolve()
        self.launcher = self.build / "CudaOps/cudaops-launch"
        self.env = dict(os.environ if env is None else env)
        self.env["CCACHE_DIR"] = str(cache_dir)
        self.settings = {}
        for kind in ("cuda", "hip", "cxx"):
            file = self.build / "CudaOps/cache" / f"{kind}.settings"
            if file.exists():
                self.settings[kind] = dict(re.findall(r"^(\w+)\t(.*)$", file.read_text(), re.M))

    def command(self, kind):
        return self.settings[kind]["compiler"]

    def cached(self, kind, args, env=None, cwd=None, check=True):
        command = [
            str(self.launcher),
            str(self.build / "CudaOps/cache" / f"{kind}.settings"),
            self.command(kind),
            *args,
        ]
        return run(command, cwd or self.build, {**self.env, **(env or {})}, check)

    def plain(self, kind, args, env=None, cwd=None, check=True):
        return run([self.command(kind), *args], cwd or self.build, {**self.env, **(env or {})}, check)

    def hits(self):
        """Hits and calls so far, as the cache itself counts."""
        cuda = next(iter(self.settings.values()))
        if cuda["engine"] == "sccache":
            said = run([cuda["cache"], "--show-stats"], self.build, self.env).stdout
            hits = re.search(r"^Cache hits +(\d+)", said, re.M)
            calls = re.search(r"^Compile requests +(\d+)", said, re.M)
            return int(hits[1]), int(calls[1])
        said = run([cuda["cache"], "--print-stats"], self.build, self.env).stdout
        counts = {key: int(value) for key, value in re.findall(r"^(\w+)\t(\d+)$", said, re.M)}
        hit = counts.get("direct_cache_hit", 0) + counts.get("preprocessed_cache_hit", 0)
        return hit, hit + counts.get("cache_miss", 0)


def content(path):
    """What the linker and the device see of an object: all but the names of nvcc's temporary files."""
    path = pathlib.Path(path)
    bare = path.with_suffix(".bare")
    subprocess.run(["objcopy", "--strip-unneeded", str(path), str(bare)], check=True, capture_output=True)
    data = bare.read_bytes()
    bare.unlink()
    return hashlib.sha256(data).hexdigest()


def headers(depfile):
    """The prerequisites in a dependency file."""
    text = pathlib.Path(depfile).read_text().replace("\\\n", " ")
    names = re.findall(r"(?:\\.|[^\s\\])+", text.split(":", 1)[1])
    return [re.sub(r"\\(.)", r"\1", name).replace("$$", "$") for name in names]
