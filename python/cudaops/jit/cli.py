# SPDX-License-Identifier: Apache-2.0
"""python -m cudaops build, cache, doctor, report."""

import gzip
import json
import os
import sys
import tarfile
import time
import zlib

from ..problem import Problem
from . import bundle, errors, manifest, publish, why
from . import store as stores
from .recipe import Recipe, RecipeError

COMMANDS = ("build", "cache", "doctor", "report")
EXPORTED = ("m", "o")
try:
    from compression.zstd import ZstdError

    ZSTD_ERRORS = (ZstdError,)
except ImportError:  # before Python 3.14
    ZSTD_ERRORS = ()


def add_commands(commands):
    build = commands.add_parser(
        "build",
        help="build ops that a package brings as recipes, into the store or a bundle",
        description="Builds what OpLibrary() would build at first use: the recipes of packages, of CMake projects "
        "(add_torch_op(... RECIPE)), or single ones. What is built already is left alone.",
        epilog="Exit code: 0; 1 where one can't be built; 2 where there is no recipe.",
    )
    build.add_argument("what", nargs="+", help="a package's name, a directory (package or project), a .recipe.json")
    build.add_argument("--bundle", metavar="DIR", help="copy the results there, for machines without compilers")
    build.add_argument("--verbose", action="store_true", help="show the builds")
    build.add_argument("--json", action="store_true", help="for programs")
    doctor = commands.add_parser(
        "doctor",
        help="can ops be built here, and what keeps them from being built quickly",
        description="Looks at programs, environment, jobs, store; builds a small op, cold and cached, and says what CMake found.",
        epilog="Exit code: 0 nothing to mend, 1 warnings, 2 ops can't be built.",
    )
    doctor.add_argument("--json", action="store_true", help="for programs")
    report = commands.add_parser(
        "report",
        help="each op that the packages of this Python bring as a recipe, its state and why",
        description="Says of each op that packages bring (add_torch_op(... RECIPE)) whether it is prebuilt, cached, or has to "
        "be built, and why. Loads and builds nothing.",
        epilog="Exit code: 0; 1 where an op is neither prebuilt nor cached.",
    )
    report.add_argument("--json", action="store_true", help="for programs")
    cache = commands.add_parser(
        "cache",
        help="what load(), load_inline() and OpLibrary() have built: list, why, verify, trim, export, import",
        description="Looks after the store of built ops (CUDAOPS_STORE).",
        epilog="Exit code: 0; 1 where verify finds damage; 2 for what isn't there.",
    )
    parts = cache.add_subparsers(dest="part", metavar="{list,why,verify,trim,export,import}", required=True)
    for name, text in (
        ("list", "what is in it, the last used first"),
        ("why", "why the last call of this name had to build"),
        ("verify", "compare every library with its digest"),
        ("trim", "keep within CUDAOPS_JIT_MAX_SIZE, or --size"),
        ("export", "everything as one file (.tar.gz or .tar.zst)"),
        ("import", "what export wrote"),
    ):
        part = parts.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        part.add_argument("--json", action="store_true", help="for programs")
        if name == "why":
            part.add_argument("name", help="the first argument of load(), or the op's name")
        elif name == "trim":
            part.add_argument("--size", help="bytes, or 20G, 500M")
        elif name in ("export", "import"):
            part.add_argument("file")


def run(options):
    try:
        if options.command == "build":
            return build(options)
        if options.command in ("doctor", "report"):
            from . import doctor

            return getattr(doctor, options.command)(options)
        return globals()["cache_" + options.part](options)
    except Problem as problem:
        print(problem.text("cudaops " + options.command), file=sys.stderr)
        return 2
    except OSError as error:
        if error.filename is None:  # of the output
            raise
        fix = ["a path that this user can read and write, on a disk with room; CUDAOPS_STORE=<directory> for another store"]
        problem = Problem("", "%s." % os.strerror(error.errno), ["found   %s" % error.filename], fix)
        print(problem.text("cudaops " + options.command), file=sys.stderr)
        return 2
    except (RecipeError, ValueError) as error:
        print("cudaops %s: %s" % (options.command, error), file=sys.stderr)
        return 2


