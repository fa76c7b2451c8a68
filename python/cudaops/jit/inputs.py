# SPDX-License-Identifier: Apache-2.0
"""What a finished build read: Ninja's record of the compilers' dependency files, the tools themselves, linked libraries,
and the places where a file would have been read instead of another."""

import json
import os
import re
import shlex
import subprocess

from .. import depfile
from . import manifest, publish, stamps
from . import sources as texts
from .key import digest, torch_directory


class Inputs:
    """files: real paths; absent, there: places (manifest.py)."""

    def __init__(self, request, project, tree, store_root):
        self.request = request
        self.project = project
        self.tree = tree
        self.id_directory = os.path.join(store_root, "id")
        self.files = set()
        self.absent = set()
        self.there = set()
        self.tools = set()
        self._named = self._named_files()
        self._prefixes = None
        self._report = _read_json(os.path.join(tree, "cudaops-report.json")) or {}
        self._tool_entries = None

    @property
    def report(self):
        return self._report

    def of_build(self, ninja):
        read = self._dependencies(ninja)
        directories, users = self._directories()
        self.files |= {path for path in read if not self._generated(path)}
        reading = texts.Reading(directories)
        for path in read:
            if self._is_users(path) or self._generated(path):
                self._scan(reading, path)
        self._embedded(reading, directories)
        self._hidden(read, directories, users)
        self._common(reading)

    def of_failure(self):
        """Of a compile that left no dependency file: what its sources name, followed through the user's own files."""
        directories, _ = self._directories()
        reading = texts.Reading(directories, self._others())
        for path in self.project.sources:
            reading.add(path)
        for path in list(reading.files):
            for name, quoted in texts.includes(texts.without_comments(reading.files[path])):
                for place in texts.candidates(name, quoted, path, directories):
                    if os.path.isfile(place):
                        self.files.add(os.path.realpath(place))
                        break
        self.files |= set(reading.files)
        self.files = {path for path in self.files if not self._generated(path)}
        self._embedded(reading, directories)
        self._common(reading)

    def find_tools(self):
        """The programs that the build runs and what they are: known from its configure step on."""
        if self._tool_entries is None:
            self._find_tools()
            self._tool_entries = [self._tool_entry(path) for path in sorted(self.tools)]
            stamps.make(os.path.dirname(self.id_directory), next(iter(self._host_compilers()), "cc"))

    def entries(self, started_ns, known):
        """For manifest.data_of(); None where a file changed while the build ran. known: Section.files()"""
        found = []
        for path in sorted(self.files):
            entry = manifest.file_entry(path, started_ns, known.get(path))
            if entry is None:
                return None
            found.append(entry)
        found += self._tool_entries
        found += [("absent", path) for path in sorted(self.absent) if not os.path.lexists(path)]
        found += [("there", path) for path in sorted(self.there)]
        return [entry for entry in found if "\n" not in entry[-1]]

    def _common(self, reading):
        base = os.path.dirname(self.tree)
        # What packages install isn't edited under a build: a file that would hide another is looked for among the user's.
        skipped = (base + "/", *self._others())
        self.absent |= {path for path in reading.absent if not os.path.normpath(path).startswith(skipped)}
        self.there |= {path for path in reading.there if not path.startswith(base)}
        self.files |= set(self.request.paths)
        torch = torch_directory()
        if torch:
            self.files.add(os.path.realpath(os.path.join(torch, "version.py")))
        self._libraries()
        self._response_files()
        for path, stamp in self._named.items():
            if stamp is None:
                self.absent.add(path)
            elif _stamp(path) == stamp:
                self.files.add(os.path.realpath(path))
        self.find_tools()
        self.files -= self.tools

    def _dependencies(self, ninja):
        done = subprocess.run([ninja, "-C", self.tree, "-t", "deps"], capture_output=True, text=True, errors="surrogateescape")
        found = set()
        for line in done.stdout.split("\n"):
            if line.startswith("    "):
                found.add(os.path.join(self.tree, line[4:]))
        return set(map(_Real(), found)) | self._translated()

    def _translated(self):
        """What translations to HIP were made from: Ninja keeps no record of it."""
        found = set()
        for directory, _, names in os.walk(os.path.join(self.tree, self.request.name + ".hipified", ".hipify", "depfiles")):
            for name in names:
                if name.endswith(".d"):
                    found |= set(depfile.written(texts.read(os.path.join(directory, name))))
        return {os.path.realpath(path) for path in found}

    def original(self, path):
        """The user's file in place of its translation, which has the same lines."""
        _, mirror, below = (path or "").partition(self.request.name + ".hipified/")
        # Below the mirror: ".elsewhere1" or "include0" for a directory of the user's.
        tail = below.partition("/")[2]
        return next((file for file in sorted(self._translated()) if tail and file.endswith("/" + tail)), path) if mirror else path

    def _generated(self, path):
        return path.startswith(os.path.dirname(self.tree) + "/")

    def _others(self):
        """Prefixes of files that aren't the user's."""
        if self._prefixes is None:
            from sysconfig import get_path

            from .._package import cmake_dir

            torch = torch_directory()
            roots = [cmake_dir(), os.path.join(os.path.dirname(os.path.dirname(__file__)), "include")]
            roots += [os.path.dirname(torch) if torch else "", self._report.get("toolkit", {}).get("root")]
            roots += [get_path("include"), get_path("platinclude")]
            prefixes = ["/usr/include/", "/usr/lib/", "/usr/local/cuda", "/opt/cuda/", "/opt/cuda-", "/opt/rocm"]
            self._prefixes = tuple(prefixes + [os.path.realpath(root) + "/" for root in roots if root])
        return self._prefixes

    def _is_users(self, path):
        return not path.startswith(self._others())

    def _directories(self):
        """(all that #include looks through, in order; those of them that are the user's)."""
        order = []
        for command in _read_json(os.path.join(self.tree, "compile_commands.json")) or ():
            words = shlex.split(command.get("command", ""))
            for position, word in enumerate(words):
                for option in ("-iquote", "-I", "-isystem", "-idirafter"):
                    if word.startswith(option):
                        value = word[len(option) :] or (words[position + 1] if position + 1 < len(words) else "")
                        value = os.path.normpath(os.path.join(command["directory"], value.lstrip("=")))
                        if os.path.dirname(value) == self.project.directory and os.path.islink(value):
                            value = os.path.realpath(value)
                        if value not in order:
                            order.append(value)
        for variable in ("CPATH", "CPLUS_INCLUDE_PATH"):
            order += [place for place in os.environ.get(variable, "").split(":") if place and place not in order]
        others = self._others()
        users = [place for place in order if not (os.path.realpath(place) + "/").startswith(others)]
        return order, [place for place in users if not self._generated(place + "/")]

    def _scan(self, reading, path):
        try:
            text = texts.read(path)
        except OSError:
            return
        reading.files[path] = text
        follow, reading.add = reading.add, lambda path: None
        try:
            reading.add_text(path, text)
        finally:
            reading.add = follow

    def _embedded(self, reading, directories):
        """What .incbin reads, which no dependency file has. The name may come from a macro, so that every name in quotes counts."""
        if not any(map(texts.embeds, reading.files.values())):
            return
        for text in reading.files.values():
            for name in texts.quoted(text):
                places = texts.candidates(name, False, "", directories)
                file = next(filter(os.path.isfile, places), None)
                if file:
                    self.files.add(os.path.realpath(file))
                elif "." in name and not re.search(r"[\s\\]", name):
                    reading.absent.update(places)

    def _named_files(self):
        """{path: stamp} of the files whose whole path stands in a flag, before the compile: linker scripts, archives inside of
        -Wl, profiles, plug-ins. None for one that isn't there. One that the build writes, such as a map, has another stamp then."""
        found = {}
        for flag in self.request.flags():
            for word in shlex.split(flag):
                for part in [] if _PLACE.search(word) else re.split("[=,@]", word):
                    path = part[2:] if re.match(r"-[TR]/", part) else part
                    # No device, whose contents may have no end.
                    if path[:1] == "/" and (os.path.isfile(path) or not os.path.exists(path)):
                        found[path] = _stamp(path)
        return found

    def _hidden(self, read, directories, users):
        """A file of the same name in a directory of the user's that is looked through earlier."""
        if not users:
            return
        real = [os.path.realpath(place) + "/" for place in directories]
        defaults = ["/usr/include/", "/usr/include/x86_64-linux-gnu/"]
        for path in read:
            tails = [(number, path[len(place) :]) for number, place in enumerate(real) if path.startswith(place)]
            if not tails:
                # The standard library's directories are in no command.
                tail = path.partition("/c++/")[2].partition("/")[2] if "/c++/" in path else ""
                for place in defaults:
                    tail = tail or (path[len(place) :] if path.startswith(place) else "")
                tail = tail or os.path.basename(path)
                tails = [(len(directories), tail)]
            for number, tail in tails:
                for place in directories[:number]:
                    if place in users:
                        self._add_absent(place, tail)

    def _add_absent(self, directory, tail):
        """The first part of the way that isn't there stands for all below it."""
        parts = tail.split("/")
        for count in range(1, len(parts) + 1):
            place = os.path.join(directory, *parts[:count])
            if not os.path.lexists(place):
                self.absent.add(place)
                return

    def _libraries(self):
        words = [word for flag in self.request.ldflags for word in shlex.split(flag)]
        places, position = [], 0
        names = []
        while position < len(words):
            word = words[position]
            for option, into in (("-L", places), ("-l", names)):
                if word.startswith(option):
                    value = word[2:]
                    if not value and position + 1 < len(words):
                        position += 1
                        value = words[position]
                    into.append(os.path.abspath(value) if option == "-L" else value)
            if word[:1] != "-" and os.path.isfile(word):
                self.files.add(os.path.realpath(word))
            position += 1
        places += [place for place in os.environ.get("LIBRARY_PATH", "").split(":") if place]
        for name in names:
            files = [name[1:]] if name.startswith(":") else ["lib%s.so" % name, "lib%s.a" % name]
            for place in (os.path.join(place, file) for place in places for file in files):
                if os.path.isfile(place):
                    self.files.add(os.path.realpath(place))
                    break
                self.absent.add(place)

    def _response_files(self):
        for flag in self.request.flags():
            for word in shlex.split(flag):
                name = word.partition("=")[2] if word.startswith(("--options-file=", "-optf=")) else word[1:]
                if (word.startswith("@") or word.startswith(("--options-file=", "-optf="))) and os.path.isfile(name):
                    self.files.add(os.path.realpath(name))

    def _host_compilers(self):
        """nvcc's, and the one that compiles C++: without CUDA there is only this one, and CUDAHOSTCXX makes them two."""
        found = [self._report.get("host_compiler", {}).get("path")]
        for command in _read_json(os.path.join(self.tree, "compile_commands.json")) or ():
            if os.path.splitext(command["file"])[1] in (".cpp", ".cc", ".cxx"):
                found += shlex.split(command.get("command", ""))[:1]
        return list(dict.fromkeys(filter(None, found)))

    def _find_tools(self):
        tools = self._host_compilers()
        for host in list(tools):
            for name in ("cc1plus", "as", "ld", "collect2"):
                done = subprocess.run([host, "-print-prog-name=" + name], capture_output=True, text=True)
                answer = done.stdout.strip()
                tools.append(answer if "/" in answer else _which(answer))
        toolkit = self._report.get("toolkit", {})
        nvcc = toolkit.get("nvcc") or ""
        if nvcc and self.request.is_cuda():
            root = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
            tools += [nvcc]
            tools += [os.path.join(root, "bin", name) for name in "ptxas cudafe++ fatbinary nvlink nvcc.profile".split()]
            tools += [os.path.join(root, "nvvm", "bin", "cicc"), os.path.join(root, "nvvm", "libdevice", "libdevice.10.bc")]
            for directory in ("lib64", "lib"):
                tools += [os.path.join(root, directory, name) for name in ("libcudart_static.a", "libcudadevrt.a")]
        compiler = self._report.get("rocm", {}).get("compiler")
        if compiler and self.request.is_cuda():
            tools.append(compiler)
        self.tools |= {os.path.realpath(tool) for tool in tools if tool and os.path.isfile(tool)}

    def _tool_entry(self, path):
        """With the digest kept beside the stamp: a compiler is tens of megabytes."""
        stamp = manifest.stamp_of(os.stat(path))
        place = os.path.join(self.id_directory, digest(path))
        try:
            with open(place, encoding="utf-8") as file:
                known, content = file.read().split()
            if known != stamp:
                raise ValueError
        except (OSError, ValueError):
            content = manifest.digest_of(path)
            try:
                publish.write(place, "%s %s\n" % (stamp, content))
            except OSError:
                pass
        return "file", stamp, content, path


# Options whose value is a place, not a file that is read.
_PLACE = re.compile(r"rpath|soname|-prefix-map=|-Map\b|dependency-file")


def _stamp(path):
    try:
        return manifest.stamp_of(os.stat(path))
    except OSError:
        return None


class _Real:
    """os.path.realpath() of many files in few directories."""

    def __init__(self):
        self._directories = {}

    def __call__(self, path):
        place, name = os.path.split(path)
        if name in ("", ".", "..") or os.path.islink(path):
            return os.path.realpath(path)
        real = self._directories.get(place)
        if real is None:
            real = self._directories[place] = os.path.realpath(place)
        return os.path.join(real, name)


def _which(name):
    import shutil

    return shutil.which(name) or ""


def _read_json(path):
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None
