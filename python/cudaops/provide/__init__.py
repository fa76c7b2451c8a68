# SPDX-License-Identifier: Apache-2.0
"""Brings torch or a CUDA toolkit from the user's package index into the per-user store.

    python _run.py provide torch|toolkit --store DIR --version V [--or-older] --why TEXT --result FILE --pythons P...

The result file is JSON: {"path": ...}, or {"head", "facts", "fix"} for the error that CMake prints.
Run by the first of --pythons (3.10 or newer); the others are asked for pip only. No third-party package.

What is half made lies in <store>/<kind>/.part-*; one rename makes it <store>/<kind>/<version>, with its
.complete stamp already inside. So a killed run leaves nothing that could be taken for a whole one.
"""

import argparse
import configparser
import contextlib
import ctypes
import errno
import fcntl
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time

PIP_WITH_PYTHON = (22, 3)  # the first with --python
OLDEST_PIP = (20, 3)  # the first that knows the wheels' platform tags (manylinux_2_28)

OTHER_INDEX = "name another index: PIP_INDEX_URL=<URL> (a mirror may lag behind)"

# The tag of the Cache Directory Tagging Specification: backups skip such a directory, and it says
# that what lies here is ours to remove.
TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# CudaOps keeps here what CUDAOPS_PROVIDE brought.\n"


class Stop(Exception):
    """An error for the user: head, facts and fix as the message functions take them."""

    def __init__(self, head, facts=(), fix=()):
        super().__init__(head)
        self.text = {"head": plain(head), "facts": [plain(f) for f in facts if f], "fix": [plain(f) for f in fix if f]}


def plain(text):
    """`text` fit for an element of a CMake list: no unbalanced bracket, one line, no credentials."""
    text = without_credentials(" ".join(text.split()) if "\n" in text else text)
    text = text.replace("\\", "/")
    depth = 0
    for c in text:
        depth += (c == "[") - (c == "]")
        if depth < 0:
            break
    if depth != 0:
        text = text.replace("[", "(").replace("]", ")")
    return text


def without_credentials(text):
    return re.sub(r"(://)[^\s/'\"<>]*@", r"\1", text)


def say(text):
    print(without_credentials(text), flush=True)


# ---------------------------------------------------------------- what is wanted


class Torch:
    kind = "torch"
    directory = "torch"
    distribution = "torch"
    download = "3 GB"
    disk = "5.7 GB"
    other_way = "or point to a torch you have: -DPython_EXECUTABLE=<venv>/bin/python"

    def __init__(self, version, why, or_older):
        self.version, self.why = version, why
        self.older = "torch<=" + version if or_older else None
        gil = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
        self.suffix = "-cp%d%d%s" % (sys.version_info[0], sys.version_info[1], gil)
        # numpy: torch warns at import without it, and tests compare with it.
        self.requirements = [exactly("torch", version), "numpy"]

    def prepare(self, part):
        base = base_python()
        run = subprocess.run(
            [base, "-m", "venv", "--without-pip", "--prompt", "torch-" + self.version, part],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=clean_environment(),
        )
        if run.returncode != 0:
            lines = [line for line in run.stdout.splitlines() if line.strip()] or ["exit code %d" % run.returncode]
            raise_if_disk(run.stdout, os.path.dirname(part), self)
            raise Stop(
                "%s can't make a virtual environment." % base,
                ["found   " + lines[-1].strip()],
                ["apt-get install python3-venv, then run the same command again", self.other_way],
            )
        return ["--python", os.path.join(part, "bin", "python")]

    def packages(self, part):
        return os.path.join(part, "lib", "python%d.%d" % sys.version_info[:2], "site-packages")

    @staticmethod
    def problem(directory):
        if not os.path.exists(os.path.join(directory, "bin", "python")):
            return "no bin/python"
        if not glob.glob(os.path.join(glob.escape(directory), "lib", "python*", "site-packages", "torch", "version.py")):
            return "no torch/version.py"
        return None

    def finish(self, part, final):
        # pip and venv write the place into scripts; torch itself holds no path.
        old, new = os.fsencode(part), os.fsencode(final)
        for name in [*glob.glob(os.path.join(glob.escape(part), "bin", "*")), os.path.join(part, "pyvenv.cfg")]:
            if os.path.islink(name) or not os.path.isfile(name) or os.path.getsize(name) > 1 << 20:
                continue
            with open(name, "rb") as file:
                text = file.read()
            if old in text:
                with open(name, "r+b") as file:
                    file.write(text.replace(old, new))
                    file.truncate()