def recipes_of(item):
    """[Recipe] of a package's name, a directory or a file. Raises Problem."""
    item = os.fspath(item)
    if os.path.isfile(item):
        return [Recipe(item)]
    if os.path.isdir(item):
        if os.path.isfile(os.path.join(item, "CMakeLists.txt")):
            return _of_project(item)
        found = _below([item])
    else:
        from importlib.util import find_spec

        try:
            spec = find_spec(item)
        except (ImportError, ValueError):
            spec = None
        if spec is None:
            raise Problem(
                "",
                "%s is neither a file, a directory nor a package of this Python." % item,
                ["Python  %s" % sys.executable],
                ["pip install %s" % item, "the path of a package, a project or a .recipe.json"],
            )
        found = _below(spec.submodule_search_locations or ())
    if not found:
        raise Problem("", "%s holds no .recipe.json." % item, (), ["add_torch_op(... INSTALL <dir> RECIPE), and install it"])
    return [Recipe(path) for path in found]


def _below(directories):
    return sorted(
        os.path.join(place, name)
        for directory in directories
        for place, _, names in os.walk(directory)
        for name in names
        if name.endswith(".recipe.json")
    )


def _of_project(directory):
    """Configures it, and installs nothing but its recipes, into the store."""
    import subprocess

    from .._package import cmake_dir
    from . import build as builds
    from .key import digest

    name = os.path.basename(os.path.realpath(directory))
    root = stores.user_store().root
    publish.prepare(root)
    place = os.path.join(root, "p", "%s-%s" % (name, digest(os.path.realpath(directory))[:12]))
    tools = builds.tools(name)
    command = [tools["cmake"], "-G", "Ninja", "-Wno-dev", "-S", directory, "-B", os.path.join(place, "b")]
    command += ["-DCMAKE_MAKE_PROGRAM=" + tools["ninja"], "-DCudaOps_ROOT=" + cmake_dir()]
    command += ["-DPython_EXECUTABLE=" + sys.executable, "-DCMAKE_BUILD_TYPE=Release"]
    prefix = os.path.join(place, "prefix")
    publish.remove_tree(prefix)
    for step in (
        command,
        [tools["cmake"], "--install", os.path.join(place, "b"), "--component", "cudaops_recipes", "--prefix", prefix],
    ):
        done = subprocess.run(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if done.returncode:
            raise Problem("", "%s can't be configured." % directory, done.stdout.strip().splitlines())
    found = _below([prefix])
    if not found:
        raise Problem("", "%s installs no recipe." % directory, (), ["add_torch_op(... INSTALL <dir> RECIPE)"])
    return [Recipe(path) for path in found]


def build(options):
    from .library import obtain

    code, results = 0, []
    for item in options.what:
        for recipe in recipes_of(item):
            result = {"name": recipe.name, "recipe": recipe.path}
            try:
                found, state = obtain(recipe, options.verbose)
                if found is None:
                    raise errors.PolicyError(state)
                result.update(state=state, path=found.path, architectures=found.section.facts.get("architectures", ""))
                if "cpu_only" in found.section.facts:
                    result["cpu_only"] = found.section.facts["cpu_only"]
                if options.bundle:
                    result["bundle"] = bundle.add(options.bundle, recipe, found)
            except (errors.BuildError, errors.PolicyError) as error:
                code = 1
                result.update(state="FAILED", reason=str(error))
            results.append(result)
    if options.bundle:
        os.makedirs(os.path.join(options.bundle, "r"), exist_ok=True)
        bundle.write_index(options.bundle)
    if options.json:
        print(json.dumps(results, indent=2))
        return code
    for result in results:
        text = result.get("reason") or result.get("bundle") or result["path"]
        print("%-24s %-9s %s" % (result["name"], result["state"], text), file=sys.stderr if result["state"] == "FAILED" else sys.stdout)
    return code


# --- cache -----------------------------------------------------------------------------------------------------------


def entries(root):
    """[{name, object, state, seconds, size, used, abi, headers, path}] of a store, the last used first."""
    found = []
    place = os.path.join(root, "m")
    for name in os.listdir(place) if os.path.isdir(place) else ():
        if "-" not in name:
            continue
        for section in manifest.read(os.path.join(place, name)) or ():
            directory = os.path.join(root, "o", section.object)
            if not os.path.isdir(directory):
                continue
            entry = {"name": name.partition("-")[0], "key": name.partition("-")[2], "object": section.object}
            entry["state"] = section.built
            entry["size"] = publish.tree_size(directory)
            entry["used"] = os.stat(directory).st_mtime
            entry["path"] = directory if section.built == "failed" else os.path.join(directory, section.file)
            entry["digest"] = section.digest
            for fact in ("abi", "headers", "seconds", "torch", "architectures"):
                entry[fact] = section.facts.get(fact, "")
            found.append(entry)
    return sorted(found, key=lambda entry: -entry["used"])


def _root():
    root = stores.user_store().root
    if not os.path.isdir(root):
        _check_store()
        raise Problem(
            "",
            "there is no store yet.",
            ["looked  %s" % root],
            ["CUDAOPS_STORE=<directory>, where there is one; the first cudaops.load() makes one"],
        )
    return root


def _check_store():
    problem = stores.user_store().problem()
    if problem:
        raise Problem("", "the store can't be used.", ["found   %s" % problem], ["CUDAOPS_STORE=<directory of your own>"])


def cache_list(options):
    found = entries(_root())
    if options.json:
        print(json.dumps(found, indent=2))
        return 0
    for entry in found:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry["used"]))
        size = "%.1f MB" % (entry["size"] / 1e6)
        print("%-24s %-6s %8s  %s  %-6s %s" % (entry["name"], entry["state"], size, used, entry["abi"], entry["path"]))
    total = sum(entry["size"] for entry in found)
    print("%d in %s, %.1f MB of %.1f MB" % (len(found), _root(), total / 1e6, publish.size_limit() / 1e6))
    return 0


