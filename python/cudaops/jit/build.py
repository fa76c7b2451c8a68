# SPDX-License-Identifier: Apache-2.0
"""A miss: one process configures, compiles, and publishes; the others wait and find."""

import errno
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time

from . import failure, manifest, publish, why
from . import policy as policies
from . import store as stores
from .errors import BuildError
from .inputs import Inputs
from .key import digest
from .lock import Lock, Slots, jobs_wanted
from .sources import names_torch

_LAUNCHERS = ("ccache", "sccache", "distcc", "icecc")
_FULL = (errno.ENOSPC, errno.EDQUOT)
# What compilers and linkers say where a header is missing.
_MISSES_A_HEADER = re.compile(
    r"declared|has no member|is not a member|incomplete type|does not name a (?:type|template)|no match(?:ing)? |undefined|"
    r"no suitable|no instance of|no operator"
)
# Paths that CMake can't be told.
_UNSPEAKABLE = re.compile(r'[;"\\<>\n]')
_private = None


def obtain(request, own, key, lines, change, policy, verbose):
    """(Found, state, reason) of a key that no store has."""
    reason = _reason(request, own, lines, change)
    policies.allow(request.name, reason, policy)
    programs = tools(request.name)
    publish.size_limit()  # a misspelt one is said before the compile
    own = _writable(request, own, change)
    if change and change[0] in ("damaged", "lost"):
        print("cudaops: %s: %s; it is built again." % (request.name, reason), file=sys.stderr, flush=True)
    _write_record(own, request, reason, lines)
    lock = Lock(os.path.join(own.root, "l"), key).acquire(request.name)
    try:
        found, _ = own.find(request.name, key, {})
        if found:
            return found, "CACHED", ""
        if lock.works:
            publish.sweep(own.root, key)
        return Build(request, own, key, programs, reason, verbose).run(), "COMPILED", reason
    except OSError as error:
        if error.errno in _FULL:
            raise failure.error(request.name, "the disk of the store is full.", fix=_other_store(own)) from error
        raise
    finally:
        lock.release()


def kept_error(request, found):
    """The BuildError of a compile that has failed before with what is still the same."""
    with open(os.path.join(found.directory, "error"), encoding="utf-8", errors="surrogateescape") as file:
        head, _, message = file.read().partition("\n\n")
    fields = dict(line.partition("=")[::2] for line in head.split("\n"))
    return failure.error(
        request.name,
        message,
        fields.get("file") or None,
        int(fields["line"]) if fields.get("line") else None,
        fields.get("command") or None,
        os.path.join(found.directory, "log"),
        known=True,
    )


def copy_out(found, directory, intermediates):
    """build_directory: copies of the library and the log, and with keep_intermediates of the generated sources."""
    os.makedirs(directory, exist_ok=True)
    for name in os.listdir(found.directory):
        path = os.path.join(found.directory, name)
        if name == found.section.file or (name == "log" and not _is_users(os.path.join(directory, name))):
            # Another process may have this very file open as its library.
            beside = os.path.join(directory, "%s.%d.new" % (name, os.getpid()))
            shutil.copy2(path, beside)
            os.replace(beside, os.path.join(directory, name))
        elif name == "source" and intermediates:
            users = [name for name in ("CMakeLists.txt",) if _is_users(os.path.join(directory, name))]
            shutil.copytree(path, directory, dirs_exist_ok=True, ignore=lambda *_: users)


def _is_users(path):
    """Whether this log or CMakeLists.txt was there: torch's load() has no files of these names, and works in a project's directory."""
    try:
        with open(path, "rb") as file:
            return not re.match(rb"\$ |cmake_minimum_required\(VERSION 3.25\)\nproject\(\w+_[0-9a-f]{12} ", file.read(4096))
    except IsADirectoryError:
        return True
    except OSError:
        return False


def _reason(request, own, lines, change):
    if change and change[0] != "layer":
        return why.of_change(change, request.paths)
    before = why.read_record(own.root, request.name)[1] if own else None
    reason = why.of_lines(before, lines) if before else "first build"
    return "%s; %s" % (reason, why.of_change(change)) if change else reason


def _write_record(own, request, reason, lines):
    try:
        publish.write(why.record_path(own.root, request.name), "\n".join([reason, *lines]) + "\n")
    except OSError:
        pass  # the next reason is less exact


def tools(name):
    """{"cmake": path, "ninja": path}"""
    found, missing = {}, []
    for program in ("cmake", "ninja"):
        path = _packaged(program) or shutil.which(program)
        if path:
            found[program] = path
        else:
            missing.append(program)
    if missing:
        raise failure.error(
            name,
            "there is no %s, neither on PATH nor in this Python." % " and no ".join(missing),
            fix='pip install "cudaops[jit]"   (or: pip install %s)' % " ".join(missing),
        )
    return found