class Toolkit:
    kind = "toolkit"
    directory = "toolkits"
    distribution = "cuda_toolkit"
    suffix = ""
    download = "120 MB"
    disk = "0.3 GB"
    other_way = "or point to a toolkit you have: -DCUDAToolkit_ROOT=<dir>"

    older = None

    def __init__(self, version, why, or_older):
        self.version, self.why = version, why
        self.requirements = [exactly("cuda-toolkit[nvcc,cccl,cudart]", version)]
        if version.startswith("13.0"):
            # cuda-toolkit 13.0 leaves these open: pip then takes 13.5's, whose PTX ptxas 13.0 refuses.
            self.requirements += ["nvidia-nvvm==13.0.*", "nvidia-cuda-crt==13.0.*"]

    def prepare(self, part):
        return ["--target", part]

    def packages(self, part):
        return part

    @staticmethod
    def root(directory):
        found = glob.glob(os.path.join(glob.escape(directory), "nvidia", "cu*", "bin", "nvcc"))
        return os.path.dirname(os.path.dirname(found[0])) if found else None

    @staticmethod
    def problem(directory):
        """What is missing, or that the compiler's parts are not of one release; None for a whole one."""
        root = Toolkit.root(directory)
        needed = ["bin/nvcc", "bin/ptxas", "nvvm/bin/cicc", "include/cuda_runtime.h", "lib/libcudart_static.a"]
        missing = [name for name in needed if root is None or not os.path.exists(os.path.join(root, name))]
        if missing:
            return "no " + ", ".join(missing)
        pieces = []
        for name in ("nvidia_cuda_crt", "nvidia_cuda_nvcc", "nvidia_cuda_runtime", "nvidia_nvvm"):
            for info in glob.glob(os.path.join(glob.escape(directory), name + "-*.dist-info")):
                pieces.append((name, os.path.basename(info)[len(name) + 1 : -len(".dist-info")]))
        if len({tuple(version.split(".")[:2]) for _, version in pieces}) > 1:
            return ", ".join("%s %s" % piece for piece in pieces)
        return None

    def finish(self, part, final):
        # The wheel has no libcudart.so, and CMake's FindCUDAToolkit would then take that of another toolkit.
        lib = os.path.join(self.root(part), "lib")
        link = os.path.join(lib, "libcudart.so")
        real = sorted(glob.glob(os.path.join(glob.escape(lib), "libcudart.so.*")))
        if real and not os.path.lexists(link):
            os.symlink(os.path.basename(real[0]), link)


def exactly(name, version):
    """2.15 stands for its newest patch release, as elsewhere in Python's world."""
    return "%s==%s%s" % (name, version, ".*" if re.fullmatch(r"\d+\.\d+", version) else "")


def matches(name, version, suffix_pattern):
    return re.fullmatch(re.escape(version) + r"([.+][^-]*)?" + suffix_pattern, name) is not None


def base_python():
    """The interpreter below any virtual environment, by its full name (python3.11).

    A venv made with `python3` would change its version with the system's.
    """
    base = getattr(sys, "_base_executable", None) or sys.executable
    named = os.path.join(os.path.dirname(base), "python%d.%d" % sys.version_info[:2])
    with contextlib.suppress(OSError):
        if os.path.samefile(named, base):
            return named
    return base


# ---------------------------------------------------------------- installers and the user's settings