def cache_why(options):
    reason, lines = why.read_record(_root(), options.name)
    if reason is None:
        facts = ["looked  %s" % _root()]
        raise Problem("", "no call named %s has built anything in this store." % options.name, facts, ["python -m cudaops cache list"])
    when = os.stat(why.record_path(_root(), options.name)).st_mtime
    if options.json:
        print(json.dumps({"name": options.name, "reason": reason, "when": when, "key": lines}, indent=2))
    else:
        print("%s: %s (%s)" % (options.name, reason, time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(when))))
    return 0


def _verify(root):
    """(number of libraries, what is damaged of them and of the manifests)"""
    damaged = []
    found = [entry for entry in entries(root) if entry["state"] == "built"]
    for entry in found:
        try:
            whole = manifest.digest_of(entry["path"]) == entry["digest"]
        except OSError:
            whole = False
        if not whole:
            damaged.append(entry["path"])
    place = os.path.join(root, "m")
    for name in os.listdir(place) if os.path.isdir(place) else ():
        if "-" in name and manifest.read(os.path.join(place, name)) is None:
            damaged.append(os.path.join(place, name))
    return len(found), damaged


def cache_verify(options):
    number, damaged = _verify(_root())
    if options.json:
        print(json.dumps({"verified": number, "damaged": damaged}, indent=2))
    else:
        for path in damaged:
            print("damaged: %s   (it is built again when it is asked for)" % path)
        print("%d libraries, %d damaged" % (number, len(damaged)))
    return 1 if damaged else 0


def cache_trim(options):
    before, after = publish.trim(_root(), publish.size_limit(options.size))
    if options.json:
        print(json.dumps({"before": before, "after": after}))
    else:
        print("%.1f MB, before %.1f MB" % (after / 1e6, before / 1e6))
    return 0


def cache_export(options):
    root = _root()
    # Modules with fast headers are for this machine's torch alone.
    kept_here = set()
    for entry in os.listdir(os.path.join(root, "m")):
        sections = manifest.read(os.path.join(root, "m", entry)) or ()
        if any(section.facts.get("headers") == "fast" for section in sections):
            kept_here |= {entry, *(section.object for section in sections)}
    with _Archive(options.file, "w") as archive:
        for name in EXPORTED:
            for entry in sorted(set(os.listdir(os.path.join(root, name))) - kept_here):
                if not entry.startswith("log-") and not entry.endswith(".new"):
                    archive.add(os.path.join(root, name, entry), name + "/" + entry)
    _say(options, {"file": options.file, "size": os.path.getsize(options.file)}, "wrote %s" % options.file)
    return 0