def _packaged(name):
    """The program itself of PyPI's wheel: its launcher on PATH is a Python script that starts a Python."""
    path = shutil.which(name)
    if path is None or os.path.realpath(os.path.dirname(path)) != os.path.realpath(os.path.dirname(sys.executable)):
        if path is not None:
            return path
    from importlib.util import find_spec

    spec = find_spec(name)
    if spec is None or not spec.origin:
        return path
    place = os.path.dirname(spec.origin)
    for program in (os.path.join(place, "data", "bin", name), os.path.join(os.path.dirname(place), "bin", name)):
        if os.access(program, os.X_OK):
            return program
    return path


def _other_store(own):
    return "CUDAOPS_STORE=<another directory>   (now %s)" % os.path.dirname(own.root)


def _writable(request, own, change):
    """The user's store, or a private directory of this process, with one line that says why."""
    global _private
    problem = None
    if own is not None and _UNSPEAKABLE.search(own.root):
        raise failure.error(
            request.name, "no CMake project can be built in %s: there is one of ; \" \\ < > in its name." % own.root, fix=_other_store(own)
        )
    if own is None:
        problem = change[1] if change and change[0] == "store" else "it can't be used"
    else:
        try:
            publish.prepare(own.root)
            problem = own.problem()
        except OSError as error:
            problem = "%s: %s" % (own.root, os.strerror(error.errno))
    if problem is None:
        return own
    if _private is None:
        import atexit
        import tempfile

        _private = os.path.join(tempfile.mkdtemp(prefix="cudaops-"), "jit")
        atexit.register(_remove_private, os.path.dirname(_private), os.getpid())
        publish.prepare(_private)
        print(
            "cudaops: the store isn't used (%s); builds of this process are in %s, until it ends.\n"
            "Fix: CUDAOPS_STORE=<directory of your own>" % (problem, os.path.dirname(_private)),
            file=sys.stderr,
            flush=True,
        )
    return stores.Store(_private, writable=True)


def _remove_private(path, pid):
    if os.getpid() == pid:  # not a child, which may end first
        shutil.rmtree(path, ignore_errors=True)


def _environment():
    environment = dict(os.environ)
    for name in list(environment):
        if name in ("CMAKE_GENERATOR", "CMAKE_BUILD_TYPE", "SKBUILD", "NINJA_STATUS", "MAKEFLAGS", "CMAKE_COLOR_DIAGNOSTICS"):
            del environment[name]
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        # The first error is looked for in English.
        if environment.get(name, "C").split(".")[0].split("_")[0] not in ("C", "POSIX", "en", ""):
            environment[name] = "C.UTF-8"
    for name in ("CXX", "CC", "PYTORCH_NVCC"):
        words = shlex.split(environment.get(name, ""))
        if len(words) > 1 and os.path.basename(words[0]) in _LAUNCHERS:
            # The cache is CudaOps' own business.
            environment[name] = " ".join(words[1:])
    if environment.get("PYTORCH_NVCC"):
        environment["CUDACXX"] = environment["PYTORCH_NVCC"]
    if environment.get("CC") and not environment.get("CUDAHOSTCXX"):
        environment["CUDAHOSTCXX"] = environment["CC"]
    return environment


def _import_later():
    """What the rest of a build needs."""
    from .. import _library  # noqa: F401