def clean_environment():
    env = dict(os.environ)
    # What lies there would count as installed already, and be missing in the next shell.
    for name in ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "__PYVENV_LAUNCHER__"):
        env.pop(name, None)
    return env


def truth(value):
    return str(value).strip().lower() in ("1", "true", "yes", "on", "y", "t")


def pip_settings():
    """pip's options as pip would read them: configuration files, then PIP_* variables; names like 'index-url'."""
    home = os.path.expanduser("~")
    own = os.environ.get("PIP_CONFIG_FILE", "")
    files = []
    if own != os.devnull:
        for directory in (os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":"):
            files.append(os.path.join(directory, "pip", "pip.conf"))
        files.append("/etc/pip.conf")
        files.append(os.path.join(home, ".pip", "pip.conf"))
        files.append(os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "pip", "pip.conf"))
        files.append(os.path.join(sys.prefix, "pip.conf"))
        if own:
            files.append(own)
    sections = {"global": {}, "install": {}}
    for name in files:
        parser = configparser.RawConfigParser()
        try:
            parser.read(name, encoding="utf-8")
        except (configparser.Error, OSError, UnicodeDecodeError):
            continue
        for section, options in sections.items():
            if parser.has_section(section):
                options.update({key.replace("_", "-"): value for key, value in parser.items(section)})
    settings = {**sections["global"], **sections["install"]}
    for name, value in os.environ.items():
        if name.startswith("PIP_") and value != "":
            settings[name[4:].lower().replace("_", "-")] = value
    if "default-timeout" in settings:
        settings.setdefault("timeout", settings["default-timeout"])
    return settings


def cache_exists(variable, name):
    """Whether the user keeps a cache of that installer. Where there is none, none is begun."""
    if os.environ.get(variable):
        return True
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.isdir(os.path.join(base, name))