def cache_import(options):
    export = "python -m cudaops cache export <file>, on the machine that it comes from"
    if not os.path.isfile(options.file):
        what = "a directory" if os.path.isdir(options.file) else "nothing"
        raise Problem("", "there is no such file.", ["found   %s: %s" % (options.file, what)], [export])
    root = stores.user_store().root
    publish.prepare(root)
    _check_store()
    number = 0
    # Beside, then by rename: a reader never sees half of an object.
    place = os.path.join(root, "t", "import.%d" % os.getpid())
    os.mkdir(place, 0o700)
    try:
        try:
            _extract(options.file, place)
            damaged = _verify(place)[1]
        except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, *ZSTD_ERRORS) as error:
            raise Problem("", "the archive is damaged, or none.", ["found   %s: %s" % (options.file, error)], [export]) from None
        if damaged:
            names = ["found   " + os.path.relpath(path, place) for path in damaged]
            raise Problem("", "the archive holds damaged libraries.", ["in      %s" % options.file, *names], [export])
        for name in ("o", "m"):
            for entry in sorted(os.listdir(os.path.join(place, name)) if os.path.isdir(os.path.join(place, name)) else ()):
                target = os.path.join(root, name, entry)
                if not os.path.lexists(target):
                    os.rename(os.path.join(place, name, entry), target)
                    number += name == "o"
    finally:
        publish.remove_tree(place)
    _say(options, {"objects": number}, "%d new" % number)
    return 0


def _extract(path, place):
    with _Archive(path, "r") as archive:
        for member in archive:
            parts = member.name.split("/")
            if parts[0] not in EXPORTED or ".." in parts or not (member.isfile() or member.isdir()) or len(parts) < 2:
                fix = ["an archive of python -m cudaops cache export"]
                raise Problem("", "%s is no export of a store." % path, ["found   %s in it" % member.name], fix)
            if hasattr(tarfile, "data_filter"):
                archive.extract(member, place, set_attrs=False, filter="data")
            else:
                archive.extract(member, place, set_attrs=False)
        # tarfile takes a damaged header for the end; what follows has the checksum.
        while archive.fileobj.read(1 << 20):
            pass


def _say(options, values, text):
    print(json.dumps(values) if options.json else text)


class _Archive:
    """tarfile by the file's name: .tar.gz and .tgz, .tar.zst with Python 3.14 or the program zstd."""

    def __init__(self, path, mode):
        self.path, self.mode = path, mode
        self._process = None

    def __enter__(self):
        if self.path.endswith((".tar.gz", ".tgz")):
            self._archive = tarfile.open(self.path, self.mode + ":gz")
        elif self.path.endswith(".tar.zst"):
            self._archive = self._zstd()
        else:
            raise Problem("", "the archive's name says its format.", ["found   %s" % self.path], ["a name that ends in .tar.gz or .tar.zst"])
        return self._archive

    def _zstd(self):
        try:
            return tarfile.open(self.path, self.mode + ":zst")
        except tarfile.CompressionError:
            pass
        import shutil
        import subprocess

        program = shutil.which("zstd")
        if program is None:
            raise Problem("", "there is no zstd, neither in this Python nor on PATH.", (), ["a name that ends in .tar.gz"])
        if self.mode == "w":
            with open(self.path, "wb") as out:
                self._process = subprocess.Popen([program, "-q", "-c"], stdin=subprocess.PIPE, stdout=out)
            return tarfile.open(fileobj=self._process.stdin, mode="w|")
        self._process = subprocess.Popen([program, "-q", "-d", "-c", self.path], stdout=subprocess.PIPE)
        return tarfile.open(fileobj=self._process.stdout, mode="r|")

    def __exit__(self, kind, *_):
        self._archive.close()
        if self._process is not None:
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
            if self._process.wait() and kind is None:
                raise Problem("", "zstd failed for %s." % self.path, (), ["a disk with room, and a whole archive"])