def _is_deleted_here():
    """Whether the current directory was deleted: CMake doesn't start there."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


class _Changed(Exception):
    """A file changed while it was compiled."""


class Build:
    """One build into a store; report: what CMake found, as in cudaops-report.json."""

    def __init__(self, request, own, key, tools, reason, verbose):
        self.request = request
        self.own = own
        self.key = key
        self.tools = tools
        self.reason = reason
        self.verbose = verbose
        self.directory = os.path.join(own.root, "t", "%s.%d" % (key, os.getpid()))
        self.log = os.path.join(self.directory, "log")
        self.report = {}
        self.not_fast = ""

    def run(self):
        headers = "full" if self.request.headers == "full" else "slim"
        if self.request.headers == "fast" and self._may_be_fast():
            headers = "fast"
        progress = threading.Timer(1.0, self._say)
        progress.daemon = True
        progress.start()
        try:
            for _ in range(4):
                publish.remove_tree(self.directory)
                os.mkdir(self.directory)
                try:
                    found, failed = self._once(headers)
                except _Changed:
                    continue
                if failed:
                    headers = self._next_headers(headers, failed)
                    continue
                return found
            raise failure.error(self.request.name, "its files change all the time while they are compiled.")
        finally:
            progress.cancel()
            publish.remove_tree(self.directory)

    def _say(self):
        last = ""
        for section in manifest.read(self.own.manifest_path(self.request.name, self.key)) or ():
            if "seconds" in section.facts:
                last = "; last time it took %s s" % section.facts["seconds"]
                break
        text = "cudaops: building %s (%s), log %s%s" % (self.request.name, self.reason, self.log, last)
        print(text, file=sys.stderr, flush=True)

    def _may_be_fast(self):
        """Whether the fast headers are for this text, by its names; with one line where they aren't."""
        from . import fast

        reason = fast.refusal(self.request)
        if reason is None:
            try:
                fast.provide_bridge()
            except BuildError as error:
                reason = "the bridge to torch can't be built: %s" % error.message
        if reason:
            self._say_not_fast(reason)
        return reason is None

    def _say_not_fast(self, reason):
        self.not_fast = reason
        print("cudaops: %s: torch's own headers, not the fast ones: %s" % (self.request.name, reason), file=sys.stderr, flush=True)

    def _next_headers(self, headers, failed):
        """What is tried next where a compile failed for want of headers: None where it would fail with torch's, too."""
        wants_header = names_torch(failed.message) or bool(_MISSES_A_HEADER.search(failed.message))
        if headers == "fast" and wants_header:
            return "slim"
        if headers == "slim" and self.request.headers in ("auto", "fast") and self.project.slim_differs and wants_header:
            return "full"
        return None

    def _once(self, headers):
        """(Found, None) or (the Found of a kept failure, Failure); raises what isn't kept."""
        started = time.monotonic()
        started_ns = os.stat(self.directory).st_ctime_ns
        self.project = self.request.project(os.path.join(self.directory, "p"), headers)
        tree = os.path.join(self.directory, "b")
        failed = self._run(self._configure(tree), _import_later, at_configure=True)
        inputs = Inputs(self.request, self.project, tree, self.own.root)
        if failed is None:
            wanted = jobs_wanted()
            slots = Slots(os.path.join(self.own.root, "l"), wanted, min(wanted, len(self.project.sources) + 1))
            try:
                command = [self.tools["ninja"], "-C", tree, "-j%d" % slots.count]
                failed = self._run(command, inputs.find_tools, at_configure=False)
            finally:
                slots.release()
        self.report = inputs.report
        if failed:
            failed.file = inputs.original(failed.file)
        if failed is None:
            inputs.of_build(self.tools["ninja"])
        elif failed.kept:
            inputs.of_failure()
        else:
            raise self._error(failed)
        entries = inputs.entries(started_ns, self._known())
        if entries is None:
            raise _Changed
        facts = {
            "abi": self.project.abi if self.request.kind != "executable" else "",
            "headers": self.project.headers,
            "name": self.request.name,
            "ops": " ".join(self.project.ops),
            "schemas": "; ".join("%s::%s" % schema for schema in self.project.schemas),
            "seconds": "%.1f" % (time.monotonic() - started),
            "torch": inputs.report.get("torch", {}).get("version") or "",
        }
        if self.not_fast:
            facts["not_fast"] = " ".join(self.not_fast.split())
        if self.project.unread_namespaces:
            facts["unread_namespaces"] = " ".join(self.project.unread_namespaces)
        if failed:
            if self._next_headers(headers, failed):
                if headers == "fast":
                    self._say_not_fast("%s%s" % (failed.file and "%s:%s: " % (failed.file, failed.line) or "", failed.message))
                return None, failed
            self._publish_failure(failed, facts, entries)
        return self._publish(tree, inputs.report, facts, entries), None

    def _known(self):
        """What earlier builds of this key read, by path: (stamp, digest)."""
        known = {}
        for section in reversed(manifest.read(self.own.manifest_path(self.request.name, self.key)) or ()):
            known.update(section.files())
        return known

    def _configure(self, tree):
        from .._package import cmake_dir

        settings = {
            "CMAKE_BUILD_TYPE": "Release",
            "CMAKE_EXPORT_COMPILE_COMMANDS": "ON",
            "CMAKE_MAKE_PROGRAM": self.tools["ninja"],
            "CMAKE_PROJECT_TOP_LEVEL_INCLUDES": os.path.join(cmake_dir(), "CudaOpsSeed.cmake"),
            "CudaOps_ROOT": cmake_dir(),
            "Python_EXECUTABLE": sys.executable,
        }
        if stores.location()[1] == "TORCH_EXTENSIONS_DIR":
            settings["CUDAOPS_STORE"] = os.path.dirname(self.own.root)
        if self.project.architectures:
            hip = self.project.architectures.startswith("gfx")
            settings["CMAKE_%s_ARCHITECTURES" % ("HIP" if hip else "CUDA")] = self.project.architectures
        command = [self.tools["cmake"], "-G", "Ninja", "-Wno-dev", "-S", self.project.directory, "-B", tree]
        return command + ["-D%s=%s" % item for item in settings.items()]

    def _run(self, command, meanwhile, at_configure):
        """None, or the Failure. meanwhile() is called as soon as the process runs."""
        with open(self.log, "ab") as log:
            log.write(("$ %s\n" % shlex.join(command)).encode("utf-8", "surrogateescape"))
            log.flush()
            start = log.tell()
            process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env=_environment(),
                cwd=self.directory if _is_deleted_here() else None,
            )
            with process.stdout:
                try:
                    meanwhile()
                    # Through a pipe: when this process is killed, Ninja ends with its next line.
                    for line in process.stdout:
                        log.write(line)
                        if self.verbose:
                            sys.stdout.write(line.decode("utf-8", "replace"))
                            sys.stdout.flush()
                    code = process.wait()
                except BaseException:
                    process.terminate()
                    process.wait()
                    raise
        if code == 0:
            return None
        with open(self.log, "rb") as log:
            log.seek(start)
            output = log.read().decode("utf-8", "replace")
        failed = failure.Failure(output, at_configure)
        if code < 0:
            failed.kept = False
            failed.message = "%s was ended by signal %d" % (os.path.basename(command[0]), -code)
        elif at_configure and not failed.space and shutil.disk_usage(self.log).free < 1 << 20:
            # CMake doesn't say it of its own files, only what it can't do without them.
            failed.of_space("less than 1 MiB is left for " + os.path.dirname(self.log))
        return failed

    def _error(self, failed):
        """One that isn't kept; its log is put where it can be read after the build directory is gone."""
        place = os.path.join(self.own.root, "o", "log-" + self.request.name)
        fix = failed.fix
        try:
            os.makedirs(place, exist_ok=True)
            shutil.copyfile(self.log, os.path.join(place, "log"))
            log = os.path.join(place, "log")
        except OSError:
            log = None
        if failed.space:
            fix = _other_store(self.own)
            temporary = os.environ.get("TMPDIR") or "/tmp"
            if temporary + "/" in failed.space and self.own.root + "/" not in failed.space:
                fix = "TMPDIR=<another directory>   (now %s)" % temporary
        return failure.error(self.request.name, failed.message, failed.file, failed.line, failed.command, log, fix=fix)

    def _object_key(self, entries):
        inputs = [" ".join(entry[2:] if entry[0] == "file" else entry) for entry in entries]
        return digest("\n".join([self.key, *sorted(inputs)]))

    def _publish_failure(self, failed, facts, entries):
        fields = "file=%s\nline=%s\ncommand=%s\n\n%s" % (
            failed.file or "",
            failed.line or "",
            failed.command or "",
            failed.message,
        )
        publish.write(os.path.join(self.directory, "error"), fields)
        key = self._object_key(entries) + "x"
        section = manifest.Section(["failed", key, "-", "-", "-"], facts, manifest.data_of(entries))
        found = self._make_visible(section, "error", "log")
        log = os.path.join(found.directory, "log")
        raise failure.error(self.request.name, failed.message, failed.file, failed.line, failed.command, log)

    def _publish(self, tree, report, facts, entries):
        built = os.path.join(tree, self.request.name)
        if self.project.headers == "fast":
            built += ".so"
        elif self.request.kind != "executable":
            op = next(op for op in report["ops"] if op["name"] == self.request.name)
            if op["state"] == "NOT_BUILT":
                raise failure.error(self.request.name, "%s: %s" % (op["reason_code"], op["reason"]))
            built = op["library"]
            self._check(built)
            facts["architectures"] = " ".join(op["architectures"])
            if op["state"] == "CPU_ONLY":
                facts["cpu_only"] = "%s: %s" % (op["reason_code"], " ".join(op["reason"].split()))
        file = os.path.basename(built)
        commands = os.path.join(tree, "compile_commands.json")
        for path, name in ((built, file), (self.project.directory, "source"), (commands, "compile_commands.json")):
            os.rename(path, os.path.join(self.directory, name))
        path = os.path.join(self.directory, file)
        head = ["built", self._object_key(entries), file, "-", manifest.digest_of(path)]
        section = manifest.Section(head, facts, manifest.data_of(entries))
        return self._make_visible(section, file, "source", "compile_commands.json", "log")

    def _check(self, built):
        """As load_library() does; what is in the store is loaded without: nothing that it follows from has changed then."""
        from .. import _library

        problems = _library.inspect(built)["problems"]
        if problems:
            raise failure.error(self.request.name, "what was built can't be loaded: " + problems[0])

    def _make_visible(self, section, *names):
        """The build directory becomes the object: whenever this process is killed, nothing is left of it in t/."""
        for name in os.listdir(self.directory):
            if name not in names:
                publish.remove_tree(os.path.join(self.directory, name))
        return publish.publish(self.own.root, self.directory, self.request.name, self.key, section)