class Pip:
    def __init__(self, python, version, has_python_option):
        self.name = "pip %s of %s" % (version, python)
        self.python = python
        self.has_python_option = has_python_option
        self.settings = pip_settings()

    def command(self, place, requirements):
        # --target is the directory itself, --python the environment to work in.
        head = [self.python, "-m", "pip"]
        if place[0] == "--python" and self.has_python_option:
            head += place
            place = []
        elif place[0] == "--python":
            # A pip that is too old for that can fill the environment from outside, if its Python is the same.
            prefix = os.path.dirname(os.path.dirname(place[1]))
            place = ["--target", os.path.join(prefix, "lib", "python%d.%d" % sys.version_info[:2], "site-packages")]
        return [*head, "install", "--only-binary", ":all:", "--no-warn-script-location", *place, *requirements]

    def environment(self, scratch):
        env = clean_environment()
        # Each of these would send the files somewhere else, ask a question or install nothing.
        for name in ("TARGET", "PREFIX", "ROOT", "PYTHON", "DRY_RUN", "NO_DEPS", "QUIET", "LOG", "REPORT"):
            env.pop("PIP_" + name, None)
        env.update(PIP_USER="0", PIP_REQUIRE_VIRTUALENV="0", PIP_NO_INPUT="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
        env.update(PIP_ROOT_USER_ACTION="ignore", PYTHONUNBUFFERED="1", TMPDIR=scratch)
        if "timeout" not in self.settings:
            env["PIP_DEFAULT_TIMEOUT"] = "15"
        if "retries" not in self.settings:
            env["PIP_RETRIES"] = "2"
        if not cache_exists("PIP_CACHE_DIR", "pip"):
            env["PIP_NO_CACHE_DIR"] = "1"
        return env

    def index(self):
        return index_of(self.settings)


class Uv:
    def __init__(self, path, version):
        self.name = "uv %s" % version
        self.path = path
        self.settings = pip_settings()
        self.own = self.has_own_index()

    @staticmethod
    def has_own_index():
        names = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_NO_INDEX")
        for name in names:
            if os.environ.get(name):
                return name
        config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
        for name in (os.environ.get("UV_CONFIG_FILE"), os.path.join(config, "uv", "uv.toml"), "/etc/uv/uv.toml"):
            with contextlib.suppress(OSError, UnicodeDecodeError, TypeError):
                with open(name, encoding="utf-8") as file:
                    if re.search(r"^\s*((extra-)?index-url|find-links|no-index|\[\[.*index\]\])", file.read(), re.M):
                        return name
        return ""

    def command(self, place, requirements):
        python = [] if place[0] == "--python" else ["--python", sys.executable]
        options = ["--only-binary", ":all:"]
        if not self.own and truth(self.settings.get("no-index", "")):
            options.append("--no-index")
        # As pip does: a first import would otherwise compile torch's modules, at every start where the store is
        # read-only.
        return [self.path, "pip", "install", "--compile-bytecode", *options, *python, *place, *requirements]

    def environment(self, scratch):
        env = clean_environment()
        for name in ("TARGET", "PREFIX", "PYTHON", "SYSTEM_PYTHON", "BREAK_SYSTEM_PACKAGES", "NO_DEPS", "DRY_RUN"):
            env.pop("UV_" + name, None)
        for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
            env.pop(name, None)
        settings = self.settings
        if not self.own:
            # uv reads none of pip's settings, but a user who has set them has said which index to use.
            if settings.get("index-url"):
                env["UV_DEFAULT_INDEX"] = env["UV_INDEX_URL"] = settings["index-url"].strip()
            if settings.get("extra-index-url"):
                env["UV_EXTRA_INDEX_URL"] = " ".join(settings["extra-index-url"].split())
                env.setdefault("UV_INDEX_STRATEGY", "unsafe-best-match")  # pip's way of reading several indexes
            if settings.get("find-links"):
                env["UV_FIND_LINKS"] = ",".join(settings["find-links"].split())
        for option, variable in (
            ("cert", "SSL_CERT_FILE"),
            ("client-cert", "SSL_CLIENT_CERT"),
            ("proxy", "ALL_PROXY"),
        ):
            if settings.get(option):
                env.setdefault(variable, settings[option].strip())
        if settings.get("trusted-host"):
            env.setdefault("UV_INSECURE_HOST", " ".join(settings["trusted-host"].split()))
        if not any(env.get(name) for name in ("UV_HTTP_TIMEOUT", "UV_REQUEST_TIMEOUT", "HTTP_TIMEOUT")):
            env["UV_HTTP_TIMEOUT"] = str(settings.get("timeout") or 15)
        env.setdefault("UV_HTTP_RETRIES", "2")
        env.update(TMPDIR=scratch, NO_COLOR="1", UV_PYTHON_DOWNLOADS="never", UV_NO_PROGRESS="1")
        if not cache_exists("UV_CACHE_DIR", "uv"):
            env["UV_CACHE_DIR"] = os.path.join(scratch, "uv")
        return env

    def index(self):
        if not self.own:
            return index_of(self.settings)
        for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL"):
            if os.environ.get(name):
                return os.environ[name]
        return "as set in " + self.own


def index_of(settings):
    if truth(settings.get("no-index", "")):
        return "none (PIP_NO_INDEX), %s" % (" ".join(settings.get("find-links", "no PIP_FIND_LINKS").split()))
    return settings.get("index-url", "PyPI").strip()


def find_installer(pythons, wanted):
    looked = []
    path = shutil.which("uv")
    if path:
        run = subprocess.run([path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        found = re.match(r"uv ([0-9.]+)", run.stdout)
        if run.returncode == 0 and found:
            return Uv(path, found.group(1))
        looked.append("uv on PATH (%s: exit code %d)" % (path, run.returncode))
    else:
        looked.append("uv on PATH")
    for python in pythons:
        run = subprocess.run(
            [python, "-m", "pip", "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=clean_environment(),
        )
        found = re.match(r"pip ((\d+)\.(\d+)\S*).*\(python (\d+)\.(\d+)\)", run.stdout)
        if run.returncode == 0 and found:
            release = (int(found.group(2)), int(found.group(3)))
            same = (int(found.group(4)), int(found.group(5))) == sys.version_info[:2]
            if release >= (OLDEST_PIP if same else PIP_WITH_PYTHON):
                return Pip(python, found.group(1), release >= PIP_WITH_PYTHON)
        if found:
            why = "pip " + found.group(1)
        else:
            lines = [line for line in run.stderr.splitlines() if line.strip()] or ["exit code %d" % run.returncode]
            why = re.sub(r"^%s: " % re.escape(python), "", lines[-1].strip())
        looked.append("pip >= %d.%d in %s (%s)" % (*PIP_WITH_PYTHON, python, why))
    raise Stop(
        "no way to install Python packages here.",
        ["looked for  " + "; ".join(looked)],
        ["apt-get install python3-pip   (or: install uv), then run the same command again", wanted.other_way],
    )


# ---------------------------------------------------------------- running the installer


def run_live(command, env):
    """Runs `command`, shows its lines as they come, returns its exit code and its lines."""
    parent = os.getpid()

    def die_with_parent():
        # Killed with SIGKILL, this script can't end its child; the kernel can (PR_SET_PDEATHSIG).
        ctypes.CDLL(None).prctl(1, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    lines = []
    process = subprocess.Popen(
        command,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,  # so that pip's own child can be ended with it
        preexec_fn=die_with_parent,
    )
    try:
        for line in process.stdout:
            line = without_credentials(line.rstrip())
            lines.append(line)
            say("   " + line)
        return process.wait(), lines
    finally:
        if process.poll() is None:
            for how in (signal.SIGTERM, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, how)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=3)
                    break


def last_error(lines):
    """pip's last ERROR line; of uv's chain of causes the first and the last link."""
    for line in reversed(lines):
        if line.startswith("ERROR:"):
            return line
    start = max((n for n, line in enumerate(lines) if re.match(r"\s*(error:|×)", line)), default=None)
    if start is not None:
        links = []
        for line in lines[start:]:
            text = re.sub(r"^[\s×│╰├─▶]+", "", line)
            if not links or re.match(r"\s*([╰├]|[Cc]aused? by:|cause:)", line):
                links.append(re.sub(r"^([Cc]aused by|cause): *", "", text))
            elif text:
                links[-1] += " " + text
        text = links[0] if len(links) == 1 else links[0].rstrip(".:") + ": " + links[-1]
        return text if len(text) <= 400 else text[:397] + "..."
    shown = [line for line in lines if line.strip()]
    return shown[-1].strip() if shown else "it said nothing"


NETWORK = (
    r"connection broken|Failed to establish a new connection|name resolution|Name or service not known|timed out"
    r"|Connection (refused|reset)|Network is unreachable|No route to host|dns error|tcp connect error"
    r"|error sending request|ProxyError|Tunnel connection failed|SSLError|confirming the ssl certificate"
    r"|CERTIFICATE_VERIFY_FAILED|invalid peer certificate|50[0234] (Server Error|Service|Bad Gateway)"
    r"|Failed to fetch|Could not connect|IncompleteRead|operation timed out|not a trusted or secure host"
)


def raise_if_disk(text, place, wanted):
    if re.search(r"No space left on device|Disk quota exceeded|os error (28|122)\b|Errno (28|122)\b", text):
        raise no_space(place, wanted)


def no_space(place, wanted):
    free = ""
    with contextlib.suppress(OSError):
        free = ", %.1f GB free" % (shutil.disk_usage(place).free / 1e9)
    return Stop(
        "the disk is too full.",
        ["wanted  %s on disk for %s" % (wanted.disk, wanted.requirements[0]), "store   %s%s" % (place, free)],
        ["make room, or name another place: -DCUDAOPS_STORE=<dir>"],
    )


def reason(installer, lines):
    """Why an installer failed: refused, network, wheel or other."""
    text = "\n".join(lines)
    if re.search(r"\b(401|403|407)\b|Unauthorized|Forbidden", text):
        return "refused"
    if re.search(NETWORK, text) and not installer.index().startswith("none"):
        return "network"
    if re.search(r"No matching distribution|Could not find a version|No solution found|no wheels with a matching", text):
        return "wheel"
    return "other"


def failure(installer, wanted, final, exit_code, lines):
    raise_if_disk("\n".join(lines), os.path.dirname(final), wanted)
    quoted = " ".join('"%s"' % r for r in wanted.requirements)
    origin = " (%s)" % wanted.why if wanted.why else ""
    facts = [
        "wanted  %s%s, %s" % (" and ".join(wanted.requirements), origin, wanted.download),
        "index   %s: %s" % (without_credentials(installer.index()), last_error(lines)),
        "kept    nothing; %s was not created" % final,
    ]
    online = "with network: run the same command again"
    offline = (
        "offline: on another machine pip download -d wheels %s, then PIP_NO_INDEX=1 PIP_FIND_LINKS=wheels" % quoted
    )
    why = reason(installer, lines)
    if why == "refused":
        return Stop(
            "the package index refuses the request.", facts, ["check the credentials in its URL or netrc", offline]
        )
    if why == "network":
        line = next(line for line in reversed(lines) if re.search(NETWORK, line)).strip()
        found = re.findall(r"\[Errno [^\]]*\][^'\")]*|\w+ timed out", line)
        cause = found[-1] if found else re.sub(r"^WARNING: ", "", line)
        if re.sub(r"^([Cc]aused by|cause): *", "", cause) not in facts[1]:
            facts.insert(2, "cause   " + cause[:300])
        return Stop("the package index can't be reached.", facts, [online, offline])
    if why == "wheel":
        here = "Python %d.%d on %s" % (*sys.version_info[:2], sysconfig.get_platform())
        other = OTHER_INDEX
        if wanted.kind == "torch":
            other = "another version: -DCUDAOPS_TORCH_VERSION=<version>; another Python: -DPython_EXECUTABLE=<python>"
        if installer.index().startswith("none"):
            other = offline
        return Stop("the package index has no such wheel for %s." % here, facts, [other, wanted.other_way])
    facts[1] = "found   %s: exit code %d: %s" % (installer.name, exit_code, last_error(lines))
    return Stop(
        "the installer failed.", facts, ["run the same command again (its own lines are above)", wanted.other_way]
    )


# ---------------------------------------------------------------- the store


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
    exit_code, lines = run_live(installer.command(place, wanted.requirements), installer.environment(scratch))
    if exit_code != 0 and wanted.older and reason(installer, lines) == "wheel":
        say("-- CudaOps: no %s for this Python: the newest before it is taken" % wanted.requirements[0])
        wanted.requirements[0] = wanted.older
        exit_code, lines = run_live(installer.command(place, wanted.requirements), installer.environment(scratch))
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


def main(argv):
    parser = argparse.ArgumentParser(prog="provide")
    parser.add_argument("kind", choices=["torch", "toolkit"])
    parser.add_argument("--store", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--why", default="")
    parser.add_argument("--or-older", action="store_true")
    parser.add_argument("--result", required=True)
    parser.add_argument("--pythons", nargs="+", required=True)
    arguments = parser.parse_args(argv)

    def ended(number, frame):
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, ended)

    wanted = {"torch": Torch, "toolkit": Toolkit}[arguments.kind](
        arguments.version, arguments.why, arguments.or_older
    )
    try:
        result = {"path": provide(wanted, arguments.store, arguments.pythons)}
    except Stop as stop:
        result = stop.text
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            result = no_space(arguments.store, wanted).text
        else:
            result = Stop(
                "the store can't be written.",
                ["store   %s: %s" % (error.filename or arguments.store, error.strerror or error)],
                ["name another place: -DCUDAOPS_STORE=<dir>"],
            ).text
    with open(arguments.result, "w", encoding="utf-8") as file:
        json.dump(result, file)
    return 0 if "path" in result else 1
